"""Plain HTTP to the server, beside the SDK: is it alive, what is it, who holds it. Servers other than ours answer less."""

import enum
import json
import math
import socket
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import httpx

from bench.errors import InputError

TIMEOUT_S = 5.0


class Health(enum.Enum):
    """What a look at the server's health found, in words for a message."""

    OK = "healthy"
    UNKNOWN_HOST = "no host of that name"
    REFUSED = "connection refused"
    SILENT = "no answer"
    NOT_TINKER = "something answers there, but no Tinker server"


@dataclass(frozen=True)
class Probe:
    """A Tinker server's address.

    Raises:
        InputError: the address is no http(s) URL with a host.
    """

    base_url: str

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.base_url)
            valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            valid = False
        if not valid:
            raise InputError(f"--base-url {self.base_url!r} is no address: give one such as http://localhost:8000.")

    @cached_property
    def _kept(self) -> httpx.Client:
        """One client for many looks: a new one takes tens of milliseconds, which a look at the clock must not."""
        return httpx.Client(timeout=TIMEOUT_S)

    def health(self) -> Health:
        """One look, at most `TIMEOUT_S` long."""
        try:
            response = httpx.get(f"{self.base_url}/api/v1/healthz", timeout=TIMEOUT_S)
        except httpx.ConnectError as error:
            return Health.UNKNOWN_HOST if _is_name_error(error) else Health.REFUSED
        except httpx.HTTPError:
            return Health.SILENT
        if response.status_code != 200:
            return Health.NOT_TINKER
        try:
            return Health.OK if response.json().get("status") == "ok" else Health.NOT_TINKER
        except (ValueError, AttributeError, RecursionError):
            return Health.NOT_TINKER

    def environment(self) -> dict[str, Any] | None:
        """What the server says of itself (GPU, versions, backend config), or None from a server without that route."""
        answer = self._extra("environment")
        return answer if isinstance(answer, dict) else None

    def tenants(self) -> list[dict[str, Any]] | None:
        """The models that live on the server and whose session holds each, or None from a server without that route."""
        answer = self._extra("tenants")
        return [entry for entry in answer if isinstance(entry, dict)] if isinstance(answer, list) else None

    def clock_s(self) -> float | None:
        """The server's Unix time in seconds, or None from a server without that route."""
        answer = self._extra("clock")
        now_s = answer.get("now_s") if isinstance(answer, dict) else None
        return now_s if isinstance(now_s, float) else None

    def requests(self, model_id: str, after: int) -> list[dict[str, Any]]:
        """The server's record of a model's requests with ids above `after`, oldest first; none from a server without that route."""
        answer = self._extra("requests", {"model_id": model_id, "after": after})
        return [entry for entry in answer if _is_request(entry)] if isinstance(answer, list) else []

    def post(self, path: str, body: dict[str, Any], timeout_s: float) -> Any:
        """A JSON answer of the Tinker API itself, for the calls that the SDK has no public method for. Raises httpx.HTTPError."""
        response = httpx.post(f"{self.base_url}{path}", json=body, timeout=timeout_s)
        response.raise_for_status()
        return response.json()

    def delete(self, path: str) -> None:
        """Deletes what the path names, at most `TIMEOUT_S` long. Raises httpx.HTTPError."""
        httpx.delete(f"{self.base_url}{path}", timeout=TIMEOUT_S).raise_for_status()

    def _extra(self, name: str, query: dict[str, str | int] | None = None) -> Any:
        try:
            response = self._kept.get(f"{self.base_url}/gspo-bench/{name}", params=query)
            # It is written into the result file, which holds finite numbers only.
            return json.loads(response.content, parse_constant=_null, parse_float=_finite) if response.status_code == 200 else None
        except (httpx.HTTPError, ValueError, RecursionError):
            return None


def _is_request(entry: Any) -> bool:
    """Whether an entry has what a timeline needs, and it is finite numbers."""
    if not isinstance(entry, dict) or not isinstance(entry.get("request_id"), int) or not isinstance(entry.get("type"), str):
        return False
    times = [entry.get(name) for name in ("created_s", "start_s", "end_s")]
    return times[0] is not None and all(value is None or isinstance(value, int | float) for value in times)


def _null(_constant: str) -> None:
    return None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _is_name_error(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
