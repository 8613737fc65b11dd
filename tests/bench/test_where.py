"""Where a step goes, in words, from numbers by hand."""

from typing import Any

from bench import result_file, where

TIMELINE = {
    "encode": 0.01,
    "submit": 0.04,
    "queued": 0.10,
    "engine_forward_backward": 1.50,
    "engine_optim_step": 0.25,
    "fetch": 0.06,
    "unexplained": 0.04,
}
NATIVE: dict[str, Any] = {"mean_s": 2.0, "times": [2.0], "timeline_mean_s": TIMELINE}


def said(document: dict[str, Any]) -> list[str]:
    return where.lines(result_file.of_document(document, "by hand"))


def test_a_steps_phases_are_shares_that_sum_to_it() -> None:
    # Of 2 s: 1.75 engine, 0.1 queued, 0.1 wire, 0.01 client, 0.04 that nobody accounts for.
    assert said({"native_1pass": NATIVE}) == [
        "Where the fused step goes: 87.5 % the server's engine, 5.0 % queued, 5.0 % on the wire and waiting to be fetched, "
        "0.5 % the client without its hand-over, 2.0 % unexplained."
    ]


def test_the_arithmetic_is_set_beside_the_step() -> None:
    native = NATIVE | {"timeline_mean_s": None, "utilisation": {"floor_s": 0.0401, "mfu_pct": 2.0}}
    assert said({"native_1pass": native, "roofline": {"saving_bound_pct": 25.96}}) == [
        "The fused step's arithmetic alone would take 40.10 ms (2.0 % of the device's peak is used). "
        "If arithmetic were all, the saving would be 26.0 %."
    ]


def test_a_device_of_unknown_rate_still_has_the_saving_that_arithmetic_allows() -> None:
    native = NATIVE | {"timeline_mean_s": None, "utilisation": {"floor_s": None, "mfu_pct": None}}
    assert said({"native_1pass": native, "roofline": {"saving_bound_pct": 28.84}}) == [
        "If arithmetic were all, the saving would be 28.8 %; this device's rate is not known (--peak-tflops)."
    ]


def test_an_older_file_says_nothing_of_it() -> None:
    assert said({"native_1pass": {"mean_s": 2.0, "times": [2.0]}}) == []
