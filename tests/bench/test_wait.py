"""Waiting with a deadline, on a clock that is known and on real sockets."""

import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest
import tenacity
import tinker

from bench.errors import BenchError, ServerGoneError, UnsupportedError
from bench.probe import Health, Probe
from bench.wait import ResultWaiter, in_thread, until_healthy
from tests.bench.fakes import HEALTHY, FakeFuture, FakeTime, http_server, json_answer


@dataclass
class ScriptedProbe:
    """Looks find what the script says, the last of it for ever. Each look takes `look_s` on the clock."""

    script: list[Health]
    time: FakeTime
    look_s: float = 0.0
    base_url: str = "http://server:8000"
    looks: list[float] = field(default_factory=list)

    def health(self) -> Health:
        self.looks.append(self.time.now_s)
        self.time.advance(self.look_s)
        return self.script[min(len(self.looks), len(self.script)) - 1]


def waiter(script: list[Health], deadline_s: float = 600.0) -> tuple[ResultWaiter, ScriptedProbe, FakeTime, list[str]]:
    clock, said = FakeTime(), list[str]()
    probe = ScriptedProbe(script, clock)
    return ResultWaiter(probe, deadline_s, said.append, clock.clock()), probe, clock, said  # type: ignore[arg-type]


def ready_in(clock: FakeTime, seconds: float, outcome: Any = "done") -> FakeFuture:
    return FakeFuture(clock, clock.now_s + seconds, outcome)


def test_a_result_within_ten_seconds_disturbs_the_server_with_no_look() -> None:
    wait, probe, clock, said = waiter([Health.OK])
    assert wait(ready_in(clock, 9.9), "forward") == "done"
    assert probe.looks == [] and said == []


def test_a_slow_result_is_looked_after_every_five_seconds_and_told_of_less_and_less_often() -> None:
    wait, probe, clock, said = waiter([Health.OK])
    start_s = clock.now_s
    assert wait(ready_in(clock, 21.0), "forward") == "done"
    assert [look - start_s for look in probe.looks] == [10.0, 15.0, 20.0]
    assert said == ["forward: waiting since 10 s", "forward: waiting since 20 s"]
    wait, probe, clock, said = waiter([Health.OK])
    assert wait(ready_in(clock, 262.0), "forward") == "done"
    assert said == [f"forward: waiting since {seconds} s" for seconds in (10, 20, 40, 80, 140, 200, 260)]


def test_the_deadline_ends_the_wait_and_names_the_stage() -> None:
    wait, _, clock, _ = waiter([Health.OK], deadline_s=12.0)
    start_s = clock.now_s
    with pytest.raises(ServerGoneError, match=r"optim_step: no answer from http://server:8000 within 12 s\.\n.*--deadline-s"):
        wait(ready_in(clock, 1e9), "optim_step")
    assert clock.now_s - start_s == pytest.approx(12.0)


def failing_wire(seconds: float) -> Any:
    return SimpleNamespace(last_failure="POST /api/v1/retrieve_future answered 500", failing_s=lambda: seconds)


def test_a_server_that_answers_with_errors_alone_is_not_asked_until_the_deadline() -> None:
    wait, _, clock, _ = waiter([Health.OK])
    start_s = clock.now_s
    says = r"sampling: .* fails every request since 61 s: POST /api/v1/retrieve_future answered 500\."
    with pytest.raises(BenchError, match=says):
        replace(wait, wire=failing_wire(61.0))(ready_in(clock, 1e9), "sampling")
    assert clock.now_s - start_s == pytest.approx(10.0)
    assert replace(wait, wire=failing_wire(59.0))(ready_in(clock, 20.0), "sampling") == "done"


def test_the_deadline_names_the_request_that_failed_at_last() -> None:
    wait, _, clock, _ = waiter([Health.OK], deadline_s=12.0)
    told = replace(wait, wire=failing_wire(0.0))
    with pytest.raises(ServerGoneError, match=r"within 12 s; POST /api/v1/retrieve_future answered 500 at last\."):
        told(ready_in(clock, 1e9), "forward")


def test_a_deadline_of_its_own_goes_before_the_waiters() -> None:
    wait, _, clock, _ = waiter([Health.OK])
    with pytest.raises(ServerGoneError, match="within 3 s"):
        wait(ready_in(clock, 1e9), "forward", deadline_s=3.0)


