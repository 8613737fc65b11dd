"""Counting what goes over the wire, against bodies whose sizes are known."""

import asyncio

import httpx

from bench.wire import WireCounter, WireUse
from tests.bench.fakes import http_server, json_answer

ANSWER = '{"x": "' + "y" * 91 + '"}'
ANSWERS = {
    f"/api/v1/{name}": json_answer(ANSWER) for name in ("forward", "forward_backward", "optim_step", "retrieve_future", "session_heartbeat")
}


def post(url: str, names: list[str], stream: bool = False) -> None:
    async def run() -> None:
        async with httpx.AsyncClient(base_url=url) as client:
            for name in names:
                request = client.build_request("POST", f"/api/v1/{name}", content=b"b" * 250)
                response = await client.send(request, stream=stream)
                await response.aread()
                await response.aclose()
                assert len(response.content) == 100

    asyncio.run(run())


def test_a_steps_requests_and_bytes_are_counted_and_a_heartbeat_is_not() -> None:
    counter = WireCounter()
    with http_server(ANSWERS) as url, counter.installed():
        post(url, ["forward_backward", "optim_step", "session_heartbeat", "retrieve_future", "retrieve_future"])
    assert counter.used() == WireUse(requests=4, training_requests=2, up_bytes=1000, down_bytes=400)


def test_a_streamed_answer_counts_as_it_is_read() -> None:
    counter = WireCounter()
    with http_server(ANSWERS) as url, counter.installed():
        post(url, ["forward"], stream=True)
    assert counter.used() == WireUse(requests=1, training_requests=1, up_bytes=250, down_bytes=100)


def test_a_restart_counts_from_zero_and_after_the_block_nothing_is_counted() -> None:
    counter = WireCounter()
    with http_server(ANSWERS) as url:
        with counter.installed():
            post(url, ["forward"])
            counter.restart()
            post(url, ["optim_step"])
        post(url, ["optim_step"])
    assert counter.used() == WireUse(requests=1, training_requests=1, up_bytes=250, down_bytes=100)
