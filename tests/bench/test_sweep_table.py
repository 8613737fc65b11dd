"""The table of a sweep's file."""

import io
from typing import Any

import pytest
from rich.console import Console

from bench.errors import InputError
from bench.sweep_table import is_sweep, print_sweep
from tests.bench.documents import SCHEMA1

GIB = 2**30
ROW: dict[str, Any] = {
    "label": "stock",
    "backend_config": {},
    "status": "ok",
    "reason": None,
    "sampled": True,
    "ready_s": 55.4,
    "native_1pass_s": 7.7,
    "custom_2pass_s": 9.9,
    "saving_pct": 21.5,
    "tokens_per_s": 983.4,
    "peak_memory_bytes": 7 * GIB,
}
BEST = ROW | {"label": "micro-16", "native_1pass_s": 0.5131, "custom_2pass_s": None, "saving_pct": None, "sampled": False}
FAILED = {"label": "micro-[32]", "status": "out_of_memory", "reason": "CUDA out of memory [really]", "native_1pass_s": None}
DOCUMENT: dict[str, Any] = {
    "kind": "gspo-bench-sweep",
    "status": "partial",
    "reason": "the time budget of 570 s is spent",
    "model": "Qwen/m",
    "gpu": "NVIDIA H200",
    "batch": {"sha256": "x", "sequences": 16, "target_tokens": 7569},
    "rows": [ROW, BEST, FAILED],
    "best": {"label": "micro-16", "native_1pass_s": 0.5131, "speedup_vs_first": 15.02},
}


def printed(document: dict[str, Any], reasons: bool = True) -> list[str]:
    out = io.StringIO()
    print_sweep(document, "s.json", Console(file=out, width=110, highlight=False), reasons)
    return out.getvalue().splitlines()


def test_the_table_has_a_row_a_setting_and_marks_the_best() -> None:
    lines = printed(DOCUMENT)
    assert lines[0].rstrip() == "PARTIAL Server settings for Qwen/m: NVIDIA H200, 16 sequences, 7,569 target tokens a step"
    cells = {line.split("│")[1].strip(): [cell.strip() for cell in line.split("│")[2:-1]] for line in lines if line.startswith("│")}
    assert cells["stock"] == ["7.700 s", "9.900 s", "21.5 %", "983.0", "7.0 GiB*", "55", ""]
    assert cells["micro-16"] == ["0.513 s", "", "", "14,752", "7.0 GiB", "55", "best"]
    assert cells["micro-[32]"] == ["", "", "", "", "", "", "out of memory"]


def test_reasons_that_were_told_before_are_left_out() -> None:
    assert printed(DOCUMENT, reasons=False) == [line for line in printed(DOCUMENT) if not line.startswith("micro-[32]: ")]


def test_reasons_notes_and_the_best_follow() -> None:
    assert printed(DOCUMENT)[-4:] == [
        "micro-[32]: CUDA out of memory [really]",
        "* sampled the batch too, so its memory holds the sampler's.",
        "Partial: the time budget of 570 s is spent",
        "Best: micro-16, 0.513 s a fused step, 15.0 times as fast as stock.",
    ]


def test_a_sweep_without_a_best_or_a_batch_has_neither_line() -> None:
    text = "\n".join(printed({"kind": "gspo-bench-sweep", "rows": [FAILED], "best": None, "batch": None}))
    assert "Best" not in text and "sequences" not in text and "None" not in text


def test_a_small_gain_is_told_with_two_digits() -> None:
    best = DOCUMENT["best"] | {"speedup_vs_first": 1.034}
    assert printed(DOCUMENT | {"best": best})[-1].endswith("0.513 s a fused step, 1.03 times as fast as stock.")


def test_what_is_not_told_apart_from_the_best_is_named() -> None:
    best = DOCUMENT["best"] | {"not_told_apart": ["micro-8", "tokens-[8192]"]}
    told = "15.0 times as fast as stock. Not told apart from it (step times overlap): micro-8, tokens-[8192]."
    assert printed(DOCUMENT | {"best": best})[-1] == f"Best: micro-16, 0.513 s a fused step, {told}"
    assert printed(DOCUMENT | {"best": best | {"not_told_apart": []}})[-1].endswith("15.0 times as fast as stock.")


@pytest.mark.parametrize(
    "changed",
    [
        {"rows": [ROW | {"native_1pass_s": "fast"}]},
        {"rows": 3},
        {"best": []},
        {"best": {"not_told_apart": [1]}},
        {"batch": {"sequences": -1}},
    ],
)
def test_a_value_of_another_type_is_named(changed: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"s\.json: "):
        printed(DOCUMENT | changed)


def test_only_a_sweeps_file_is_one() -> None:
    assert is_sweep(DOCUMENT)
    assert not is_sweep(SCHEMA1) and not is_sweep([]) and not is_sweep(None)


@pytest.mark.parametrize("changed", [{"native_1pass_s": -1.0}, {"custom_2pass_s": 0.0}, {"native_1pass_s": 1e10}])
def test_a_step_that_no_server_takes_is_named(changed: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"rows\[0\]\.\w+_s is .*, not a number from 1e-09 to 1e\+09"):
        printed(DOCUMENT | {"rows": [ROW | changed]})


def test_where_the_first_setting_is_not_told_apart_from_the_best_no_gain_is_claimed() -> None:
    document = DOCUMENT | {"best": DOCUMENT["best"] | {"not_told_apart": ["stock"]}, "reason": None}
    told = "Not told apart from it (step times overlap): stock."
    claim = "Even the fastest setting, micro-16, is not told apart from stock by"
    assert printed(document)[-1] == f"{claim} the steps taken. Its median: 0.513 s a fused step. {told}"
    rows = [ROW | {"native_times": [7.7] * 4}, BEST | {"native_times": [0.5131]}]
    assert printed(document | {"rows": rows})[-1].startswith(f"{claim} 1 step of each.")
