"""The engine's spans, on an engine class of the same shape and clock, and on the real server."""

import json
from pathlib import Path
from typing import Any

import pytest
from engine_spans import SpanLog, SpanReader, install


class Engine:
    """SkyRL's three methods, as far as spans need them: two groups of a batch, and single requests in the order of their dict."""

    def __init__(self, time: list[float]) -> None:
        self.time = time

    def process_batch_requests(self, requests: dict[str, Any], processor: Any, name: str, per_model: bool = False) -> None:
        for key, value in requests.items():
            processor({key: value})

    def process_single_requests(self, requests: dict[str, Any]) -> None:
        for model_id, request_type, request_data in requests.values():
            try:
                self.process_single_request(request_type, model_id, request_data)
            except ValueError:
                continue

    def process_single_request(self, request_type: str, model_id: str, request_data: dict[str, Any]) -> None:
        self.time[0] += 2.0
        if request_type == "bad":
            raise ValueError


@pytest.fixture
def spans(tmp_path: Path) -> tuple[Engine, SpanReader]:
    time = [100.0]

    class Fresh(Engine):
        pass

    install(Fresh, SpanLog(tmp_path / "spans.jsonl", now_s=lambda: time[0]))
    return Fresh(time), SpanReader(tmp_path / "spans.jsonl")


def test_each_group_of_a_batch_has_its_span(spans: tuple[Engine, SpanReader]) -> None:
    engine, reader = spans

    def work(group: dict[str, Any]) -> None:
        engine.time[0] += 1.5

    engine.process_batch_requests({"7": ("m", None), "9": ("m", None)}, work, "forward", per_model=True)
    assert reader.spans() == {7: (100.0, 101.5), 9: (101.5, 103.0)}


def test_single_requests_have_the_ids_of_their_order_also_after_one_that_failed(spans: tuple[Engine, SpanReader]) -> None:
    engine, reader = spans
    engine.process_single_requests({"3": ("m", "bad", {}), "4": ("m", "optim_step", {})})
    engine.process_single_requests({"5": ("m", "optim_step", {})})
    assert reader.spans() == {3: (100.0, 102.0), 4: (102.0, 104.0), 5: (104.0, 106.0)}


def test_a_half_written_line_is_read_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    reader = SpanReader(path)
    assert reader.spans() == {}
    line = json.dumps({"ids": [1], "start_s": 1.0, "end_s": 2.0})
    path.write_text(line[:10])
    assert reader.spans() == {}
    path.write_text(line + "\n")
    assert reader.spans() == {1: (1.0, 2.0)}


def test_only_the_newest_spans_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps({"ids": [index], "start_s": 0.0, "end_s": 1.0}) + "\n" for index in range(10)))
    assert sorted(SpanReader(path, keep=3).spans()) == [7, 8, 9]


def test_an_engine_of_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match="process_batch_requests"):
        install(object, SpanLog(tmp_path / "spans.jsonl"))
