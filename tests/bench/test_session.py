"""A model for as long as a run lasts: which one, who holds the server, and that it is given back."""

import json
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import tinker

from bench import session, tenants
from bench.clock import Clock
from bench.errors import BenchError, InputError, ServerGoneError, UnsupportedError
from bench.probe import Probe
from bench.session import ModelRequest, open_session
from bench.wait import ResultWaiter
from tests.bench.fakes import HEALTHY, FakeTime, http_server, json_answer

TENANT = {
    "model_id": "model_7",
    "session_id": "session_3",
    "expires_in_s": 212.4,
    "user_metadata": {"program": "gspo-bench", "host": "vm-1", "pid": "77"},
}
UNLOADED = {"/api/v1/unload_model": json_answer('{"request_id": "9"}'), "/api/v1/retrieve_future": json_answer("{}")}
REQUEST = ModelRequest(None, 8, 3, wait_for_tenant=False)


class FakeService:
    """A service whose n-th try to create a model fails with the n-th error, where there is one."""

    holder = None

    def __init__(self, models: list[str], errors: list[Exception]) -> None:
        self.models, self.errors, self.asked = models, errors, []  # type: ignore[var-annotated]

    def get_server_capabilities(self) -> Any:
        return SimpleNamespace(supported_models=[SimpleNamespace(model_name=name) for name in self.models])

    def create_lora_training_client(self, model: str, **settings: Any) -> Any:
        self.asked.append((model, settings))
        if len(self.asked) <= len(self.errors):
            raise self.errors[len(self.asked) - 1]
        return SimpleNamespace(model_id="model_8")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Opens a session on a fake service and a little HTTP server; gives (session, service, what was said)."""

    def open_on(
        answers: Any, models: list[str], errors: list[Exception], request: ModelRequest, clock: FakeTime | None = None
    ) -> tuple[Any, FakeService, list[str]]:
        service, said = FakeService(models, errors), list[str]()
        monkeypatch.setattr(session, "_service_client", lambda probe: service)
        if clock is None:
            monkeypatch.setattr(session, "TENANT_POLL_S", 0.01)
            monkeypatch.setattr(tenants, "LOOK_EVERY_S", 0.01)
            monkeypatch.setattr(tenants, "HEARTBEATS_WITHIN_S", 0.02)
        with http_server(answers) as url:
            probe = Probe(url)
            wait = ResultWaiter(probe, 600.0 if clock else 10.0, said.append, clock.clock() if clock else Clock())
            with open_session(probe, wait, request, said.append) as found:
                return found, service, said

    return open_on


def test_the_only_model_is_taken_when_none_is_named(opened: Any) -> None:
    found, service, said = opened({**HEALTHY, **UNLOADED}, ["Qwen/only"], [], REQUEST)
    assert found.model == "Qwen/only"
    assert service.asked == [("Qwen/only", {"rank": 8, "seed": 3})]
    assert said == ["creating a LoRA model of rank 8 on Qwen/only"]


@pytest.mark.parametrize(
    ("models", "asked", "kind", "says"),
    [
        (["a", "b"], None, InputError, r"the server has 2 models \(a, b\): choose one with --model"),
        ([], None, InputError, "the server has 0 models"),
        (["a"], "b", UnsupportedError, r"does not have 'b'; it has a\.\nGive that as --model"),
    ],
)
def test_a_model_that_is_not_there_is_refused_with_those_that_are(
    opened: Any, models: list[str], asked: str | None, kind: type[BenchError], says: str
) -> None:
    with pytest.raises(kind, match=says):
        opened({**HEALTHY}, models, [], ModelRequest(asked, 8, 3, wait_for_tenant=False))


OCCUPIED = ValueError("FSDP backend supports a single LoRA adapter")


def test_a_server_that_does_not_tell_who_holds_it_is_not_waited_for(opened: Any) -> None:
    with pytest.raises(UnsupportedError) as raised:
        opened({**HEALTHY}, ["a"], [OCCUPIED], REQUEST)
    first, second = str(raised.value).split("\n")
    assert first.startswith("the server holds one model at a time, and another session has it")
    assert "--wait-for-tenant" in second
    assert raised.value.exit_code == 4


def test_the_model_of_a_client_that_is_gone_is_waited_for_unasked(opened: Any) -> None:
    answers = {**HEALTHY, **UNLOADED, "/gspo-bench/tenants": json_answer(json.dumps([TENANT]))}
    _, service, said = opened(answers, ["a"], [OCCUPIED] * 3, REQUEST)
    assert len(service.asked) == 4
    # 212.4 s until it counts as left, and 90 s for the server to notice.
    assert said[2] == (
        "the server is taken: session session_3 (gspo-bench on vm-1, pid 77) holds model model_7, freed in 212 s if it stays silent. "
        "Its client is gone. Waiting for that, 302 s at most."
    )


def tries_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that grows with each try to create a model."""
    asked: list[str] = []
    create = FakeService.create_lora_training_client

    def counted(self: FakeService, model: str, **settings: Any) -> Any:
        asked.append(model)
        return create(self, model, **settings)

    monkeypatch.setattr(FakeService, "create_lora_training_client", counted)
    return asked


