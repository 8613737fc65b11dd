"""Result files with phases, at the edges of what can be drawn; the numbers of the first are easy to work out by hand."""

import copy
from typing import Any

from tests.plots.cases import PATHS, long_words, only, scaled, stored

# A step of exactly 0.5 s and one of 0.75 s, in binary fractions where that is possible.
TIMELINES = {
    "native_1pass": {
        "encode": 0.004,
        "submit": 0.006,
        "queued": 0.01,
        "engine_forward_backward": 0.4,
        "engine_optim_step": 0.05,
        "fetch": 0.02,
        "decode": 0.002,
        "unexplained": 0.008,
    },
    "custom_2pass": {
        "encode": 0.006,
        "submit": 0.012,
        "queued": 0.02,
        "engine_forward": 0.17,
        "engine_forward_backward": 0.4,
        "engine_optim_step": 0.05,
        "fetch": 0.06,
        "decode": 0.012,
        "weights": 0.008,
        "unexplained": 0.012,
    },
}
ROOFLINE = {
    "device": "NVIDIA H200",
    "peak_tflops": 989.5,
    "peak_source": "NVIDIA's data sheet, dense bf16",
    "gradient_checkpointing": False,
    "parameters": 751_632_384,
    "forward_flops": 1e13,
    "paths": {"native_1pass": {"flops": 5e13, "floor_s": 0.05}, "custom_2pass": {"flops": 7.5e13, "floor_s": 0.075}},
    "saving_bound_pct": 33.333333,
}


def timed_by_both() -> dict[str, Any]:
    document = only("native_1pass", "custom_2pass")
    for name, mean_s, floor_s in (("native_1pass", 0.5, 0.05), ("custom_2pass", 0.75, 0.075)):
        document[name] |= {
            "mean_s": mean_s,
            "median_s": mean_s,
            "timeline_mean_s": copy.deepcopy(TIMELINES[name]),
            "wire_mean": {"requests": 4.0, "up_bytes": 143_000.0, "down_bytes": 5200.0, "round_trips": 1.0},
            "utilisation": {"flops": 5e13, "mfu_pct": 10.0, "floor_s": floor_s},
        }
    return document | {"roofline": copy.deepcopy(ROOFLINE), "clock": {"offset_s": 0.0002, "uncertainty_s": 0.0004}}


def stretched(factor: float, *names: str) -> dict[str, Any]:
    document = timed_by_both()
    for name in names:
        path = document[name]
        path["mean_s"] *= factor
        path["median_s"] *= factor
        path["timeline_mean_s"] = {phase: seconds * factor for phase, seconds in path["timeline_mean_s"].items()}
        path["utilisation"]["floor_s"] *= factor
    return document


def four_paths() -> dict[str, Any]:
    document = scaled(1.0)
    made = timed_by_both()
    for name in PATHS:
        document[name]["mean_s"] = made.get(name, made["custom_2pass"])["mean_s"]
        document[name]["timeline_mean_s"] = made.get(name, made["custom_2pass"])["timeline_mean_s"]
    return document


def one_phase() -> dict[str, Any]:
    document = only("native_1pass")
    document["native_1pass"] |= {"mean_s": 1.0, "timeline_mean_s": {"engine_forward_backward": 1.0}}
    return document


def even_phases() -> dict[str, Any]:
    """Ten phases of nothing but the same length, and long names of a server that we do not know."""
    document = only("native_1pass")
    phases = {f"a_phase_with_a_long_name_{number}": 0.1 for number in range(20)}
    document["native_1pass"] |= {"mean_s": 2.0, "timeline_mean_s": phases}
    return document


def overlapping() -> dict[str, Any]:
    document = timed_by_both()
    document["native_1pass"]["timeline_mean_s"]["fetch"] = 0.12  # 0.1 s more than the step has
    return document


def some_null() -> dict[str, Any]:
    document = timed_by_both()
    document["custom_2pass"] |= {"timeline_mean_s": None, "utilisation": None, "wire_mean": None}
    return document | {"roofline": None, "clock": None}


def no_server_times() -> dict[str, Any]:
    return only("native_1pass", "custom_2pass")


def long_words_and_phases() -> dict[str, Any]:
    document = long_words()
    document["roofline"] = ROOFLINE | {"device": "GPU " * 100, "peak_source": "source " * 100}
    return document


BREAKDOWN_CASES: dict[str, dict[str, Any]] = {
    "by both clocks": timed_by_both(),
    "a path 1000 times slower": stretched(1000.0, "custom_2pass"),
    "microseconds": stretched(1e-5, "native_1pass", "custom_2pass"),
    "four paths": four_paths(),
    "one phase": one_phase(),
    "even phases": even_phases(),
    "overlapping": overlapping(),
    "some null": some_null(),
    "by the client's clock": no_server_times(),
    "all by the client's clock": stored("schema1"),
    "long words": long_words_and_phases(),
}
