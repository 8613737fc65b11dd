"""Observing steps: the server's clock against the client's, and its record of the requests."""

import json
from itertools import count

import pytest

from bench.clock import Clock
from bench.observer import Observer, clock_offset
from bench.paths import StepOutcome
from bench.probe import Probe
from bench.timeline import Call, Stage
from bench.wire import WireCounter
from tests.bench.fakes import HEALTHY, FakeTime, http_server, json_answer

# A fused step of 3 s that began at 100 by the client's monotonic clock and at 5000 by its wall clock.
OUTCOME = StepOutcome(
    3.0,
    {"submit": 1.0, "forward_backward_wait": 2.0},
    {},
    started_wall_s=5000.0,
    stages=(Stage("submit", 100.0, 101.0), Stage("forward_backward_wait", 101.0, 103.0)),
    calls=(Call("forward_backward", 100.0, 103.0),),
)


def test_the_offset_is_that_of_the_quickest_look_at_the_middle_of_its_round_trip() -> None:
    time = FakeTime()
    round_trips_s = iter([0.4, 0.2, 0.6, 0.4, 0.4])

    def look() -> float:
        half_s = next(round_trips_s) / 2
        time.advance(half_s)
        server_s = 1_800_000_000.0 + time.now_s + 7.0
        time.advance(half_s)
        return server_s

    found = clock_offset(look, time.clock())
    assert found is not None
    assert found.offset_s == pytest.approx(7.0)
    assert found.uncertainty_s == pytest.approx(0.1)


def test_a_server_that_tells_no_time_has_no_offset() -> None:
    assert clock_offset(lambda: None, Clock()) is None


def entry(request_id: int, created_s: float, start_s: float | None, end_s: float | None) -> dict[str, object]:
    return {"request_id": request_id, "type": "forward_backward", "created_s": created_s, "start_s": start_s, "end_s": end_s}


def test_the_servers_times_are_put_on_the_clients_clock() -> None:
    # The server's wall clock is 10 s ahead, and each look at it takes 0.
    now_s = (100.0 for _ in count())
    clock = Clock(now_s=lambda: next(now_s), wall_s=lambda: 5000.0)
    answers = {
        **HEALTHY,
        "/gspo-bench/clock": json_answer('{"now_s": 5010.0}'),
        "/gspo-bench/requests?model_id=model-1&after=0": json_answer(json.dumps([entry(4, 4000.0, 4000.0, 4001.0)])),
        "/gspo-bench/requests?model_id=model-1&after=4": json_answer(json.dumps([entry(5, 5010.5, 5011.0, 5012.5)])),
    }
    with http_server(answers) as url:
        observer = Observer(Probe(url), "model-1", WireCounter(), clock)
        observer.start()
        seen = observer.finish(OUTCOME)
    assert seen.timeline_s == pytest.approx(
        {"submit": 0.5, "queued": 0.5, "engine_forward_backward": 1.5, "fetch": 0.5, "unexplained": 0.0}
    )
    assert seen.wire == {"requests": 0, "training_requests": 0, "failed_requests": 0, "up_bytes": 0, "down_bytes": 0}


def test_a_server_without_a_record_gives_no_timeline() -> None:
    with http_server(dict(HEALTHY)) as url:
        observer = Observer(Probe(url), "model-1", WireCounter(), Clock())
        observer.start()
        assert observer.finish(OUTCOME).timeline_s is None


@pytest.mark.parametrize(
    "text",
    [
        '[{"request_id": "5", "type": "forward", "created_s": 1.0}]',
        '[{"request_id": 5, "type": null, "created_s": 1.0}]',
        '[{"request_id": 5, "type": "forward", "created_s": NaN, "start_s": 1.0, "end_s": 2.0}]',
        '[{"request_id": 5, "type": "forward", "created_s": 1.0, "start_s": "x", "end_s": 2.0}]',
        '{"request_id": 5}',
        "[5, null]",
        "<html>",
    ],
)
def test_a_record_of_another_shape_is_no_record(text: str) -> None:
    with http_server({"/gspo-bench/requests?model_id=m&after=0": json_answer(text)}) as url:
        assert Probe(url).requests("m", 0) == []