@pytest.mark.parametrize("came", [[TENANT | {"session_id": "session_4"}], [TENANT, TENANT | {"session_id": "session_4"}]])
@pytest.mark.parametrize("tries", [1, 3])
def test_a_client_that_comes_while_a_gone_ones_model_is_waited_for_is_not(
    opened: Any, monkeypatch: pytest.MonkeyPatch, came: list[dict[str, Any]], tries: int
) -> None:
    asked = tries_of(monkeypatch)
    monkeypatch.setattr(Probe, "tenants", lambda probe: came if len(asked) >= tries else [TENANT])
    with pytest.raises(UnsupportedError, match=r"the server is taken: session session_[34] .*\n.*--wait-for-tenant"):
        opened({**HEALTHY}, ["a"], [OCCUPIED] * 10, REQUEST)
    assert len(asked) == tries


def test_a_gone_clients_model_that_is_being_dropped_is_still_waited_for(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tries_of(monkeypatch)
    monkeypatch.setattr(Probe, "tenants", lambda probe: [] if len(asked) >= 2 else [TENANT])
    _, service, _ = opened({**HEALTHY, **UNLOADED}, ["a"], [OCCUPIED] * 3, REQUEST)
    assert len(service.asked) == 4


@pytest.fixture
def beating(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], Any]]:
    """Answers in which the tenant's heartbeat moves at each of so many looks, after which it is gone."""

    def answers(looks: int) -> Any:
        beats = iter(range(looks))

        def told(probe: Probe) -> list[dict[str, Any]]:
            beat = next(beats, None)
            return [] if beat is None else [TENANT | {"last_heartbeat_at": f"2026-11-30T09:00:{beat:02}Z"}]

        monkeypatch.setattr(Probe, "tenants", told)
        return {**HEALTHY, **UNLOADED}

    yield answers


def test_a_client_that_lives_on_the_server_is_not_timed_beside(opened: Any, beating: Callable[[int], Any]) -> None:
    with pytest.raises(
        UnsupportedError, match=r"session session_3 \(gspo-bench on vm-1, pid 77\) holds .*timed into.*\n.*--wait-for-tenant"
    ):
        opened(beating(1_000), ["a"], [], REQUEST)


def test_the_end_of_another_client_can_be_waited_for(opened: Any, beating: Callable[[int], Any]) -> None:
    clock = FakeTime()
    _, service, said = opened(beating(60), ["a"], [], ModelRequest(None, 8, 3, wait_for_tenant=True), clock)
    assert len(service.asked) == 1
    # Each look finds the heartbeat moved after 1 s, and the next one is 5 s later: seen at 1, 7, 13, 19 ... 175 s, told of when doubled.
    assert len(clock.pauses) == 60 and clock.now_s == 1000.0 + 30 * 6
    assert sum("Looking whether its client lives" in text for text in said) == 1
    assert sum(text.endswith("Waiting for its end.") for text in said) == 6


def test_a_long_wait_for_the_tenant_is_told_of_less_and_less_often(opened: Any) -> None:
    answers = {**HEALTHY, **UNLOADED, "/gspo-bench/tenants": json_answer(json.dumps([TENANT]))}
    clock = FakeTime()
    _, _, said = opened(answers, ["a"], [OCCUPIED] * 50, ModelRequest(None, 8, 3, wait_for_tenant=True), clock)
    told = [text for text in said if "still taken" in text]
    # 49 tries five seconds apart; looking whether the tenant lives took 22 s before.
    assert told == [f"the server is still taken after {seconds} s; waiting at most 302 s" for seconds in (5, 10, 20, 40, 80, 140, 200)]


def test_waiting_for_the_tenant_goes_on_when_it_is_freed(opened: Any) -> None:
    answers = {**HEALTHY, **UNLOADED, "/gspo-bench/tenants": json_answer(json.dumps([TENANT]))}
    _, service, said = opened(answers, ["a"], [OCCUPIED] * 3, ModelRequest(None, 8, 3, wait_for_tenant=True))
    assert len(service.asked) == 4
    assert said[2].startswith("the server is taken: session session_3") and said[2].endswith("Waiting for that, 302 s at most.")
    # It lives for 212.4 s more, and 90 s are allowed for the server to notice. Nothing more is said of a wait of an instant.
    assert len(said) == 3


def test_a_tenant_that_stays_ends_the_wait_with_its_name(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "TENANT_MARGIN_S", 0.1)
    answers = {**HEALTHY, "/gspo-bench/tenants": json_answer(json.dumps([TENANT | {"expires_in_s": 0}]))}
    with pytest.raises(ServerGoneError, match=r"was still taken after 0 s: .*session_3"):
        opened(answers, ["a"], [OCCUPIED] * 1000, ModelRequest(None, 8, 3, wait_for_tenant=True))


