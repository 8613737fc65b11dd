"""The server as process 1 of a container: signals reach it, what it leaves is collected, and its end is the container's.

A process that adopts orphans, as process 1 does, and takes itself for 1.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[2] / "docker" / "server"
PR_SET_CHILD_SUBREAPER = 36
AS_PROCESS_1 = f"""
import ctypes, os, signal, subprocess, sys, time
sys.path.insert(0, {str(SERVER)!r})
import pid_one
ctypes.CDLL(None).prctl({PR_SET_CHILD_SUBREAPER}, 1)
own = os.getpid
os.getpid = lambda: 1
pid_one.step_aside()
os.getpid = own
"""


def started(rest: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", AS_PROCESS_1 + rest], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("rest", "code"), [("sys.exit(2)", 2), ("", 0), ("os.kill(own(), signal.SIGKILL)", 137)])
def test_it_ends_as_the_server_does(rest: str, code: int) -> None:
    assert started(rest).wait(timeout=20) == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_server_once(number: signal.Signals) -> None:
    server = started("""
heard = []
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda number, frame: heard.append(number))
print("ready", flush=True)
while not heard:
    time.sleep(0.05)
time.sleep(0.3)
sys.exit(10 * len(heard) + heard[0])
""")
    assert server.stdout is not None and server.stdout.readline() == "ready\n"
    server.send_signal(number)
    assert server.wait(timeout=20) == 10 + number


def test_orphans_are_collected() -> None:
    server = started("""
subprocess.run(["sh", "-c", "sleep 0.1 & echo $!"])
sys.stdout.flush()
signal.pause()
""")
    assert server.stdout is not None
    orphan = Path(f"/proc/{server.stdout.readline().strip()}")
    deadline_s = time.monotonic() + 10
    while orphan.exists() and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert not orphan.exists()
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=20) == 128 + signal.SIGTERM


def test_another_process_than_the_first_goes_on_as_it_is() -> None:
    code = f"import os, sys; sys.path.insert(0, {str(SERVER)!r}); import pid_one; before = os.getpid(); pid_one.step_aside(); "
    assert subprocess.run([sys.executable, "-c", code + "sys.exit(7 if os.getpid() == before else 1)"], check=False).returncode == 7
    assert os.getpid() != 1
