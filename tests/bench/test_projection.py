"""A step on a slow wire, worked out by hand."""

import pytest

from bench.projection import PathUse, projected_s, projection


def test_a_step_takes_its_round_trips_and_its_bytes_longer() -> None:
    # 2 round trips of 80 ms; 12.5 MB are 100 Mbit: one second at 100 Mbit/s.
    assert projected_s(PathUse(3.0, 12_500_000, 2), 80, 100.0) == pytest.approx(3.0 + 0.16 + 1.0)


def test_the_rows_are_for_1_20_80_and_150_ms() -> None:
    found = projection({"native_1pass": PathUse(1.0, 0, 1), "custom_2pass": PathUse(2.0, 0, 2)})
    assert found is not None
    assert [row["rtt_ms"] for row in found["rows"]] == [1, 20, 80, 150]
    assert found["rows"][2]["saving_pct"] == pytest.approx(100 * (1 - 1.08 / 2.16))


def test_one_path_alone_is_not_projected() -> None:
    assert projection({"native_1pass": PathUse(1.0, 0, 1)}) is None
