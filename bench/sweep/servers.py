"""What a sweep needs of whatever runs its servers: processes of this machine, or containers."""

import json
import math
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

LOOK_S = 5.0


class Client(Protocol):
    """A `python -m bench ...` that was started and writes what it says into a file."""

    def ended(self) -> int | None:
        """Its exit code, None while it runs."""

    def send(self, signal_number: int) -> None:
        """Sends it a signal, if it still runs."""

    def kill(self) -> None:
        """Ends it at once, whatever it does."""


class Servers(Protocol):
    """One server at a time, with one setting after another.

    `identity` names all that makes its numbers what they are beside the setting; `url` is its address from here, `client_url` the
    client's; `results_seen` is how the client sees the results folder.
    """

    identity: str
    url: str
    client_url: str
    results_seen: str

    def start(self, backend_config: dict[str, Any], log: Path) -> None:
        """Starts the server, which writes into `log`. Raises BenchError where none can be started whatever its setting."""

    def ended(self) -> int | None:
        """The server's exit code where it ended by itself, else None."""

    def stop(self) -> None:
        """Ends it and all that came of it; its port is closed then. Does nothing where none runs."""

    def client(self, arguments: Sequence[str], log: Path) -> Client:
        """Starts the client beside it."""

    def next_time(self, backend_config: dict[str, Any], preset: Path) -> str:
        """The command that starts the same server with these settings, for the user to type; `preset` is the file that has them."""


def environment(url: str) -> dict[str, Any] | None:
    """What a server says of itself, with numbers that are not finite as null; None where it does not tell."""
    try:
        with urllib.request.urlopen(f"{url}/gspo-bench/environment", timeout=LOOK_S) as response:
            told = json.loads(response.read(), parse_constant=lambda _: None, parse_float=_finite)
    except (OSError, ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None
