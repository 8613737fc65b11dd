"""Which rows a sweep's steps do not tell apart from its best."""

import statistics
from typing import Any

import pytest

from bench.sweep.best import not_told_apart
from bench.sweep.rows import best_of

GIB = 2**30


def row(label: str, times: list[float], gib: float | None = None, status: str = "ok") -> dict[str, Any]:
    return {
        "label": label,
        "status": status,
        "native_1pass_s": statistics.median(times) if times else None,
        "native_times": times,
        "peak_memory_bytes": None if gib is None else int(gib * GIB),
    }


def near(rows: list[dict[str, Any]], limit_gib: float | None = None) -> list[str]:
    best = best_of(rows, limit_gib)
    assert best is not None
    return not_told_apart(rows, best, limit_gib)


BEST = row("best", [0.50, 0.46, 0.48, 0.62], 30.0)


def test_a_row_is_told_apart_only_where_each_of_its_steps_is_slower_than_each_of_the_bests() -> None:
    assert near([row("one fast step", [0.80, 0.61, 0.80, 0.80]), BEST, row("apart", [0.63, 0.70, 0.66, 0.64])]) == ["one fast step"]


def test_a_step_as_long_as_the_bests_slowest_does_not_tell_apart() -> None:
    assert near([BEST, row("as long", [0.62, 0.9])]) == ["as long"]


def test_the_fastest_of_them_comes_first_and_the_best_is_none_of_them() -> None:
    assert near([row("c", [0.58, 0.60]), row("b", [0.45, 0.55, 0.60]), BEST]) == ["b", "c"]


def test_rows_of_two_steps_are_compared_like_those_of_four() -> None:
    assert near([row("apart", [7.3, 6.8]), BEST, row("near", [0.62, 7.0])]) == ["near"]


@pytest.mark.parametrize(("limit_gib", "labels"), [(None, ["unknown", "large", "small"]), (40.0, ["small"])])
def test_a_row_that_does_not_fit_or_did_not_go_well_is_not_named(limit_gib: float | None, labels: list[str]) -> None:
    others = [row("large", [0.52], 41.0), row("small", [0.53], 5.0), row("unknown", [0.51]), row("lost", [0.5], 5.0, "crashed")]
    assert near([BEST, *others, row("none", [], 5.0, "refused")], limit_gib) == labels


def test_a_row_whose_file_has_no_steps_is_not_named() -> None:
    without = row("old", [0.5]) | {"native_times": []}
    assert near([BEST, without]) == []
    assert not_told_apart([BEST, without], without, None) == []