def test_a_server_that_dies_ends_the_wait_at_the_second_failed_look() -> None:
    wait, _, clock, _ = waiter([Health.OK, Health.REFUSED])
    start_s = clock.now_s
    with pytest.raises(ServerGoneError, match=r"forward: .*//server:8000 stopped answering \(connection refused\) after 20 s"):
        wait(ready_in(clock, 1e9), "forward")
    assert clock.now_s - start_s == pytest.approx(20.0)


@pytest.mark.parametrize(("found", "patience_s"), [(Health.UNKNOWN_HOST, 60.0), (Health.NOT_TINKER, 60.0), (Health.SILENT, 180.0)], ids=str)
def test_a_server_that_cannot_be_reached_is_given_time_to_come_back(found: Health, patience_s: float) -> None:
    back = int(patience_s / 5) - 1
    wait, _, clock, said = waiter([found] * back + [Health.OK])
    assert wait(ready_in(clock, 400.0), "forward") == "done"
    assert said[0] == f"forward: the server does not answer ({found.value}); waiting for it {patience_s:.0f} s more at most"
    wait, _, clock, _ = waiter([Health.OK, found])
    start_s = clock.now_s
    with pytest.raises(ServerGoneError, match=f"stopped answering \\({found.value}\\)"):
        wait(ready_in(clock, 1e9), "forward")
    # The first look, at 10 s, was fine, the next one not.
    assert clock.now_s - start_s == pytest.approx(15.0 + patience_s)


def test_a_server_that_stays_away_is_told_of_at_once_then_less_and_less_often() -> None:
    wait, _, clock, said = waiter([Health.SILENT] * 21 + [Health.OK])
    assert wait(ready_in(clock, 125.0), "forward") == "done"
    away = [text for text in said if "does not answer" in text]
    # Looks are 5 s apart, from when it was first seen to be away.
    assert away[:6] == [
        f"forward: the server does not answer ({Health.SILENT.value}); waiting for it {180 - seconds} s more at most"
        for seconds in (0, 5, 10, 20, 40, 80)
    ]
    assert len(away) == 6


def test_a_server_that_looks_otherwise_than_before_is_told_of_at_once() -> None:
    wait, _, clock, said = waiter([Health.SILENT] * 3 + [Health.UNKNOWN_HOST, Health.OK])
    assert wait(ready_in(clock, 31.0), "forward") == "done"
    assert [text.partition("waiting for it ")[2] for text in said[:4]] == [f"{left} s more at most" for left in (180, 175, 170, 45)]


def test_a_silence_longer_than_the_deadline_ends_at_the_deadline() -> None:
    wait, _, clock, _ = waiter([Health.SILENT], deadline_s=40.0)
    start_s = clock.now_s
    with pytest.raises(ServerGoneError, match=r"no answer from .* within 40 s"):
        wait(ready_in(clock, 1e9), "forward")
    assert clock.now_s - start_s == pytest.approx(40.0)


def test_one_failed_look_is_no_death() -> None:
    wait, _, clock, _ = waiter([Health.SILENT, Health.OK, Health.SILENT, Health.OK])
    assert wait(ready_in(clock, 28.0), "forward") == "done"


def test_an_error_of_the_sdk_is_explained_with_its_stage() -> None:
    wait, _, clock, _ = waiter([Health.OK])
    with pytest.raises(BenchError, match="forward: the server at http://server:8000 failed: out of memory") as raised:
        wait(ready_in(clock, 1.0, tinker.TinkerError("out of memory")), "forward")
    assert isinstance(raised.value.__cause__, tinker.TinkerError)
    assert raised.value.exit_code == 1


def test_an_error_of_our_own_passes_as_it_is() -> None:
    wait, _, clock, _ = waiter([Health.OK])
    ours = UnsupportedError("no such loss")
    with pytest.raises(UnsupportedError) as raised:
        wait(ready_in(clock, 1.0, ours), "forward")
    assert raised.value is ours


def test_an_interrupt_in_the_wait_is_not_swallowed() -> None:
    wait, _, clock, _ = waiter([Health.OK])
    with pytest.raises(KeyboardInterrupt):
        wait(ready_in(clock, 1.0, KeyboardInterrupt()), "forward")


