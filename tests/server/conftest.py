"""One real SkyRL server for all tests here: the small Qwen3 on the JAX backend, with room for one model at a time.

SERVER_PYTHON names the interpreter that has docker/server's requirements installed; by default it is the one that runs the tests.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.probe import Health, Probe

SERVER = Path(__file__).parents[2] / "docker" / "server"
PYTHON = os.environ.get("SERVER_PYTHON") or sys.executable
READY_S = 180.0
LOG_TAIL = 6_000


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one server compiled, the next one need not."""
    return tmp_path_factory.mktemp("compiled")


@dataclass(frozen=True)
class RunningServer:
    """Where it listens, the model's folder (its tokenizer too), and its log."""

    url: str
    model: Path
    log: Path


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, compiled: Path) -> Iterator[RunningServer]:
    """Started once, stopped with its engine at the end."""
    folder = tmp_path_factory.mktemp("server")
    model = folder / "tiny-qwen3"
    made = subprocess.run([PYTHON, str(SERVER / "make_tiny_qwen3.py"), str(model)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"{PYTHON} cannot make the model (set SERVER_PYTHON):\n{made.stderr}"
    with _started(model, folder / "server.log", f"--compile-cache={compiled}") as running:
        yield running


@pytest.fixture(scope="session")
def server_of_two(server: RunningServer, tmp_path_factory: pytest.TempPathFactory, compiled: Path) -> Iterator[RunningServer]:
    """The same beside it, whose model trains on two of XLA's devices."""
    with _started(server.model, tmp_path_factory.mktemp("two") / "server.log", "--gpus", "2", f"--compile-cache={compiled}") as running:
        yield running


@contextlib.contextmanager
def _started(model: Path, log: Path, *flags: str) -> Iterator[RunningServer]:
    port = _free_port()
    command = [PYTHON, str(SERVER / "serve.py"), "--model", str(model), "--backend", "jax", "--preset", "cpu", "--port", str(port)]
    # Two places: one is the base model's.
    command += ["--backend-config", '{"max_lora_adapters": 2}', *flags]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    running = RunningServer(f"http://127.0.0.1:{port}", model, log)
    try:
        _wait(process, running)
        yield running
    finally:
        _stop(process)


def _wait(process: subprocess.Popen[bytes], running: RunningServer) -> None:
    deadline_s = time.monotonic() + READY_S
    while Probe(running.url).health() is not Health.OK:
        ended = process.poll()
        if ended is not None or time.monotonic() > deadline_s:
            what = f"ended with {ended}" if ended is not None else f"was not healthy within {READY_S:.0f} s"
            pytest.fail(f"the server {what}:\n{_tail(running.log)}", pytrace=False)
        time.sleep(0.2)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends the server and its engine, which share a process group of their own."""
    try:
        process.terminate()
        process.wait(timeout=20.0)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-LOG_TAIL:]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows the end of the server's log."""
    report = yield
    running: Any = getattr(item, "funcargs", {}).get("server")
    if report.failed and isinstance(running, RunningServer) and running.log.exists():
        report.sections.append(("end of the server's log", _tail(running.log)))
    return report
