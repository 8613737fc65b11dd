"""What a row came to, from how its client and server ended and what they wrote."""

from typing import Any

import pytest

from bench.errors import UnsupportedError
from bench.fault import LONGEST
from bench.sweep.outcome import LONGEST_REASON, client_words, outcome
from tests.bench.sweep.endings import failed, measured

TORCH = "(FSDPPolicyWorkerBase pid=7) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.27 GiB. GPU 0 has 22 GiB"
JAX = "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 9999 bytes."
FAILED = "[  9.0 s] step: fused 1.0 s\nbench: native_1pass: the server at http://h:1 failed: {}\n"


def test_a_complete_result_is_ok_whatever_the_logs_say() -> None:
    assert outcome(measured([1.0], server_text=TORCH), 60) == ("ok", None)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"client_text": FAILED.format(f"RayTaskError: {TORCH}")}, "CUDA out of memory. Tried to allocate 2.27 GiB"),
        ({"server_text": f"loading\n{TORCH}\nINFO: shutting down\n", "server_code": 1}, "CUDA out of memory"),
        ({"server_text": f"{JAX}\n", "out_of_time": True}, "RESOURCE_EXHAUSTED"),
        ({"server_text": "terminate called after throwing an instance of 'std::bad_alloc'", "server_code": 134}, "std::bad_alloc"),
    ],
)
def test_memory_that_ran_out_is_known_by_the_words_of_whom_it_happened_to(changed: dict[str, Any], reason: str) -> None:
    status, told = outcome(failed(**changed), 60)
    assert status == "out_of_memory"
    assert told is not None and reason in told


@pytest.mark.parametrize(
    "advice", ["lower it if you run out of memory", "INFO: to avoid out of memory errors, set X", "memory: 3 GiB out of 22"]
)
def test_advice_about_memory_is_no_memory_that_ran_out(advice: str) -> None:
    assert outcome(failed(server_text=advice, server_code=1), 60)[0] == "crashed"


def test_settings_that_the_server_refuses_come_with_its_words() -> None:
    text = "loading\nerror: the jax backend has no setting x.\nIts settings are the fields of C.\n"
    assert outcome(failed(server_code=2, server_text=text, client_code=3), 60) == (
        "refused",
        "the jax backend has no setting x. Its settings are the fields of C.",
    )


def test_a_server_that_ended_crashed_with_its_last_error() -> None:
    text = "ValueError: first\nTraceback:\n  line\n\x1b[31mKeyError\x1b[0m: 'lora'\nINFO stopped\nerror: the engine ended.\n"
    assert outcome(failed(server_code=1, server_text=text, client_code=3), 60) == (
        "crashed",
        "the server ended with exit code 1: KeyError: 'lora'",
    )


def test_a_server_that_said_no_error_crashed_with_its_last_line_and_one_that_said_nothing_too() -> None:
    assert outcome(failed(server_code=1, server_text="one\ntwo\n\n"), 60)[1] == "the server ended with exit code 1: two"
    assert outcome(failed(server_code=1), 60)[1] == "the server ended with exit code 1: it said nothing"


@pytest.mark.parametrize(("code", "text"), [(137, "work"), (1, "error: the engine ended with exit code -9.")])
def test_a_server_that_was_killed_says_what_usually_does_that(code: int, text: str) -> None:
    status, reason = outcome(failed(server_code=code, server_text=text), 60)
    assert status == "crashed"
    assert reason is not None and "(killed, as the system does when memory runs out)" in reason


def test_a_row_beyond_its_deadline_timed_out_and_says_whether_it_was_ready() -> None:
    assert outcome(failed(out_of_time=True, ready_s=9.0), 60) == ("timed_out", "not done within 60 s")
    assert outcome(failed(out_of_time=True), 60) == ("timed_out", "not done within 60 s; the model never was ready")


def test_a_result_that_never_came_timed_out() -> None:
    text = "bench: native_1pass: no answer from http://h:1 within 60 s.\nLook at the server's log.\n"
    assert outcome(failed(client_code=3, client_text=text), 60)[0] == "timed_out"


def test_a_failed_request_crashed_with_the_clients_words() -> None:
    status, reason = outcome(failed(client_text=FAILED.format("boom")), 60)
    assert (status, reason) == ("crashed", "native_1pass: the server at http://h:1 failed: boom")


def test_a_clients_advice_is_no_part_of_a_reason() -> None:
    text = FAILED.format("AttributeError: no x") + "Its log has the rest.\n"
    assert outcome(failed(client_text=text), 60)[1] == "native_1pass: the server at http://h:1 failed: AttributeError: no x"


def test_a_client_that_did_not_end_or_said_nothing_crashed() -> None:
    assert outcome(failed(client_code=None), 60) == ("crashed", "the client did not end when it was asked to")
    assert outcome(failed(client_code=-11), 60) == ("crashed", "the client ended with exit code -11")


def test_what_no_setting_can_mend_ends_the_sweep() -> None:
    with pytest.raises(UnsupportedError, match=r"^the server's JAX backend has no loss 'gspo'$"):
        outcome(failed(client_code=4, client_text="bench: the server's JAX backend has no loss 'gspo'\n"), 60)


def test_a_reason_is_one_line_of_bounded_length() -> None:
    _, reason = outcome(failed(client_text=f"bench: a\tb{'x' * 10_000}\nwhat to do"), 60)
    assert reason is not None and len(reason) == LONGEST_REASON and reason.startswith("a bxx") and reason.endswith("xx")


def test_the_end_of_a_long_reason_is_kept_for_what_does_not_fit_is_said_there() -> None:
    sizes = "array axis 0 is partitioned 3 times, but the dimension size is 128. It should evenly divide the shape."
    _, reason = outcome(failed(server_code=1, server_text=f"ValueError: One of jit outputs {'x' * 600}: {sizes}\n"), 60)
    assert reason is not None and len(reason) == LONGEST + len("the server ended with exit code 1: ")
    assert reason.startswith("the server ended with exit code 1: ValueError: One of jit outputs x") and reason.endswith(sizes)


def test_a_clients_words_are_its_last_ones() -> None:
    assert client_words("bench: early\n[1.0 s] more\nbench: late\nwhat to do\nmore") == "late\nwhat to do"
    assert client_words("nothing of the kind") == ""
