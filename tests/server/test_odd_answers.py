"""What a flaky or odd server answers, between the real SDK and a real server: what goes on is told and not counted, what ends is named."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import tinker
from tinker.proto import tinker_public_pb2 as wire_format

from bench import synthetic
from bench.batch import FrozenBatch
from bench.clock import Clock
from bench.errors import BenchError, ServerGoneError
from bench.gspo import Clip
from bench.measure import Plan, StepRecord, measure
from bench.observer import Observer
from bench.paths import Native, Path, StepSetup, TwoPass
from bench.probe import Probe
from bench.session import ModelRequest, open_session
from bench.wait import ResultWaiter
from bench.wire import WireCounter
from tests.server import tampering
from tests.server.conftest import RunningServer
from tests.server.tampering import Answer, Change, Proxy, cut, dropped, late, of, status

pytestmark = pytest.mark.server

PATIENT_S, DEADLINE_S = 120.0, 2.0
RESULT = "retrieve_future"
ODD = r"^forward_backward: the server at \S+ sent an answer that is none of Tinker's: "


@dataclass
class Stage:
    """A model behind the proxy, and what a step needs."""

    proxy: Proxy
    setup: StepSetup
    observer: Observer
    wire: WireCounter
    model_id: str

    def step(self, path: Path) -> StepRecord:
        """One counted step."""
        plan = Plan([(path.name, path)], rounds=1, max_rounds=1, warmup=0, order="blocked", seed=0, enough=lambda records: True)
        (record,) = measure(self.setup, plan, lambda record: None, lambda records: None, Clock(), self.observer)
        return record

    def requests(self) -> list[str]:
        """The kinds of training requests that the server has worked on for the model, in order."""
        return [entry["type"] for entry in Probe(self.proxy.url).requests(self.model_id, 0)]


@pytest.fixture(scope="module")
def opened(server: RunningServer) -> Iterator[Stage]:
    wire = WireCounter()
    with tampering.proxy(server.url) as proxy:
        probe = Probe(proxy.url)
        wait = ResultWaiter(probe, PATIENT_S, lambda text: None, wire=wire)
        request = ModelRequest(None, 8, 3, wait_for_tenant=False)
        with wire.installed(), open_session(probe, wait, request, lambda text: None) as session:
            batch = FrozenBatch(synthetic.sequences(seed=1)[:4], "tiny", "synthetic")
            adam = tinker.AdamParams(learning_rate=1e-6)
            setup = StepSetup(session.client, batch, Clip(), adam, False, wait, Clock())
            observer = Observer(probe, str(session.client.model_id), wire, Clock())
            made = Stage(proxy, setup, observer, wire, str(session.client.model_id))
            for path in (Native(), TwoPass()):
                assert made.step(path).counted
            yield made


@pytest.fixture
def stage(opened: Stage) -> Iterator[Stage]:
    """The stage with a short deadline; whatever a test did, the next step is a clean one."""
    patient = opened.setup
    opened.setup = replace(patient, wait=replace(patient.wait, deadline_s=DEADLINE_S))
    yield opened
    opened.proxy.change = tampering.untouched
    opened.setup = patient
    # The first may wait for what the test left behind.
    assert opened.step(Native()).counted or opened.step(Native()).counted


@pytest.mark.parametrize(
    ("route", "change"),
    [
        ("forward_backward", dropped),
        ("forward_backward", cut),
        ("forward_backward", status(500)),
        ("forward_backward", status(429)),
        ("forward_backward", status(503, "<html>busy</html>", "text/html")),
        ("optim_step", dropped),
        (RESULT, dropped),
        (RESULT, cut),
        (RESULT, status(500)),
        (RESULT, status(502, "<html>gateway</html>", "text/html")),
        (RESULT, status(429)),
        (RESULT, status(400)),
    ],
)
def test_a_step_in_which_an_answer_was_lost_is_taken_once_and_not_counted(
    stage: Stage, route: str, change: Callable[[Answer], Answer]
) -> None:
    stage.setup = replace(stage.setup, wait=replace(stage.setup.wait, deadline_s=PATIENT_S))
    before = stage.requests()
    stage.proxy.change = of(route, change, times=1)
    record = stage.step(Native())
    assert (record.counted, record.reason) == (False, "repeated_requests")
    assert record.wire is not None and record.wire["failed_requests"] == 1
    # Sent twice, and worked on once.
    assert stage.requests()[len(before) :] == ["forward_backward", "optim_step"]


def test_an_answer_that_comes_late_is_part_of_a_clean_step(stage: Stage) -> None:
    stage.proxy.change = of(RESULT, late(1.0), times=1)
    record = stage.step(Native())
    assert record.counted and record.step_s > 1.0


@pytest.mark.parametrize(
    ("route", "change", "kind", "says"),
    [
        (RESULT, status(400), BenchError, r"^forward_backward: the server at \S+ failed: .*it broke"),
        (RESULT, status(404), BenchError, r"^forward_backward: the server at \S+ failed: .*it broke"),
        (RESULT, status(200, "<html>hello</html>", "text/html"), BenchError, ODD),
        (RESULT, status(200, "[]"), BenchError, ODD),
        (RESULT, status(200, "{}"), BenchError, ODD + r".*JSON payload"),
        (RESULT, status(200, "\x00nonsense", "application/x-protobuf"), BenchError, ODD + r".*Proto deserialization failed"),
        ("forward_backward", status(400), BenchError, r"^forward_backward: the server at \S+ failed: .*it broke"),
        ("forward_backward", status(422), BenchError, r"^forward_backward: the server at \S+ failed: .*it broke"),
        ("forward_backward", status(200, "<html>hello</html>", "text/html"), BenchError, ODD),
        ("forward_backward", status(200, '{"request_id": null}'), BenchError, ODD),
        (RESULT, status(500), ServerGoneError, r"within 2 s; POST /api/v1/retrieve_future answered 500 at last\."),
        (RESULT, status(429), ServerGoneError, r"within 2 s; POST /api/v1/retrieve_future answered 429 at last\."),
        (RESULT, status(408, "{}"), ServerGoneError, r"forward_backward: no answer from \S+ within 2 s\."),
        (RESULT, dropped, ServerGoneError, r"within 2 s; POST /api/v1/retrieve_future had no whole answer \(\w+\) at last\."),
        (RESULT, cut, ServerGoneError, r"within 2 s; POST /api/v1/retrieve_future had no whole answer \(\w+\) at last\."),
        (RESULT, late(3.0), ServerGoneError, r"forward_backward: no answer from \S+ within 2 s\."),
        ("forward_backward", status(500), ServerGoneError, r"within 2 s; POST /api/v1/forward_backward answered 500 at last\."),
        ("forward_backward", dropped, ServerGoneError, r"within 2 s; POST /api/v1/forward_backward had no whole answer \(\w+\) at last\."),
    ],
)
def test_an_answer_that_stays_odd_ends_the_step_by_its_deadline_with_the_request_named(
    stage: Stage, route: str, change: Callable[[Answer], Answer], kind: type[BenchError], says: str
) -> None:
    stage.proxy.change = of(route, change)
    start_s = Clock().now_s()
    with pytest.raises(BenchError, match=says) as raised:
        stage.step(Native())
    assert Clock().now_s() - start_s < DEADLINE_S + 3.0
    assert type(raised.value) is kind
    message = str(raised.value)
    assert message.count("\n") <= 1 and len(message) < 700


def with_logprobs(change: Callable[[list[Any]], list[Any]]) -> Change:
    """Changes the rows of logprobs in a forward pass's answer."""

    def rewritten(answer: Answer) -> Answer:
        if answer.kind != "application/x-protobuf":
            return answer
        message = wire_format.ForwardBackwardOutput.FromString(answer.body)
        (record,) = message.loss_fn_outputs
        field = record.fields["logprobs"]
        ends = np.frombuffer(field.offsets, dtype=np.int64) // 4
        numbers = np.frombuffer(field.data, dtype=np.float32)
        rows = change([numbers[start:end].copy() for start, end in itertools.pairwise(ends)])
        record.num_datums = len(rows)
        record.fields["logprobs"].data = b"".join(row.tobytes() for row in rows)
        record.fields["logprobs"].offsets = (4 * np.cumsum([0, *map(len, rows)])).astype(np.int64).tobytes()
        for name in [name for name in record.fields if name != "logprobs"]:
            del record.fields[name]
        return replace(answer, body=message.SerializeToString())

    return of(RESULT, rewritten, times=1)


def with_last(value: float) -> Callable[[list[Any]], list[Any]]:
    def change(rows: list[Any]) -> list[Any]:
        rows[1][-1] = value
        return rows

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (with_last(float("nan")), "a logprob that is not finite for datum 1"),
        (with_last(float("inf")), "a logprob that is not finite for datum 1"),
        (with_last(float("-inf")), "a logprob that is not finite for datum 1"),
        (lambda rows: rows[:-1], "returned 3 rows for 4 datums"),
        (lambda rows: [*rows, rows[0]], "returned 5 rows for 4 datums"),
        (lambda rows: [], "returned 0 rows for 4 datums"),
        (lambda rows: [rows[0][:-1], *rows[1:]], "datum 0 has .* targets and the server returned"),
        (lambda rows: [rows[1], rows[0], *rows[2:]], "datum 0 has .* targets and the server returned"),
    ],
)
def test_logprobs_that_cannot_be_the_batchs_are_named_with_their_datum(
    stage: Stage, change: Callable[[list[Any]], list[Any]], says: str
) -> None:
    stage.proxy.change = with_logprobs(change)
    with pytest.raises(BenchError, match=f"^forward: .*{says}"):
        stage.step(TwoPass())
