"""Starts a server and ends all of it: every process that came of it, also those that left its session or lost their parents.

python reaper.py COMMAND...     exits with the command's exit code, 128 + n where signal n ended it

On Linux it adopts the orphans among its descendants, so that nothing which a server leaves behind (Ray's and vLLM's daemons) gets away,
and goes down when its own parent does. Elsewhere it ends the server's process group.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
GRACE_S = 8
KILL_S = 30.0


class _StopError(Exception):
    pass


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise _StopError


def descendants(ancestor: int) -> set[int]:
    """The ids of all processes below one, from /proc."""
    parents: dict[int, int] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with contextlib.suppress(OSError):
                # The name of the program stands in parentheses and may hold anything.
                parents[int(path.name)] = int((path / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    found: set[int] = set()
    level = {ancestor}
    while level:
        level = {process for process, parent in parents.items() if parent in level} - found
        found |= level
    return found


def _wait_for(process: int) -> int:
    """The exit code of the child; other children, adopted ones, are collected on the way."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == process:
            return os.waitstatus_to_exitcode(status)


def _end(server: subprocess.Popen[bytes] | None) -> int:
    """Asks the server itself to end, and gives it a while to tidy up."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if server is not None:
        with contextlib.suppress(_StopError, ChildProcessError, ProcessLookupError):
            os.kill(server.pid, signal.SIGTERM)
            signal.alarm(GRACE_S)
            return _wait_for(server.pid)
    return -signal.SIGKILL


def _kill_all(server: subprocess.Popen[bytes] | None) -> None:
    signal.alarm(0)
    if sys.platform != "linux":
        if server is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(server.pid, signal.SIGKILL)
        return
    deadline_s = time.monotonic() + KILL_S
    while (left := descendants(os.getpid())) and time.monotonic() < deadline_s:
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def main(command: list[str]) -> int:
    """Runs the command until it ends or SIGTERM comes; nothing of it runs when this returns."""
    parent = os.getppid()
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGALRM, _stop)
    if os.getppid() != parent:
        return 1
    code, server = -signal.SIGKILL, None
    try:
        server = subprocess.Popen(command, start_new_session=True)
        code = _wait_for(server.pid)
    except _StopError:
        code = _end(server)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _kill_all(server)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
