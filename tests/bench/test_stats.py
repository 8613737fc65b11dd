"""Medians and savings by hand, and whether the interval keeps its promise on simulated runs."""

import itertools
import math
import statistics

import numpy as np
import pytest

from bench import stats
from tests.bench.fakes import paired, record


def test_the_saving_is_of_the_baselines_step_within_each_round() -> None:
    records = paired([4.0, 2.0, 10.0], [3.0, 1.0, 9.0])
    assert stats.savings_pct(records, "custom_2pass", "native_1pass") == pytest.approx([25.0, 50.0, 10.0])
    found = stats.saving(records, "custom_2pass", "native_1pass", seed=0)
    assert found is not None
    assert found.median_pct == pytest.approx(25.0)
    assert (found.ci_low_pct, found.ci_high_pct) == (None, None)
    assert found.pairs == found.faster_in == 3


def test_a_slower_candidate_has_a_negative_saving() -> None:
    found = stats.saving(paired([2.0, 2.0], [3.0, 2.0]), "custom_2pass", "native_1pass", seed=0)
    assert found is not None
    assert found.savings_pct == pytest.approx((-50.0, 0.0))
    assert found.median_pct == pytest.approx(-25.0)
    assert found.faster_in == 0


def test_rounds_with_one_of_the_two_only_are_no_pairs() -> None:
    records = paired([4.0, 4.0], [2.0, 3.0])
    records += [record("native_1pass", 2, 9.0), record("custom_2pass", 3, 9.0)]
    assert stats.savings_pct(records, "custom_2pass", "native_1pass") == pytest.approx([50.0, 25.0])


def test_warm_ups_are_no_pairs_and_no_times() -> None:
    records = [record("native_1pass", 0, 99.0, counted=False), record("custom_2pass", 0, 1.0, counted=False), *paired([4.0], [2.0])]
    assert stats.savings_pct(records, "custom_2pass", "native_1pass") == pytest.approx([50.0])
    assert stats.counted_times(records, "native_1pass") == [2.0]


def test_without_a_pair_there_is_no_saving() -> None:
    assert stats.saving([], "custom_2pass", "native_1pass", seed=0) is None
    assert stats.saving([record("native_1pass", 0, 1.0)], "custom_2pass", "native_1pass", seed=0) is None


def test_the_published_numbers_come_out_of_their_means() -> None:
    found = stats.saving(paired([16.771], [12.915]), "custom_2pass", "native_1pass", seed=0)
    assert found is not None
    assert found.median_pct == pytest.approx(23.0, abs=0.05)


def test_centre_and_spread_by_hand() -> None:
    times = stats.path_times([1.0, 2.0, 4.0, 9.0])
    assert (times.mean_s, times.median_s) == (4.0, 3.0)
    # Deviations -3, -2, 0, 5: their squares sum to 38, over n - 1.
    assert times.stdev_s == pytest.approx(math.sqrt(38 / 3))


def test_one_step_has_a_centre_and_no_spread() -> None:
    times = stats.path_times([2.5])
    assert (times.mean_s, times.median_s, times.stdev_s) == (2.5, 2.5, None)


def test_equal_steps_have_a_spread_of_zero_and_an_interval_of_one_point() -> None:
    assert stats.path_times([2.0] * 5).stdev_s == 0.0
    assert stats.median_interval([3.0] * 5, seed=0) == (3.0, 3.0)


def test_drawing_in_parts_changes_nothing_of_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [math.sin(index) for index in range(50)]
    in_parts = stats.median_interval(values, seed=3)
    monkeypatch.setattr(stats, "MAX_DRAWN", 10**9)
    assert stats.median_interval(values, seed=3) == in_parts


@pytest.mark.parametrize("count", [1, 2, 3])
def test_fewer_than_four_pairs_give_no_interval(count: int) -> None:
    assert stats.median_interval([float(value) for value in range(count)], seed=0) == (None, None)


def test_the_interval_lies_within_the_values_and_holds_their_median() -> None:
    for seed in range(20):
        values = np.random.default_rng(seed).lognormal(size=4 + seed).tolist()
        low, high = stats.median_interval(values, seed)
        assert low is not None and high is not None
        assert min(values) <= low <= statistics.median(values) <= high <= max(values)


def test_the_same_seed_gives_the_same_interval() -> None:
    values = [1.0, 2.0, 4.0, 7.0, 11.0, 16.0, 22.0, 29.0]
    assert stats.median_interval(values, 3) == stats.median_interval(values, 3)


@pytest.mark.parametrize("count", [4, 5, 6])
def test_resampling_gives_the_percentiles_of_all_the_ways_to_draw(count: int) -> None:
    values = [float(2**index) for index in range(count)]
    medians = np.array([statistics.median(draw) for draw in itertools.product(values, repeat=count)])
    tail = (1 - stats.expanded_level(count)) / 2
    # Between neighbouring medians the resampled percentile may fall on either: allow the tail a fifth more or less.
    low, high = stats.median_interval(values, seed=1)
    assert np.quantile(medians, 0.8 * tail) <= low <= np.quantile(medians, 1.2 * tail)
    assert np.quantile(medians, 1 - 1.2 * tail) <= high <= np.quantile(medians, 1 - 0.8 * tail)


@pytest.mark.parametrize(
    ("count", "t_quantile"),
    # The 97.5 % quantiles of Student's t for n - 1 degrees of freedom, from a printed table.
    [(4, 3.182446), (8, 2.364624), (16, 2.131450), (31, 2.042272)],
)
def test_the_level_is_expanded_to_the_reach_of_the_t_interval(count: int, t_quantile: float) -> None:
    # Hesterberg: alpha'/2 = Phi(-sqrt(n / (n - 1)) t), the level 1 - alpha'.
    z = math.sqrt(count / (count - 1)) * t_quantile
    expected = 1 - math.erfc(z / math.sqrt(2))
    assert stats.expanded_level(count) == pytest.approx(expected, abs=1e-6)


def test_the_expanded_level_falls_to_the_nominal_one_for_many_pairs() -> None:
    levels = [stats.expanded_level(count) for count in (4, 8, 16, 64, 1000)]
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] == pytest.approx(0.95, abs=1e-3)


@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_the_interval_covers_the_true_median_about_as_often_as_it_says(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "RESAMPLES", 999)
    random = np.random.default_rng(20)
    runs, covered = 300, 0
    for run in range(runs):
        values = random.normal(0.0, 1.0, 8) if shape == "normal" else random.exponential(1.0, 8)
        truth = 0.0 if shape == "normal" else math.log(2.0)
        low, high = stats.median_interval(values.tolist(), seed=run)
        assert low is not None and high is not None
        covered += low <= truth <= high
    # 95 % of 300 is 285 with a standard error of 3.8.
    assert covered >= 285 - 2 * 3.8


def test_a_path_against_itself_holds_zero_in_at_least_nine_of_ten_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "RESAMPLES", 999)
    random = np.random.default_rng(7)
    held = 0
    for run in range(200):
        # A common drift, 3 % of noise, and now and then a step that is half as slow again.
        drift = np.linspace(1.0, 1.3, 8)
        noise = random.normal(1.0, 0.03, (2, 8)) + 0.5 * (random.random((2, 8)) < 0.05)
        records = paired((drift * noise[0]).tolist(), (drift * noise[1]).tolist())
        found = stats.saving(records, "custom_2pass", "native_1pass", seed=run)
        assert found is not None and found.ci_low_pct is not None and found.ci_high_pct is not None
        held += found.ci_low_pct <= 0.0 <= found.ci_high_pct
    assert held >= 180
