"""Servers that are processes of this machine: `--server-command`, with each row's settings appended."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.errors import BenchError, InputError
from bench.sweep import reaper
from bench.sweep.bytecode import environment_of_servers
from bench.sweep.gpus import FreeMemory
from bench.sweep.plan import canonical
from bench.sweep.ports import listens

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_PORT = "8000"
STOP_S = reaper.GRACE_S + reaper.KILL_S + 5.0
PORT_CLOSED_S = 5.0


class ProcessClient:
    """A command of this machine that finds this repository's packages."""

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str] = os.environ) -> None:
        path = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**environment, "PYTHONPATH": path},
                start_new_session=True,
            )

    def ended(self) -> int | None:
        return self._process.poll()

    def send(self, signal_number: int) -> None:
        self._process.send_signal(signal_number)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class ProcessServers:
    """Each server is a process with all its descendants under a reaper of its own; see reaper.py.

    Raises:
        InputError: the command cannot be run, or has no address.
    """

    def __init__(self, command: str, base_url: str | None, results: Path, settle_s: float) -> None:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise InputError(f"--server-command cannot be read ({error}): {command!r}.") from None
        if not words or shutil.which(words[0]) is None:
            raise InputError(f"--server-command {command!r}: there is no program {words[0] if words else ''!r} to run.")
        own, self._command = _take_flag(words, "--backend-config")
        self._under = _settings(own)
        port, unnamed = _take_flag(self._command, "--port")
        self.url = self.client_url = (base_url or f"http://127.0.0.1:{port or DEFAULT_PORT}").rstrip("/")
        self._port = _port_of(self.url)
        self.identity = shlex.join([*unnamed, *(["--backend-config", canonical(self._under)] if self._under else [])])
        self.results_seen = str(results.resolve())
        self._memory = FreeMemory(settle_s)
        self._environment = environment_of_servers(os.environ)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, backend_config: dict[str, Any], log: Path) -> None:
        if listens(self._port):
            raise BenchError(
                f"something listens on port {self._port} before the sweep's server is started.\n"
                "End it, or choose another --port in --server-command: it would be measured instead."
            )
        self._memory.note()
        command = [*self._command, "--backend-config", canonical(self._under | backend_config)]
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(reaper.__file__), *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )

    def ended(self) -> int | None:
        return self._process.poll() if self._process else None

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            raise BenchError(
                f"the server's processes do not end (process {self._process.pid} waits for them).\nEnd them by hand."
            ) from None
        self._process = None
        _wait_until_closed(self._port)
        self._memory.wait()

    def client(self, arguments: Sequence[str], log: Path) -> ProcessClient:
        return ProcessClient([sys.executable, "-m", "bench", *arguments], log, self._environment)

    def next_time(self, backend_config: dict[str, Any], preset: Path) -> str:
        return shlex.join([*_take_flag(self._command, "--preset")[1], "--preset", str(preset)])


def _take_flag(words: Sequence[str], flag: str) -> tuple[str | None, list[str]]:
    """The value of `--flag value` or `--flag=value`, the last one's, and the words without it."""
    value, rest, skip = None, [], False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word == flag and index + 1 < len(words):
            value, skip = words[index + 1], True
        elif word.startswith(f"{flag}="):
            value = word.partition("=")[2]
        else:
            rest.append(word)
    return value, rest


def _settings(text: str | None) -> dict[str, Any]:
    try:
        settings = json.loads(text) if text and text.strip() else {}
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        raise InputError(f"--server-command: its --backend-config is no JSON object: {text!r}.")
    return settings


def _port_of(url: str) -> int:
    try:
        parts = urlsplit(url)
        port = parts.port or 0
    except ValueError:
        port = 0
    if not port or parts.hostname not in ("127.0.0.1", "localhost"):
        raise InputError(f"{url} is no address of a server that the sweep starts here: give one such as http://127.0.0.1:8000.")
    return port


def _wait_until_closed(port: int) -> None:
    deadline_s = time.monotonic() + PORT_CLOSED_S
    while listens(port) and time.monotonic() < deadline_s:
        time.sleep(0.1)
