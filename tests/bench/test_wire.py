"""Counting what goes over the wire, against bodies whose sizes are known."""

import asyncio
import contextlib
from typing import Any

import httpx
import pytest

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
    assert counter.used() == WireUse(requests=4, training_requests=2, failed_requests=0, up_bytes=1000, down_bytes=400)


def test_a_streamed_answer_counts_as_it_is_read() -> None:
    counter = WireCounter()
    with http_server(ANSWERS) as url, counter.installed():
        post(url, ["forward"], stream=True)
    assert counter.used() == WireUse(requests=1, training_requests=1, failed_requests=0, up_bytes=250, down_bytes=100)


def test_a_restart_counts_from_zero_and_after_the_block_nothing_is_counted() -> None:
    counter = WireCounter()
    with http_server(ANSWERS) as url:
        with counter.installed():
            post(url, ["forward"])
            counter.restart()
            post(url, ["optim_step"])
        post(url, ["optim_step"])
    assert counter.used() == WireUse(requests=1, training_requests=1, failed_requests=0, up_bytes=250, down_bytes=100)


def failed(answers: Any, stream: bool = False) -> tuple[WireUse, str | None]:
    """What one POST to /api/v1/forward counts, and how it is said to have failed."""
    counter = WireCounter()
    with http_server(answers) as url, counter.installed(), contextlib.suppress(httpx.HTTPError, AssertionError):
        post(url, ["forward"], stream)
    return counter.used(), counter.last_failure


@pytest.mark.parametrize("status", [400, 409, 429, 500, 502])
def test_an_answer_for_which_a_request_is_sent_again_is_a_failure(status: int) -> None:
    used, how = failed({"/api/v1/forward": json_answer("{}", status)})
    assert (used.failed_requests, how) == (1, f"POST /api/v1/forward answered {status}")


def test_a_result_that_is_not_there_yet_is_no_failure() -> None:
    assert failed({"/api/v1/forward": json_answer("{}", 408)}) == (WireUse(1, 1, 0, 250, 2), None)


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_is_cut_off_is_a_failure(stream: bool) -> None:
    used, how = failed({"/api/v1/forward": (200, "application/json\r\ncontent-length: 5000", b"{}")}, stream)
    assert (used.failed_requests, how) == (1, "POST /api/v1/forward had no whole answer (RemoteProtocolError)")


def test_a_connection_that_is_refused_is_a_failure() -> None:
    counter = WireCounter()
    with counter.installed(), pytest.raises(httpx.ConnectError):
        post("http://127.0.0.1:9", ["forward"])
    assert counter.last_failure == "POST /api/v1/forward had no whole answer (ConnectError)"


def test_failing_lasts_from_the_first_error_to_the_next_good_answer() -> None:
    counter = WireCounter()
    answers = {"/api/v1/forward": json_answer(ANSWER, 500), "/api/v1/optim_step": json_answer(ANSWER)}
    with http_server(answers) as url, counter.installed():
        assert counter.failing_s() == 0.0
        post(url, ["forward", "forward"])
        first_s = counter.failing_s()
        post(url, ["forward"])
        assert counter.failing_s() > first_s > 0.0
        post(url, ["optim_step"])
        assert counter.failing_s() == 0.0
