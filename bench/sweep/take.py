"""Taking one row: a server with its setting, the client beside it, and an eye on both until it ends one way or another."""

import json
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.sweep.servers import Client, Servers, environment

LOOK_EVERY_S = 0.1
# How long a client has to see by itself that its server is gone, and then to write what it has.
NOTICE_S, WRITE_S = 3.0, 15.0
GOING_DOWN_S = 10.0
TAIL_BYTES = 200_000
READY = "] the model is ready"  # as bench.run says it


@dataclass(frozen=True)
class Ending:
    """How a row ended. `client_code` is None where the client had to be killed, `server_code` where the server had not ended.

    `out_of_time` says that the row's deadline passed. `document` is what the client wrote, partial or not; `told` what the server said of
    itself after a client that wrote nothing.
    """

    client_code: int | None
    server_code: int | None
    out_of_time: bool
    ready_s: float | None
    wall_s: float
    client_text: str
    server_text: str
    document: dict[str, Any] | None
    document_file: Path | None
    told: dict[str, Any] | None


@dataclass(frozen=True)
class Place:
    """Where a row's files go: the client's own results folder, and the two logs."""

    results: Path
    server_log: Path
    client_log: Path


def take(servers: Servers, backend_config: dict[str, Any], arguments: Sequence[str], place: Place, deadline_s: float) -> Ending:
    """Starts server and client, and ends both however the row ends; at most `deadline_s` and some seconds to end them.

    Raises:
        BenchError: no server can be started, or one does not go away.
    """
    runs = place.results / "runs"
    before = {path.name for path in runs.glob("*.json")}
    start_s = time.monotonic()
    client: Client | None = None
    told = None
    servers.start(backend_config, place.server_log)
    try:
        client = servers.client(arguments, place.client_log)
        server_code, out_of_time, ready_s = _watch(servers, client, place.client_log, start_s, deadline_s)
        client_code = _end(client, signal.SIGTERM) if out_of_time else client.ended()
        if client_code != 0 and server_code is None:
            told = environment(servers.url)
            server_code = _server_end(servers) if told is None else None
    finally:
        if client is not None:
            _end(client, signal.SIGTERM)
        servers.stop()
    written = sorted(path for path in runs.glob("*.json") if path.name not in before)
    return Ending(
        client_code=client_code,
        server_code=server_code,
        out_of_time=out_of_time,
        ready_s=ready_s,
        wall_s=time.monotonic() - start_s,
        client_text=_tail(place.client_log),
        server_text=_tail(place.server_log),
        document=json.loads(written[-1].read_text(encoding="utf-8")) if written else None,
        document_file=written[-1] if written else None,
        told=told,
    )


def _watch(servers: Servers, client: Client, log: Path, start_s: float, deadline_s: float) -> tuple[int | None, bool, float | None]:
    """Until the client has ended, or must be: the server's exit code if it ended, whether the deadline passed, when the model was ready."""
    ready_s = None
    while True:
        ended = client.ended() is not None  # before the look at its log, so that one that was ready and ended between looks was ready
        now_s = time.monotonic() - start_s
        if ready_s is None and READY in _tail(log):
            ready_s = now_s
        if ended:
            return None, False, ready_s
        if (server_code := servers.ended()) is not None:
            _wait(client, NOTICE_S)
            _end(client, signal.SIGUSR1)
            return server_code, False, ready_s
        if now_s >= deadline_s:
            return None, True, ready_s
        time.sleep(LOOK_EVERY_S)


def _server_end(servers: Servers) -> int | None:
    """The exit code of a server that does not answer: one that is going down closes its port some seconds before it has ended."""
    deadline_s = time.monotonic() + GOING_DOWN_S
    while (code := servers.ended()) is None and time.monotonic() < deadline_s:
        time.sleep(LOOK_EVERY_S)
    return code


def _end(client: Client, signal_number: int) -> int | None:
    """Its exit code, None where it did not end when asked."""
    if client.ended() is None:
        client.send(signal_number)
        _wait(client, WRITE_S)
    code = client.ended()
    if code is None:
        client.kill()
    return code


def _wait(client: Client, limit_s: float) -> None:
    deadline_s = time.monotonic() + limit_s
    while client.ended() is None and time.monotonic() < deadline_s:
        time.sleep(LOOK_EVERY_S)


def _tail(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            return file.read().decode(errors="replace")
    except OSError:
        return ""