def test_a_call_that_failed_with_a_timeout_of_its_own_is_a_failure_and_not_asked_again() -> None:
    wait, probe, _, _ = waiter([Health.OK])
    failed: Future[None] = Future()
    failed.set_exception(TimeoutError("read timed out"))
    with pytest.raises(BenchError, match="creating the model: the server at http://server:8000 failed: read timed out"):
        wait(failed, "creating the model")
    assert probe.looks == []


def test_a_call_in_a_thread_gives_its_result_or_its_error() -> None:
    assert in_thread(lambda: threading.current_thread().daemon).result(timeout=5.0) is True

    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        in_thread(fail).result(timeout=5.0)


# --- until healthy ---------------------------------------------------------------------------------------------------------------------


def healthy_after(script: list[Health], deadline_s: float = 60.0, look_s: float = 0.0) -> tuple[FakeTime, list[str]]:
    clock, said = FakeTime(), list[str]()
    probe = ScriptedProbe(script, clock, look_s)
    until_healthy(probe, deadline_s, said.append, clock.clock())  # type: ignore[arg-type]
    return clock, said


def test_a_healthy_server_is_not_waited_for() -> None:
    clock, said = healthy_after([Health.OK])
    assert clock.pauses == [] and said == []


def test_a_server_that_comes_up_is_waited_for_and_told_of_by_the_same_rule_as_a_result() -> None:
    clock, said = healthy_after([Health.REFUSED] * 500 + [Health.OK], deadline_s=1800.0)
    # 500 looks half a second apart: 250 s.
    assert clock.now_s == pytest.approx(1250.0)
    assert said == [
        f"waiting for http://server:8000 since {seconds} s, for 1800 s at most: connection refused"
        for seconds in (5, 10, 20, 40, 80, 140, 200)
    ]


def test_a_container_whose_name_is_not_known_yet_is_waited_for() -> None:
    healthy_after([Health.UNKNOWN_HOST] * 3 + [Health.REFUSED, Health.NOT_TINKER, Health.OK])


def test_a_container_whose_name_is_gone_again_has_died_and_ends_the_wait_at_once() -> None:
    with pytest.raises(ServerGoneError, match=r"died while starting \(no host of that name\)"):
        healthy_after([Health.UNKNOWN_HOST, Health.REFUSED, Health.UNKNOWN_HOST], deadline_s=1e9)


@pytest.mark.parametrize("health", [Health.REFUSED, Health.UNKNOWN_HOST, Health.SILENT, Health.NOT_TINKER])
def test_the_deadline_says_what_was_seen_last_and_what_to_do(health: Health) -> None:
    with pytest.raises(ServerGoneError) as raised:
        healthy_after([health], deadline_s=30.0)
    lines = str(raised.value).split("\n")
    assert lines[0] == f"no server at http://server:8000 within 30 s: {health.value}."
    assert "--base-url" in lines[1] and len(lines) == 2


def test_slow_looks_count_against_the_deadline() -> None:
    clock = FakeTime()
    with pytest.raises(ServerGoneError):
        until_healthy(ScriptedProbe([Health.SILENT], clock, look_s=5.0), 12.0, lambda text: None, clock.clock())  # type: ignore[arg-type]
    assert clock.now_s - 1000.0 < 12.0 + 5.5


def test_tenacity_is_what_waits_and_its_own_errors_stay_inside() -> None:
    with pytest.raises(ServerGoneError) as raised:
        healthy_after([Health.REFUSED], deadline_s=1.0)
    assert not isinstance(raised.value.__cause__, tenacity.RetryError)
    assert raised.value.__suppress_context__


def test_a_real_server_that_is_html_first_and_healthy_later_is_waited_for() -> None:
    answers = {"/api/v1/healthz": (200, "text/html", b"<html></html>")}
    with http_server(answers) as url:
        threading.Timer(0.1, lambda: answers.update(HEALTHY)).start()
        start_s = time.monotonic()
        until_healthy(Probe(url), 10.0, lambda text: None)
        assert time.monotonic() - start_s < 5.0


def test_a_real_server_that_dies_ends_the_wait_for_a_result() -> None:
    clock = FakeTime()
    with http_server({"/api/v1/healthz": json_answer("{}", status=500)}) as url:
        wait = ResultWaiter(Probe(url), 600.0, lambda text: None, clock.clock())
        with pytest.raises(ServerGoneError, match="stopped answering"):
            wait(ready_in(clock, 1e9), "forward")
