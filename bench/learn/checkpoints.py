"""Checkpoints on the server: saved under the name of their step, and only the last one kept, so that a disk does not fill."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from bench.errors import UnsupportedError
from bench.failures import detail_of
from bench.learn.record import Checkpoint, RunFolder
from bench.probe import Probe
from bench.wait import ResultWaiter

KEPT = 1


def check_there(probe: Probe, state: str) -> None:
    """Before a model is made of a saved state, which on a GPU takes a minute.

    Raises:
        UnsupportedError: the server does not have it.
    """
    try:
        probe.post("/api/v1/weights_info", {"tinker_path": state}, timeout_s=30.0)
    except httpx.HTTPStatusError as error:
        if error.response.status_code == httpx.codes.NOT_FOUND:
            raise UnsupportedError(
                f"the server does not have the run's checkpoint {state}.\n"
                "Resume on a server that keeps its state (make learn does; serve.py --state DIR), or start anew without --resume."
            ) from error
    except httpx.HTTPError:
        # Making the model says what is wrong.
        return


@dataclass
class Checkpoints:
    """Saves the model's state, optimizer included, and records it in the run's folder."""

    client: Any
    folder: RunFolder
    probe: Probe
    wait: ResultWaiter
    say: Callable[[str], None]
    _states: list[str] = field(default_factory=list)

    def save(self, next_step: int) -> str:
        """Has the server save the state from which `next_step` follows; returns its name. It counts once it is recorded.

        Raises:
            BenchError: the server could not save it.
        """
        return str(self.wait(self.client.save_state(f"step-{next_step:06d}"), f"saving the state before step {next_step}").path)

    def record(self, next_step: int, state: str, elapsed_s: float) -> None:
        """Makes a saved state the one to resume from, and removes the ones before it."""
        self.folder.write_checkpoint(Checkpoint(next_step, state, elapsed_s))
        self._states.append(state)
        while len(self._states) > KEPT:
            self._remove(self._states.pop(0))

    def _remove(self, state: str) -> None:
        model_id, _, name = state.removeprefix("tinker://").partition("/weights/")
        try:
            self.probe.delete(f"/api/v1/training_runs/{model_id}/checkpoints/weights/{name}")
        except httpx.HTTPError as error:
            self.say(f"the older checkpoint {state} could not be removed ({detail_of(error)}); it stays on the server's disk")
