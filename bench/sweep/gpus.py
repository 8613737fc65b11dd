"""How much GPU memory is in use on this machine, to see that a server that was ended has given it back."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable

LOOK_S = 10.0
LOOK_EVERY_S = 0.2
# What a driver keeps for itself may differ by a little from look to look.
SLACK_BYTES = 256 * 1024 * 1024


def used_bytes() -> int | None:
    """Memory in use on all GPUs together that CUDA_VISIBLE_DEVICES leaves, None where nvidia-smi does not tell."""
    if shutil.which("nvidia-smi") is None:
        return None
    command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    # What another job does on the other GPUs of the machine is no sign of a server that is still there.
    if (visible := os.environ.get("CUDA_VISIBLE_DEVICES", "")).strip():
        command.append(f"--id={visible}")
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=LOOK_S, check=True).stdout
        return sum(int(line) for line in told.split()) * 1024 * 1024
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


class FreeMemory:
    """What is in use before the first server, and the wait, `limit_s` at most, until it is that again after each."""

    def __init__(self, limit_s: float, look: Callable[[], int | None] = used_bytes) -> None:
        self._limit_s, self._look = limit_s, look
        self._before_bytes: int | None = None

    def note(self) -> None:
        """Before a server is started; what the first time finds counts."""
        if self._before_bytes is None:
            self._before_bytes = self._look()

    def wait(self) -> bool:
        """Whether the memory was freed in time; True too where nothing tells."""
        deadline_s = time.monotonic() + self._limit_s
        while self._before_bytes is not None and (self._look() or 0) > self._before_bytes + SLACK_BYTES:
            if time.monotonic() >= deadline_s:
                return False
            time.sleep(LOOK_EVERY_S)
        return True