def test_another_failure_while_waiting_is_not_waited_for(opened: Any) -> None:
    errors = [OCCUPIED, RuntimeError("CUDA out of memory")]
    with pytest.raises(BenchError, match=r"creating the model: .*CUDA out of memory"):
        opened({**HEALTHY}, ["a"], errors, ModelRequest(None, 8, 3, wait_for_tenant=True))


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"/api/v1/unload_model": json_answer("{}")},
        {"/api/v1/unload_model": json_answer("[]")},
        {"/api/v1/unload_model": json_answer("<")},
    ],
)
def test_a_model_that_cannot_be_given_back_is_a_word_and_not_a_failure(opened: Any, answers: dict[str, Any]) -> None:
    _, _, said = opened({**HEALTHY, **answers}, ["a"], [], REQUEST)
    assert said[-1].startswith("the model model_8 could not be unloaded") and "frees it when the session ends" in said[-1]


def test_the_model_is_given_back_however_the_block_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    unloaded: list[str] = []
    monkeypatch.setattr(session, "_service_client", lambda probe: FakeService(["a"], []))
    monkeypatch.setattr(session, "_unload", lambda client, probe, say: unloaded.append(client.model_id))
    for error in (KeyboardInterrupt, BenchError, SystemExit):
        probe = Probe("http://server:8000")
        with pytest.raises(error), open_session(probe, ResultWaiter(probe, 10.0, print), REQUEST, lambda text: None):
            raise error
    assert unloaded == ["model_8"] * 3


OURS = TENANT | {"model_id": "model_8", "session_id": "session_8", "user_metadata": tenants.who()}


@pytest.mark.parametrize(
    ("listed", "in_the_way"),
    [([TENANT, OURS], True), ([OURS, TENANT], False), ([OURS], False), ([], False)],
    ids=["it came first", "it came later", "alone", "a server that does not tell"],
)
def test_of_two_that_found_the_server_free_the_later_one_gives_way(
    listed: list[dict[str, Any]], in_the_way: bool, opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tries_of(monkeypatch)
    unloaded: list[str] = []
    monkeypatch.setattr(Probe, "tenants", lambda probe: listed if asked else [])
    monkeypatch.setattr(session, "_unload", lambda client, probe, say: unloaded.append(client.model_id))
    if in_the_way:
        with pytest.raises(UnsupportedError, match=r"session session_3 \(gspo-bench on vm-1, pid 77\) .*timed into.*\n.*--wait-for-tenant"):
            opened({**HEALTHY}, ["a"], [], REQUEST)
    else:
        opened({**HEALTHY}, ["a"], [], REQUEST)
    assert (len(asked), unloaded) == (1, ["model_8"])


def test_the_later_one_waits_for_the_first_where_it_may(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tries_of(monkeypatch)
    beats = iter(range(1000))

    def told(probe: Probe) -> list[dict[str, Any]]:
        beat = next(beats)
        return [TENANT | {"last_heartbeat_at": beat}, OURS] if asked and beat < 8 else []

    monkeypatch.setattr(Probe, "tenants", told)
    opened({**HEALTHY, **UNLOADED}, ["a"], [], ModelRequest(None, 8, 3, wait_for_tenant=True))
    assert len(asked) == 2


@pytest.mark.parametrize("listed_at", [1, 3], ids=["there", "still on its way"])
def test_a_model_in_the_making_is_given_back_when_the_wait_for_it_is_interrupted(listed_at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    making, looks, unloaded = threading.Event(), list[int](), list[Any]()
    ours = TENANT | {"model_id": "model_9", "session_id": "session_9"}

    class SlowService(FakeService):
        holder: Any = SimpleNamespace(get_session_id=lambda: "session_9")

        def create_lora_training_client(self, model: str, **settings: Any) -> Any:
            making.wait()

    class Interrupted(ResultWaiter):
        def __call__(self, future: Any, stage: str, deadline_s: float | None = None) -> Any:
            if stage == "creating the model":
                looks.clear()  # those before were for other clients
                raise KeyboardInterrupt
            return super().__call__(future, stage, deadline_s)

    def told(probe: Probe) -> list[dict[str, Any]]:
        looks.append(1)
        return [TENANT, ours] if unloaded or len(looks) >= listed_at else []

    clock = FakeTime()
    monkeypatch.setattr(session, "_service_client", lambda probe: SlowService(["a"], []))
    monkeypatch.setattr(Probe, "tenants", told)
    monkeypatch.setattr(tenants, "alive", lambda *arguments: [])
    monkeypatch.setattr(Probe, "post", lambda self, path, body, timeout_s: unloaded.append((path, body)))
    probe = Probe("http://server:8000")
    wait = Interrupted(probe, 600.0, print, clock.clock())
    with pytest.raises(KeyboardInterrupt), open_session(probe, wait, REQUEST, print):
        pass
    making.set()
    assert unloaded == [("/api/v1/unload_model", {"model_id": "model_9"})]
    assert clock.pauses == [0.2] * (listed_at - 1)


def test_another_sdk_than_the_tested_one_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tinker, "__version__", "0.38.1")
    probe = Probe("http://server:8000")
    with (
        pytest.raises(InputError, match=r"tinker 0\.38\.1 is installed.*\n.*tinker>=0\.25,<0\.26"),
        open_session(probe, ResultWaiter(probe, 10.0, print), REQUEST, print),
    ):
        pass
