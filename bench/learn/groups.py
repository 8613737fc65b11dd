"""Groups of rollouts: several answers to one problem, each with its reward."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from bench.batch import FrozenBatch, Sequence
from bench.learn.advantages import centred, share_of_mean
from bench.tasks import answers
from bench.tasks.problem import Problem

Decoder = Callable[[tuple[int, ...]], str]


@dataclass(frozen=True)
class Rollout:
    """One answer. `logprobs` are the sampler's, one for each of its tokens; `correct` and `stated` are what the reader made of it."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    correct: bool
    stated: bool

    @property
    def reward(self) -> float:
        return 1.0 if self.correct else 0.0


@dataclass(frozen=True)
class Group:
    """The rollouts of one problem, in the order sampled."""

    prompt_tokens: tuple[int, ...]
    rollouts: tuple[Rollout, ...]

    @property
    def mixed(self) -> bool:
        """Whether the rewards differ: a group without that teaches nothing."""
        return len({rollout.correct for rollout in self.rollouts}) > 1


def graded(
    problem: Problem, prompt_tokens: tuple[int, ...], sampled: list[tuple[tuple[int, ...], tuple[float, ...]]], text_of: Decoder
) -> Group:
    """The group of a problem's samples (tokens, logprobs); `text_of` decodes tokens without special ones."""
    rollouts = []
    for tokens, logprobs in sampled:
        text = text_of(tokens)
        rollouts.append(Rollout(tokens, logprobs, answers.is_right(text, problem.answer), answers.states_answer(text)))
    return Group(prompt_tokens, tuple(rollouts))


def minibatches(groups: list[Group], updates: int, divide_by_stdev: bool, backend: str | None) -> list[FrozenBatch]:
    """What is trained on: the mixed groups' rollouts, dealt by whole groups to at most `updates` batches, one optimizer step each.

    The advantages in them are those to send. Empty when no group is mixed. A rollout without tokens has nothing to train on and only
    counts for its group's mean.
    """
    mixed = [group for group in groups if group.mixed]
    parts = [mixed[start::updates] for start in range(min(updates, len(mixed)))]
    return [FrozenBatch(tuple(_sequences(part, divide_by_stdev, backend)), "", "rollouts") for part in parts]


def _sequences(groups: list[Group], divide_by_stdev: bool, backend: str | None) -> list[Sequence]:
    plain = [
        Sequence(group.prompt_tokens, rollout.tokens, rollout.logprobs, advantage)
        for group in groups
        for rollout, advantage in zip(group.rollouts, centred([rollout.reward for rollout in group.rollouts], divide_by_stdev), strict=True)
        if rollout.tokens
    ]
    return [
        replace(sequence, advantage=share_of_mean(sequence.advantage, len(sequence.response_tokens), len(plain), backend))
        for sequence in plain
    ]
