"""Servers that are the stack's container, with the client's beside it: what `make sweep` drives, by compose's own command line.

The compose files say how a container is contained, and the command line is all that this needs of the host: no package of Python's.
"""

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.errors import BenchError, InputError
from bench.sweep.gpus import FreeMemory
from bench.sweep.plan import canonical
from bench.sweep.ports import free_after, listens

ROOT = Path(__file__).resolve().parents[2]
FILES = {"cuda": ["compose.yaml"], "cpu": ["compose.yaml", "compose.cpu.yaml"]}
COMMAND_S = 120.0
STOP_S = "5"
CLIENT = "gspo-bench-sweep"


class ComposeClient:
    """`python -m bench` in a container of its own, by its name."""

    def __init__(self, command: Sequence[str], name: str, log: Path) -> None:
        self._name = name
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )

    def ended(self) -> int | None:
        return self._process.poll()

    def send(self, signal_number: int) -> None:
        _docker("kill", "--signal", signal.Signals(signal_number).name, self._name)

    def kill(self) -> None:
        _docker("rm", "--force", self._name)
        self._process.kill()
        self._process.wait()


class ComposeServers:
    """`docker compose`'s service `server`, in the stack and with the settings that the environment names; see docker/sweep.sh.

    `identifying` are those of the settings that make another server of it.

    Raises:
        InputError: STACK names no stack.
    """

    client_url = "http://server:8000"
    results_seen = "/results"

    def __init__(self, environment: Mapping[str, str], settle_s: float, identifying: Sequence[str] = ("MODEL", "GPUS", "NODES")) -> None:
        stack = environment.get("STACK", "")
        if stack not in FILES:
            raise InputError("nothing says which server to start.\nGive --server-command, or use `make sweep`, which picks a stack.")
        self._compose = ["docker", "compose", "--progress", "quiet", *(part for file in FILES[stack] for part in ("--file", file))]
        named = [f"{name}={environment[name]}" for name in identifying if environment.get(name)]
        image = environment.get("GSPO_BENCH_SERVER_IMAGE", "").removeprefix("sha256:")[:12]
        self.identity = " ".join([f"STACK={stack}", *named, *([f"image {image}"] if image else [])])
        self._port = int(environment.get("PORT") or 8000)
        self.url = f"http://127.0.0.1:{self._port}"
        self._memory = FreeMemory(settle_s)
        self._id: str | None = None
        self._exit_code: int | None = None
        self._waiting: subprocess.Popen[str] | None = None
        self._following: subprocess.Popen[bytes] | None = None

    def start(self, backend_config: dict[str, Any], log: Path) -> None:
        self._memory.note()
        # The row's settings are all there are: no preset's under them.
        settings = {"PRESET": "stock", "BACKEND_CONFIG": canonical(backend_config)}
        try:
            _run([*self._compose, "up", "--detach", "--no-build", "--force-recreate", "server"], settings)
        except BenchError as error:
            raise _port_is_taken(self._port) or error from None
        self._exit_code = None
        self._id = _run([*self._compose, "ps", "--all", "--quiet", "server"]).strip()
        with log.open("wb") as output:
            self._following = subprocess.Popen(["docker", "logs", "--follow", self._id], stdout=output, stderr=subprocess.STDOUT)
        self._waiting = subprocess.Popen(["docker", "wait", self._id], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ended(self) -> int | None:
        if self._waiting is None or self._waiting.poll() is None:
            return None
        if self._exit_code is None and self._waiting.stdout is not None:
            told = self._waiting.stdout.read().strip()
            self._exit_code = int(told) if told.isdigit() else -1
        return self._exit_code

    def stop(self) -> None:
        if self._id is None:
            return
        _docker("stop", "-t", STOP_S, self._id)
        _docker("rm", "--force", "--volumes", self._id)
        for helper in (self._following, self._waiting):
            if helper is not None:
                _wait_or_kill(helper)
        self._id = None
        self._memory.wait()

    def client(self, arguments: Sequence[str], log: Path) -> ComposeClient:
        name = f"{CLIENT}-{os.getpid()}"
        command = [*self._compose, "run", "--rm", "--no-deps", "--no-TTY", "--name", name, "bench", "bench", *arguments]
        return ComposeClient(command, name, log)

    def next_time(self, backend_config: dict[str, Any], preset: Path) -> str:
        return f"PRESET=stock BACKEND_CONFIG={shlex.quote(canonical(backend_config))} make bench"


def _docker(*arguments: str) -> None:
    """A command about a container that may be gone already."""
    subprocess.run(["docker", *arguments], capture_output=True, timeout=COMMAND_S, check=False)


def _run(command: Sequence[str], settings: Mapping[str, str] | None = None) -> str:
    """What the command printed. Raises BenchError with its last words where it failed."""
    environment = os.environ | dict(settings or {})
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        said = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
        raise BenchError(
            f"the server's container did not start: {said[-1] if said else f'exit code {ended.returncode}'}.\n"
            "make doctor says what this machine lacks."
        )
    return ended.stdout


def _port_is_taken(port: int) -> BenchError | None:
    """Why a container with this port did not start, where the port is why: asked when it does not run."""
    if not listens(port):
        return None
    other = free_after(port)
    return BenchError(
        f"the server's container did not start: port {port} of this machine is taken by something else.\n"
        f"Take another: the same command with PORT={other or 'another port'} before it."
    )


def _wait_or_kill(process: subprocess.Popen[Any]) -> None:
    try:
        process.wait(timeout=10.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
