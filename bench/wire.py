"""What the SDK sends and receives for training steps, counted where it hands requests to its HTTP client."""

import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

TRAINING_ROUTES = ("/forward", "/forward_backward", "/optim_step")
RESULT_ROUTE = "/retrieve_future"
# A result that is not there yet, to be asked for again: no failure.
NOT_YET = 408


@dataclass(frozen=True)
class WireUse:
    """HTTP requests of a step and the bytes of their bodies. `training_requests` are those that ask for work, repeats among them.

    `failed_requests` had no whole answer, or one that the SDK repeats a request for: what failed was sent again, where the step went on.
    """

    requests: int
    training_requests: int
    failed_requests: int
    up_bytes: int
    down_bytes: int


class WireCounter:
    """Counts from each `restart` on. Heartbeats and what else the SDK does beside a step are left out."""

    def __init__(self) -> None:
        self._failing_since_s: float | None = None
        self.restart()

    def restart(self) -> None:
        self._requests = self._training_requests = self._failed_requests = self._up_bytes = self._down_bytes = 0
        self.last_failure: str | None = None

    def used(self) -> WireUse:
        return WireUse(self._requests, self._training_requests, self._failed_requests, self._up_bytes, self._down_bytes)

    def failing_s(self) -> float:
        """For how long every answer has been an error, seconds; 0 where the last one was none."""
        return 0.0 if self._failing_since_s is None else time.monotonic() - self._failing_since_s

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Counts what goes through any `httpx.AsyncClient` of this process while the block lasts: the SDK makes its clients itself."""
        original = httpx.AsyncClient.send

        async def send(client: httpx.AsyncClient, request: httpx.Request, **kwargs: Any) -> httpx.Response:
            if not request.url.path.endswith((*TRAINING_ROUTES, RESULT_ROUTE)):
                return await original(client, request, **kwargs)
            self._requests += 1
            self._training_requests += request.url.path.endswith(TRAINING_ROUTES)
            self._up_bytes += int(request.headers.get("content-length", 0))
            with self._failures(request):
                response = await original(client, request, **kwargs)
            if response.is_error and response.status_code != NOT_YET:
                self._failed(request, f"answered {response.status_code}")
                self._failing_since_s = self._failing_since_s or time.monotonic()
            else:
                self._failing_since_s = None
            if response.is_stream_consumed:
                self._down_bytes += response.num_bytes_downloaded
            else:
                response.stream = _Counted(response.stream, self, request)
            return response

        httpx.AsyncClient.send = send  # type: ignore[assignment, method-assign]
        try:
            yield
        finally:
            httpx.AsyncClient.send = original  # type: ignore[method-assign]

    def _received(self, count: int) -> None:
        self._down_bytes += count

    def _failed(self, request: httpx.Request, how: str) -> None:
        self._failed_requests += 1
        self.last_failure = f"{request.method} {request.url.path} {how}"

    @contextlib.contextmanager
    def _failures(self, request: httpx.Request) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            self._failed(request, f"had no whole answer ({type(error).__name__})")
            raise


class _Counted(httpx.AsyncByteStream):
    """A response's body that tells the counter what is read of it."""

    def __init__(self, inner: Any, counter: WireCounter, request: httpx.Request) -> None:
        self._inner = inner
        self._counter = counter
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with self._counter._failures(self._request):
            async for chunk in self._inner:
                self._counter._received(len(chunk))
                yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
