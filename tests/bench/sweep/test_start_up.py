"""Which failures are one reason that no setting explains."""

from typing import Any

import pytest

from bench.sweep.start_up import alike, failed_starting
from tests.bench.sweep.endings import failed

LIBNUMA = "creating the model: the server at http://server:8000 failed: AttributeError: undefined symbol: numa_parse_nodestring"


def row(config: dict[str, Any], reason: str | None = LIBNUMA, status: str = "crashed", **more: Any) -> dict[str, Any]:
    return {
        "backend_config": config,
        "reason": reason,
        "status": status,
        "native_times": [],
        "custom_2pass_times": [],
        "ready_s": None,
    } | more


@pytest.mark.parametrize(
    ("changed", "fails"),
    [
        ({}, True),
        ({"ready_s": 40.0}, True),  # it crashed in sampling, or in the first step
        ({"native_times": [1.0]}, False),
        ({"status": "timed_out"}, True),
        ({"status": "timed_out", "ready_s": 40.0}, False),  # its setting may be slow
        ({"status": "out_of_memory"}, False),
        ({"status": "refused"}, False),
        ({"status": "ok"}, False),
    ],
)
def test_a_failure_at_start_up_is_before_the_first_timed_step_and_none_that_a_setting_asks_for(
    changed: dict[str, Any], fails: bool
) -> None:
    assert failed_starting(row({}, **changed), failed()) is fails


def test_a_server_that_the_system_killed_may_have_run_out_of_memory() -> None:
    assert not failed_starting(row({}), failed(server_code=137))
    assert not failed_starting(row({}), failed(server_code=1, server_text="error: the engine ended with exit code -9."))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (LIBNUMA, LIBNUMA, True),
        ("RuntimeError: worker 4711 at 0x7f12ab (10.0.0.2:40123) ended", "RuntimeError: worker 99 at 0xdeadbeef (10.0.0.3:7) ended", True),
        ("ActorDiedError: actor c0ffee0123456789 died", "ActorDiedError: actor 0123456789abcdef died", True),
        ("ImportError: libGL.so.1: cannot open", "ImportError: libnuma.so.1: cannot open", False),
        ("KeyError: 'defaced'", "KeyError: 'effaced'", False),  # words, though of the letters of a number
    ],
)
def test_reasons_are_the_same_but_for_numbers_addresses_and_processes(first: str, second: str, same: bool) -> None:
    assert alike(row({"micro": 1}, first), row({"micro": 2}, second), []) is same


def test_one_setting_that_fails_twice_is_no_two() -> None:
    assert not alike(row({"micro": 1}), row({"micro": 1}), [])


GOOD = row({"micro": 1, "vllm": True}, None, "ok")


@pytest.mark.parametrize(
    ("first", "second", "explained"),
    [
        ({"micro": 2, "vllm": True, "flash": 1}, {"micro": 4, "vllm": True, "flash": 1}, True),  # what no good row has
        ({"micro": 2, "vllm": False}, {"micro": 4, "vllm": False}, True),  # another value than the good row's
        ({"micro": 2}, {"micro": 4}, True),  # neither has what the good row has
        ({"micro": 2, "vllm": True}, {"micro": 4, "vllm": True}, False),  # the machine's, since a good row has all that they share
    ],
)
def test_a_setting_that_the_failed_rows_share_and_no_good_one_has_explains_them(
    first: dict[str, Any], second: dict[str, Any], explained: bool
) -> None:
    assert alike(row(first), row(second), [GOOD, row(first), row(second)]) is not explained
