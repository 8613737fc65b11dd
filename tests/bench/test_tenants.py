"""Other clients' models: what is said of them, and whether the client of one lives."""

import os
import socket
from typing import Any

import pytest

from bench import tenants
from bench.probe import Probe
from tests.bench.fakes import FakeTime, http_server, json_answer

OTHER = {"session_id": "session_3", "model_id": "model_7", "user_metadata": {"host": "vm-1"}, "last_heartbeat_at": "t0"}


def alive(monkeypatch: pytest.MonkeyPatch, looks: list[list[dict[str, Any]]]) -> tuple[list[dict[str, Any]], FakeTime, list[str]]:
    """What is found when each look sees the next of these, the last for ever."""
    seen, clock, said = iter(looks), FakeTime(), list[str]()
    latest: list[list[dict[str, Any]]] = [[]]

    def look(probe: Probe) -> list[dict[str, Any]]:
        latest[0] = next(seen, latest[0])
        return latest[0]

    monkeypatch.setattr(Probe, "tenants", look)
    probe = Probe("http://server:8000")
    return tenants.alive(probe, tenants.others(probe), clock.clock(), said.append), clock, said


def test_a_server_without_other_clients_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = OTHER | {"user_metadata": {"program": "gspo-bench", "host": socket.gethostname(), "pid": str(os.getpid())}}
    for found in ([], [ours]):
        others, clock, said = alive(monkeypatch, [found])
        assert others == [] and clock.pauses == [] and said == []


def test_a_heartbeat_that_moves_is_a_client_that_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    others, clock, said = alive(monkeypatch, [[OTHER], [OTHER], [OTHER | {"last_heartbeat_at": "t1"}]])
    assert [entry["session_id"] for entry in others] == ["session_3"]
    assert clock.pauses == [1.0, 1.0]
    assert said == [f"{tenants.describe_one(OTHER)} Looking whether its client lives, for 22 s at most."]


def test_a_session_that_began_meanwhile_is_a_client_that_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    others, _, _ = alive(monkeypatch, [[OTHER], [OTHER, OTHER | {"session_id": "session_4"}]])
    assert [entry["session_id"] for entry in others] == ["session_4"]


def test_the_session_of_a_killed_client_is_in_nobodys_way_after_two_heartbeats_time(monkeypatch: pytest.MonkeyPatch) -> None:
    others, clock, _ = alive(monkeypatch, [[OTHER]])
    assert others == [] and sum(clock.pauses) == 22.0


def test_a_client_that_ends_meanwhile_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    others, clock, _ = alive(monkeypatch, [[OTHER], []])
    assert others == [] and clock.pauses == [1.0]


def test_company_is_who_came_after_the_run_had_begun_each_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = [[OTHER], [OTHER, OTHER | {"session_id": "session_4"}], [], [OTHER | {"session_id": f"session_{n}"} for n in range(4, 9)]]
    monkeypatch.setattr(Probe, "tenants", lambda probe: looks.pop(0))
    company = tenants.Company(Probe("http://server:8000"), frozenset({"session_3"}))
    company.look()
    assert company.words() is None
    company.look()
    company.look()
    alone = "steps were timed while others held a model on the server: session session_4 (a client on vm-1, pid ?)"
    assert company.words() == alone
    company.look()
    others = "".join(f", session session_{n} (a client on vm-1, pid ?)" for n in (5, 6))
    assert company.words() == f"{alone}{others} and 2 more"


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        "<html>",
        "[3]",
        '[{"user_metadata": null}]',
        '[{"user_metadata": 3, "expires_in_s": "x"}]',
        '[{"expires_in_s": 1' + "0" * 400 + "}]",
    ],
)
def test_odd_tenants_still_say_that_the_server_is_taken(text: str) -> None:
    with http_server({"/gspo-bench/tenants": json_answer(text)}) as url:
        words = tenants.describe(Probe(url))
    assert words.startswith("the server") and words.endswith(".")


@pytest.mark.parametrize(
    ("expires", "when"),
    [
        (212.4, "freed in 212 s if it stays silent"),
        (0.6, "silent for longer than its timeout: freed when the server has done the request in hand"),
        (0.0, "silent for longer than its timeout: freed when the server has done the request in hand"),
        (None, "freed when that session ends"),
    ],
)
def test_no_model_is_promised_to_be_freed_at_once(expires: float | None, when: str) -> None:
    assert tenants.describe_one(OTHER | {"expires_in_s": expires}).endswith(f"holds model model_7, {when}.")


@pytest.mark.parametrize(("expires", "within_s"), [(212.4, 212.4), (None, 400.0), ("x", 400.0), (-3, 400.0), (10**400, 400.0)])
def test_how_long_a_silent_session_lasts_is_what_the_server_tells_or_a_guess(
    expires: Any, within_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Probe, "tenants", lambda probe: [OTHER | {"expires_in_s": expires}])
    assert tenants.freed_within_s(Probe("http://server:8000")) == within_s
