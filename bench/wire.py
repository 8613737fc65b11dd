"""What the SDK sends and receives for training steps, counted where it hands requests to its HTTP client."""

import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

TRAINING_ROUTES = ("/forward", "/forward_backward", "/optim_step")
RESULT_ROUTE = "/retrieve_future"


@dataclass(frozen=True)
class WireUse:
    """HTTP requests of a step and the bytes of their bodies. `training_requests` are those that ask for work, repeats among them."""

    requests: int
    training_requests: int
    up_bytes: int
    down_bytes: int


class WireCounter:
    """Counts from each `restart` on. Heartbeats and what else the SDK does beside a step are left out."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self._requests = self._training_requests = self._up_bytes = self._down_bytes = 0

    def used(self) -> WireUse:
        return WireUse(self._requests, self._training_requests, self._up_bytes, self._down_bytes)

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
            response = await original(client, request, **kwargs)
            if response.is_stream_consumed:
                self._down_bytes += response.num_bytes_downloaded
            else:
                response.stream = _Counted(response.stream, self)
            return response

        httpx.AsyncClient.send = send  # type: ignore[assignment, method-assign]
        try:
            yield
        finally:
            httpx.AsyncClient.send = original  # type: ignore[method-assign]

    def _received(self, count: int) -> None:
        self._down_bytes += count


class _Counted(httpx.AsyncByteStream):
    """A response's body that tells the counter what is read of it."""

    def __init__(self, inner: Any, counter: WireCounter) -> None:
        self._inner = inner
        self._counter = counter

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._counter._received(len(chunk))
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
