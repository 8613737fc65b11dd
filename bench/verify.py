"""`bench verify`: is this server telling the truth? Talks to the server and hands what it returned to the checks."""

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import tinker

from bench import datums, path_names, paths, synthetic
from bench.batch import FrozenBatch
from bench.batch import Sequence as Rollout
from bench.checks import (
    Check,
    Outcome,
    accumulation_check,
    beyond_clip,
    equivalence_check,
    expected_loss,
    loss_of,
    mask_check,
)
from bench.clock import Clock
from bench.errors import BenchError, ServerGoneError
from bench.gspo import Clip
from bench.outputs import finite_metrics, logprobs_of
from bench.outputs_order import check_outputs_order
from bench.paths import StepSetup
from bench.session import Session
from bench.wait import ResultWaiter

Rows = list[npt.NDArray[np.float32]]
Opener = Callable[[str | None], contextlib.AbstractContextManager[Session]]
STATE_NAME = "gspo-bench-verify"
GRAD_NORM = "skyrl.ai/grad_norm"
CLIP_FRACTION = "clip_ratio:mean"


@dataclass(frozen=True)
class Verifier:
    """How to open a model (anew, or from a saved state) and how to step it.

    SkyRL loads a state only into a new model, and its FSDP backend holds one at a time: each way of stepping gets a model of its own.
    `learning_rate` is large enough for one step to stand out from bf16's rounding; `devices` is over how many a batch is cut.
    """

    open_model: Opener
    wait: ResultWaiter
    clip: Clip
    learning_rate: float
    seed: int
    say: Callable[[str], None]
    devices: int = 1

    def checks(self) -> Iterator[Check]:
        """Runs the checks one after the other, each yielded as soon as it is known.

        Raises:
            ServerGoneError: the server died. What a server merely refuses makes a check that cannot tell.
        """
        made = synthetic.sequences(self.seed)
        with self.open_model(None) as session:
            client = session.client
            order = self._try(["order"], lambda: [check_outputs_order(client, self.wait, made)])
            yield from order
            if order[0].outcome is not Outcome.PASS:
                yield from (_cannot_tell(name, "needs outputs in order") for name in ("mask", "accumulation", "equivalence"))
                return
            sequences = synthetic.off_policy(made, self._logprobs(client, made, "a batch"))
            yield from self._try(["mask"], lambda: [self._mask(client, sequences)])
            yield from self._try(["accumulation"], lambda: [self._accumulation(client, sequences)])
            start = self._logprobs(client, sequences, "the start")
            try:
                self.say("saving the state that each way of stepping starts from")
                saved = self.wait(client.save_state(STATE_NAME), "saving the state").path
                native = self._after(client, paths.Native(), sequences)
            except ServerGoneError:
                raise
            except BenchError as error:
                yield _cannot_tell("equivalence", _reason(error))
                return
        yield from self._try(["equivalence"], lambda: [self._equivalence(saved, sequences, start, native)])

    def _try(self, names: Sequence[str], run: Callable[[], list[Check]]) -> list[Check]:
        try:
            return run()
        except ServerGoneError:
            raise
        except BenchError as error:
            return [_cannot_tell(name, _reason(error)) for name in names]

    def _mask(self, client: tinker.TrainingClient, sequences: Sequence[Rollout]) -> Check:
        new = self._logprobs(client, sequences, "before gspo")
        losses = [expected_loss(sequence, new_T, self.clip) for sequence, new_T in zip(sequences, new, strict=True)]
        beyond = [sequence for sequence, new_T in zip(sequences, new, strict=True) if beyond_clip(sequence, new_T, self.clip)]
        within = [sequence for sequence in sequences if sequence not in beyond]
        result = self.wait(self._gspo(client, sequences), "gspo")
        # SkyRL pads what does not divide with sequences that are masked out, and counts those as not clipped.
        parts = [part * (self.devices // math.gcd(len(part), self.devices)) for part in (beyond, within)]
        fractions = [finite_metrics(self.wait(self._gspo(client, part), "gspo")).get(CLIP_FRACTION) for part in parts]
        self._optimizer_step(client, learning_rate=0.0)
        loss = loss_of(result, finite_metrics(result))
        return mask_check(loss, sum(losses), sum(abs(loss) for loss in losses), *fractions)

    def _accumulation(self, client: tinker.TrainingClient, sequences: Sequence[Rollout]) -> Check:
        """Gradient norms, at learning rate 0, of the batch as one call, as one call again, and as two calls of halves."""
        half = len(sequences) // 2
        norms = []
        for parts in ([sequences], [sequences], [sequences[:half], sequences[half:]]):
            for part in parts:
                self.wait(self._gspo(client, part), "gspo")
            norms.append(self._optimizer_step(client, learning_rate=0.0))
        return accumulation_check(*norms)

    def _equivalence(self, saved: str, sequences: Sequence[Rollout], start: Rows, native: Rows) -> Check:
        after: list[Rows] = []
        for path in (paths.Native(), paths.TwoPass()):
            self.say(f"loading that state into a new model, for a {path_names.label(path.name)} step")
            with self.open_model(saved) as session:
                after.append(self._after(session.client, path, sequences))
        again, two_pass = after
        return equivalence_check(start, native, again, two_pass)

    def _after(self, client: tinker.TrainingClient, path: paths.Path, sequences: Sequence[Rollout]) -> Rows:
        batch = FrozenBatch(tuple(sequences), "", "synthetic")
        adam = tinker.AdamParams(learning_rate=self.learning_rate)
        path.step(StepSetup(client, batch, self.clip, adam, True, self.wait, Clock()))
        return self._logprobs(client, sequences, f"after a {path_names.label(path.name)} step")

    def _gspo(self, client: tinker.TrainingClient, sequences: Sequence[Rollout]) -> object:
        data = [datums.gspo_datum(sequence) for sequence in sequences]
        return client.forward_backward(data, paths.GSPO, self.clip.as_loss_fn_config())

    def _optimizer_step(self, client: tinker.TrainingClient, learning_rate: float) -> float | None:
        result = self.wait(client.optim_step(tinker.AdamParams(learning_rate=learning_rate)), "optim_step")
        return finite_metrics(result).get(GRAD_NORM)

    def _logprobs(self, client: tinker.TrainingClient, sequences: Sequence[Rollout], what: str) -> Rows:
        data = [datums.forward_datum(sequence) for sequence in sequences]
        stage = f"forward ({what})"
        return logprobs_of(self.wait(client.forward(data, "cross_entropy"), stage), sequences, stage)


def _cannot_tell(name: str, reason: str) -> Check:
    return Check(name, Outcome.CANNOT_TELL, reason, {})


def _reason(error: BenchError) -> str:
    return str(error).split("\n", 1)[0]
