"""The tasks by name: where their problems come from, how they are put to the model, and what a run of theirs takes by default."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.errors import InputError
from bench.json_object import shown
from bench.tasks import arithmetic, gsm8k
from bench.tasks.problem import Problem

ARITHMETIC = "arithmetic"
GSM8K = "gsm8k"
NAMES = (GSM8K, ARITHMETIC)


@dataclass(frozen=True)
class Task:
    """`train(seed)` are problems to learn from, without end and the same ones for a seed; `test(count)` are held out from them.

    `instruction` is added to every question.
    """

    name: str
    train: Callable[[int], Iterator[Problem]]
    test: Callable[[int], list[Problem]]
    instruction: str

    def prompt(self, problem: Problem) -> str:
        """What the model is asked."""
        return problem.question + self.instruction


@dataclass(frozen=True)
class Defaults:
    """What `bench learn` takes for a task where it is not told; `max_tokens` is the longest response."""

    steps: int
    max_tokens: int
    learning_rate: float
    test_problems: int


DEFAULTS = {
    # 64 rollouts of up to 512 tokens and a rate within the field's for LoRA: expected to suit a 24 GB GPU, not measured on one.
    GSM8K: Defaults(steps=40, max_tokens=512, learning_rate=1e-4, test_problems=64),
    # Prompt and answer of at most 64 tokens together: one shape for the JAX backend to compile. The rate was measured on the small model.
    ARITHMETIC: Defaults(steps=30, max_tokens=24, learning_rate=4e-4, test_problems=128),
}


def open_task(name: str, folder: Path | None) -> Task:
    """The task of that name; GSM8K is read or fetched here, from `folder` where one is given.

    Raises:
        InputError: an unknown name, problems that cannot be read, or a folder for a task that makes its own.
    """
    if name == ARITHMETIC:
        if folder is not None:
            raise InputError(f"--data {folder} goes with --task gsm8k; arithmetic makes its own problems.")
        return Task(ARITHMETIC, arithmetic.train_problems, arithmetic.test_problems, "")
    if name == GSM8K:
        train, test = gsm8k.problems("train", folder), gsm8k.problems("test", folder)
        return Task(GSM8K, lambda seed: shuffled(train, seed), lambda count: test[:count], gsm8k.INSTRUCTION)
    raise InputError(f"there is no task {shown(name)}: choose from {', '.join(NAMES)}.")


def shuffled(problems: list[Problem], seed: int) -> Iterator[Problem]:
    """Epoch after epoch, each in another seeded order, so that every problem comes once before any comes again."""
    source = random.Random(seed)
    while True:
        yield from source.sample(problems, len(problems))
