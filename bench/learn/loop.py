"""The loop itself: sample groups, reward them, take the updates, write a row; every n steps test and checkpoint."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import tinker

from bench import image
from bench.batch import FrozenBatch
from bench.clock import Clock, PhaseTimer
from bench.errors import BenchError, UnsupportedError
from bench.learn import metrics
from bench.learn.checkpoints import Checkpoints
from bench.learn.groups import Group, minibatches
from bench.learn.metrics import Row, Trained
from bench.learn.record import RunFolder
from bench.learn.reference import Reference
from bench.learn.sampling import Sampling
from bench.learn.settings import LearnSettings
from bench.outputs import logprobs_of
from bench.paths import Path, StepOutcome, StepSetup
from bench.results import CLIENT_PHASES
from bench.tasks.problem import Problem
from bench.wait import ResultWaiter

EPS, BETA1, BETA2 = 1e-8, 0.9, 0.95
# The server's names of the gradient's norm.
GRAD_NORMS = ("skyrl.ai/grad_norm", "grad_norm", "grad_norm:mean")
# What a step's time is split into; `client` is this process's own work.
PHASES = ("sync", "test", "sample", "train", "checkpoint", "client")


class StopSign(Protocol):
    """Says whether to end after the step in hand."""

    @property
    def requested(self) -> bool: ...


@dataclass
class Learner:
    """All that a step needs. `sink` is handed each row once it is in the file."""

    client: tinker.TrainingClient
    settings: LearnSettings
    sampling: Sampling
    reference: Reference
    path: Path
    backend: str | None
    folder: RunFolder
    checkpoints: Checkpoints
    wait: ResultWaiter
    stop: StopSign
    clock: Clock
    sink: Callable[[Row], None]

    def run(self, first_step: int, elapsed_s: float) -> int:
        """Takes the steps from `first_step` on, until the last one or until it is asked to stop; returns the next step.

        Raises:
            BenchError: names the step; the rows before it are in the file.
        """
        stream = islice(self.sampling.task.train(self.settings.seed), first_step * self.settings.groups, None)
        for step in range(first_step, self.settings.steps):
            timer = PhaseTimer(self.clock)
            try:
                row, own_s = self._step(step, stream, timer)
            except UnsupportedError as error:
                raise _with_other_path(error) from error
            except BenchError as error:
                raise type(error)(
                    f"step {step}: {str(error).splitlines()[0]}\nGo on from the last checkpoint with {image.learn_on()}."
                ) from error
            state = self.checkpoints.save(step + 1) if self._is_due(step) else None
            timer.mark("checkpoint")
            elapsed_s += timer.total_s
            self._write(row | _times(timer, own_s) | {"time/elapsed": elapsed_s})
            if state is None and self.stop.requested:
                state = self.checkpoints.save(step + 1)
            if state is not None:
                self.checkpoints.record(step + 1, state, elapsed_s)
            if self.stop.requested:
                return step + 1
        return self.settings.steps

    def test(self) -> Row:
        """Held-out accuracy of the model as it is now: one answer to each of the same problems, with the same seeds every time."""
        sampler = self.sampling.sampler(self.client)
        return metrics.of_test(self._tested(sampler))

    def _step(self, step: int, stream: Iterator[Problem], timer: PhaseTimer) -> tuple[Row, float]:
        """The step's row without its times, and the seconds of its training that were this process's own work."""
        settings = self.settings
        sampler = self.sampling.sampler(self.client)
        timer.mark("sync")
        row: Row = {"step": step, "progress/done_frac": (step + 1) / settings.steps, "optim/lr": settings.learning_rate}
        if settings.test_every and step % settings.test_every == 0:
            row |= metrics.of_test(self._tested(sampler))
            timer.mark("test")
        problems = list(islice(stream, settings.groups))
        pending = self.sampling.submit(sampler, problems, settings.group_size, "train", step)
        timer.mark("client")
        answers = self.sampling.collect(pending)
        timer.mark("sample")
        groups = self.sampling.grade(pending, answers)
        row |= metrics.of_rollouts(groups)
        batches = minibatches(groups, settings.updates_per_batch, settings.divide_by_stdev, self.backend)
        timer.mark("client")
        if settings.test_every and step % settings.test_every == 0:
            row["optim/kl_start"] = self.reference.kl(groups)
            timer.mark("test")
        else:
            row["optim/kl_start"] = None
        outcomes = [self.path.step(self._setup(batch)) for batch in batches]
        timer.mark("train")
        trained = [entry for batch, outcome in zip(batches, outcomes, strict=True) for entry in _trained(batch, outcome)]
        row |= metrics.of_training(trained, settings.ratio_clip)
        row["optim/grad_norm"] = _grad_norm(outcomes)
        timer.mark("client")
        return row, sum(_own_seconds(outcome) for outcome in outcomes)

    def _tested(self, sampler: Any) -> list[Group]:
        problems = self.sampling.task.test(self.settings.test_problems)
        pending = self.sampling.submit(sampler, problems, 1, "test", 0)
        return self.sampling.grade(pending, self.sampling.collect(pending))

    def _setup(self, batch: FrozenBatch) -> StepSetup:
        adam = tinker.AdamParams(learning_rate=self.settings.learning_rate, beta1=BETA1, beta2=BETA2, eps=EPS)
        return StepSetup(self.client, batch, self.settings.ratio_clip, adam, False, self.wait, self.clock)

    def _is_due(self, step: int) -> bool:
        every = self.settings.checkpoint_every
        return self.stop.requested or step + 1 == self.settings.steps or bool(every and (step + 1) % every == 0)

    def _write(self, row: Row) -> None:
        self.folder.append(row)
        self.sink(row)


def _with_other_path(error: UnsupportedError) -> UnsupportedError:
    """A loss that is missing comes without advice; anything else has its own."""
    if "\n" in str(error):
        return error
    return UnsupportedError(f"{error}.\nLearn over the round trip with --path two-pass, or use a server whose backend has it.")


def _trained(batch: FrozenBatch, outcome: StepOutcome) -> list[Trained]:
    rows = logprobs_of(outcome.gradient, batch.sequences, "forward_backward")
    return [Trained(sequence, row_T) for sequence, row_T in zip(batch.sequences, rows, strict=True)]


def _own_seconds(outcome: StepOutcome) -> float:
    return sum(seconds for phase, seconds in outcome.phases_s.items() if phase in CLIENT_PHASES)


def _grad_norm(outcomes: Sequence[StepOutcome]) -> float | None:
    """The last update's."""
    found = [outcomes[-1].metrics.get(name) for name in GRAD_NORMS] if outcomes else []
    return next((value for value in found if value is not None), None)


def _times(timer: PhaseTimer, own_s: float) -> Row:
    """The step's seconds; `own_s` of its training counts as the client's."""
    spent_s = dict.fromkeys(PHASES, 0.0) | timer.phases_s
    spent_s["train"] -= own_s
    spent_s["client"] += own_s
    return {**{f"time/{phase}": seconds for phase, seconds in spent_s.items()}, "time/total": timer.total_s}
