"""A row from a result file, and which one is best."""

from typing import Any

import pytest

from bench.sweep.plan import PlannedRow
from bench.sweep.rows import best_of, row_of
from tests.bench.sweep.endings import GIB, failed, measured

PLANNED = PlannedRow("a", {"x": 1}, None)


def test_a_row_has_the_medians_the_saving_and_the_most_memory_that_one_gpu_had() -> None:
    row = row_of(PLANNED, measured([1.0, 3.0, 1.5], [2.0, 4.0, 2.5], 7.0, "H"), "ok", None, "sweep/runs/r.json", sampled=False)
    assert (row["label"], row["backend_config"], row["status"], row["result_file"]) == ("a", {"x": 1}, "ok", "sweep/runs/r.json")
    assert (row["native_1pass_s"], row["native_times"]) == (1.5, [1.0, 3.0, 1.5])
    assert (row["custom_2pass_s"], row["custom_2pass_times"]) == (2.5, [2.0, 4.0, 2.5])
    assert (row["saving_pct"], row["tokens_per_s"], row["ready_s"]) == (25.0, 100.0, 20.0)
    assert row["peak_memory_bytes"] == 7 * GIB
    assert row["timeline_mean_s"] is None


def test_the_timeline_is_taken_over_where_the_result_has_one() -> None:
    ending = measured([1.0], [2.0])
    assert ending.document is not None
    ending.document["native_1pass"]["timeline_mean_s"] = {"encode": 0.25, "unexplained": 0.75}
    ending.document["custom_2pass"]["timeline_mean_s"] = None
    assert row_of(PLANNED, ending, "ok", None, None, False)["timeline_mean_s"] == {"native_1pass": {"encode": 0.25, "unexplained": 0.75}}


def test_a_row_that_failed_keeps_its_memory_and_has_no_times() -> None:
    row = row_of(PLANNED, failed(told={"gpus": [{"peak_bytes": 5}, {"peak_bytes": 9}]}), "out_of_memory", "why", None, sampled=True)
    assert (row["native_1pass_s"], row["native_times"], row["custom_2pass_s"], row["saving_pct"]) == (None, [], None, None)
    assert (row["peak_memory_bytes"], row["reason"], row["sampled"]) == (9, "why", True)


def rows(*entries: tuple[str, float | None, float | None]) -> list[dict[str, Any]]:
    return [
        {"label": str(index), "status": status, "native_1pass_s": time_s, "peak_memory_bytes": None if gib is None else int(gib * GIB)}
        for index, (status, time_s, gib) in enumerate(entries)
    ]


@pytest.mark.parametrize(("limit_gib", "best"), [(None, "2"), (40.0, "2"), (39.0, "1"), (3.0, None)])
def test_the_best_is_the_fastest_within_the_limit(limit_gib: float | None, best: str | None) -> None:
    found = best_of(rows(("ok", 7.7, 6.0), ("ok", 0.9, 18.0), ("ok", 0.5, 40.0), ("crashed", 0.1, 1.0)), limit_gib)
    assert (found and found["label"]) == best


def test_with_a_limit_a_row_of_unknown_memory_is_out() -> None:
    assert best_of(rows(("ok", 1.0, None)), 10.0) is None
    assert best_of(rows(("ok", 1.0, None)), None) is not None
