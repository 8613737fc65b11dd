"""Runs a command with a time limit, and never raises for what a command can do."""

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Output:
    """How a command ended. `code` is None when it did not run to an end; `problem` then says why."""

    code: int | None
    out: str = ""
    err: str = ""
    problem: Literal["", "missing", "timeout"] = ""

    @property
    def text(self) -> str:
        """Both streams, errors last."""
        return f"{self.out}\n{self.err}".strip()

    @property
    def last_line(self) -> str:
        """The last line that says something of the fault, for messages that nobody foresaw."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip() and "--help" not in line]
        return lines[-1] if lines else f"no message, exit code {self.code}"


Runner = Callable[[Sequence[str], float], Output]


def run(command: Sequence[str], limit_s: float) -> Output:
    """Runs command without a terminal, in English, for limit_s seconds at most."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=os.environ | {"LC_ALL": "C"},
            start_new_session=True,
        )
    except OSError:
        return Output(None, problem="missing")
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        # The whole group: docker's plugins hold the same pipes.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Output(None, problem="timeout")
    return Output(process.returncode, out, err)
