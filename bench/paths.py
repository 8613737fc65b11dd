"""The ways of taking one training step on the frozen batch, one class each. Each returns what it spent in which phase.

`native_1pass` and `custom_2pass` follow the same gradient; they differ in what crosses the wire.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import tinker

from bench import datums, gspo
from bench.batch import FrozenBatch
from bench.clock import Clock, PhaseTimer
from bench.errors import InputError
from bench.outputs import finite_metrics, logprobs_of
from bench.path_names import NATIVE, SDK_CUSTOM, TWO_PASS
from bench.timeline import Call, Stage
from bench.wait import in_thread

# The SDK's type lists only the losses that the hosted service has.
GSPO: Any = "gspo"


@dataclass(frozen=True)
class StepSetup:
    """What every path needs: the client, the batch, the optimizer's and the loss's settings, and how to wait for a result.

    `wait(future, stage)` returns the future's result or raises within its deadline. With `blocking`, each call's result is in before the
    next is sent; otherwise the optimizer step is sent right behind the gradient, as real training loops do.
    """

    client: tinker.TrainingClient
    batch: FrozenBatch
    clip: gspo.Clip
    adam: tinker.AdamParams
    blocking: bool
    wait: Callable[[Any, str], Any]
    clock: Clock


@dataclass(frozen=True)
class StepOutcome:
    """A step's seconds, split into phases that sum to it, the server's metrics of its calls, and its answer to the gradient call.

    `stages` and `calls` are on the client's monotonic clock, whose first moment is `started_wall_s` by the wall clock.
    """

    step_s: float
    phases_s: dict[str, float]
    metrics: dict[str, float | None]
    started_wall_s: float = 0.0
    stages: tuple[Stage, ...] = ()
    calls: tuple[Call, ...] = ()
    gradient: Any = None


class Path(Protocol):
    """One way of taking a step. `requests` is how many training calls it makes, `waits` how often it waits for one's result before the
    next call: the round trips that follow one another.
    """

    @property
    def name(self) -> str: ...

    @property
    def requests(self) -> int: ...

    @property
    def waits(self) -> int: ...

    def step(self, setup: StepSetup) -> StepOutcome:
        """Takes one step, timed from just before its first call until all its results are in."""


@dataclass(frozen=True)
class Native:
    """One pass: the server computes the loss."""

    name: str = NATIVE
    requests: int = 2
    waits: int = 1

    def step(self, setup: StepSetup) -> StepOutcome:
        timer = PhaseTimer(setup.clock)
        data = [datums.gspo_datum(sequence) for sequence in setup.batch.sequences]
        timer.mark("encode")
        gradient = setup.client.forward_backward(data, GSPO, setup.clip.as_loss_fn_config())
        return _finish(setup, timer, gradient, [])


@dataclass(frozen=True)
class TwoPass:
    """The round trip: fetch logprobs, compute GSPO's weights here, send them back as importance sampling."""

    name: str = TWO_PASS
    requests: int = 3
    waits: int = 2

    def step(self, setup: StepSetup) -> StepOutcome:
        sequences = setup.batch.sequences
        timer = PhaseTimer(setup.clock)
        data = [datums.forward_datum(sequence) for sequence in sequences]
        timer.mark("encode")
        forward = setup.client.forward(data, "cross_entropy")
        result = setup.wait(forward, "forward")
        timer.mark("forward_wait")
        calls = [_call("forward", timer)]
        new_logprobs = logprobs_of(result, sequences, "forward")
        timer.mark("decode")
        reweighted = []
        for sequence, new_T in zip(sequences, new_logprobs, strict=True):
            advantage = gspo.surrogate_advantage(
                new_T.astype(np.float64),
                datums.old_logprobs_T(sequence).astype(np.float64),
                datums.mask_T(sequence).astype(np.float64),
                sequence.advantage,
                setup.clip,
            )
            reweighted.append(datums.importance_sampling_datum(sequence, new_T, advantage))
        timer.mark("weights")
        gradient = setup.client.forward_backward(reweighted, "importance_sampling")
        return _finish(setup, timer, gradient, calls)


@dataclass(frozen=True)
class SdkCustom:
    """The SDK's own `forward_backward_custom`: the same round trip, with autograd on the client. Needs torch."""

    name: str = SDK_CUSTOM
    requests: int = 3
    waits: int = 2

    def step(self, setup: StepSetup) -> StepOutcome:
        from bench import torch_loss

        timer = PhaseTimer(setup.clock)
        data = [datums.forward_datum(sequence) for sequence in setup.batch.sequences]
        loss = torch_loss.for_batch(setup.batch, setup.clip)
        timer.mark("encode")
        # The SDK blocks in this call until its forward is in.
        sent = in_thread(lambda: setup.client.forward_backward_custom(data, loss))
        gradient = setup.wait(sent, "forward (SDK custom)")
        called_s = timer.last_s
        timer.mark("forward_wait")
        # When its forward came back, and its autograd began, only the SDK knows.
        return _finish(setup, timer, gradient, [Call("forward", called_s, None)])


def _call(kind: str, timer: PhaseTimer) -> Call:
    """The call that the stage just marked waited for from its start to its end."""
    return Call(kind, timer.stages[-1].start_s, timer.last_s)


def _finish(setup: StepSetup, timer: PhaseTimer, gradient: Any, calls: list[Call]) -> StepOutcome:
    """Sends the optimizer step and waits for both results; the end of every path."""
    called_s = timer.last_s
    if setup.blocking:
        timer.mark("submit")
        gradient_result = setup.wait(gradient, "forward_backward")
        timer.mark("forward_backward_wait")
        optimizer_called_s = timer.last_s
        optimizer = setup.client.optim_step(setup.adam)
    else:
        optimizer_called_s = timer.last_s
        optimizer = setup.client.optim_step(setup.adam)
        timer.mark("submit")
        gradient_result = setup.wait(gradient, "forward_backward")
        timer.mark("forward_backward_wait")
    calls.append(Call("forward_backward", called_s, timer.last_s))
    optimizer_result = setup.wait(optimizer, "optim_step")
    timer.mark("optimizer_wait")
    calls.append(Call("optim_step", optimizer_called_s, timer.last_s))
    metrics = finite_metrics(gradient_result) | finite_metrics(optimizer_result)
    return StepOutcome(timer.total_s, timer.phases_s, metrics, timer.started_wall_s, tuple(timer.stages), tuple(calls), gradient_result)


def paths_by_name(names: list[str]) -> list[Path]:
    """The paths of the given names, in that order.

    Raises:
        InputError: an unknown name, one twice, or the SDK's custom loss without torch.
    """
    known: dict[str, Path] = {NATIVE: Native(), TWO_PASS: TwoPass(), SDK_CUSTOM: SdkCustom()}
    for name in names:
        if name not in known:
            raise InputError(f"unknown path {name!r}: choose from {', '.join(known)}.")
    if len(set(names)) != len(names):
        raise InputError(f"a path is named twice in {','.join(names)}: name each once (--control times native against itself).")
    if SDK_CUSTOM in names:
        from bench import torch_loss

        torch_loss.check_installed()
    return [known[name] for name in names]
