"""Medians of two samples: the interval against every way to draw, and how often it is right."""

import itertools
import math
import statistics

import numpy as np
import pytest

from bench.compare.samples import difference, median_draws
from bench.stats import expanded_level


def percent(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return 100.0 * (b / a - 1.0)


def all_medians(values: list[float]) -> list[float]:
    return [statistics.median(draw) for draw in itertools.product(values, repeat=len(values))]


@pytest.mark.parametrize(
    "values", [[3.0], [1.0, 5.0], [4.0, 1.0, 9.0], [1.0, 2.0, 4.0, 8.0], [1.0, 2.0, 4.0, 8.0, 16.0], [2.0, 2.0, 2.0, 7.0]]
)
def test_medians_are_drawn_as_often_as_among_all_resamples(values: list[float]) -> None:
    exact = all_medians(values)
    drawn = median_draws(values, 40_000, np.random.default_rng(3)).tolist()
    assert set(drawn) <= set(exact)
    for median in set(exact):
        share = exact.count(median) / len(exact)
        # Five standard errors of a share of 40,000 draws.
        assert drawn.count(median) / 40_000 == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / 40_000) + 1e-12)


def test_the_interval_is_that_of_every_pair_of_resamples() -> None:
    a, b = [10.0, 11.0, 13.0, 17.0], [20.0, 21.0, 27.0, 41.0]
    a_medians, b_medians = np.array(all_medians(a)), np.array(all_medians(b))
    exact = percent(a_medians[:, None], b_medians[None, :]).ravel()
    # As wide as for a sample of 4.
    tail = (1 - expanded_level(4)) / 2
    found = difference([a, b], percent)
    assert found.value == pytest.approx(100 * (24 / 12 - 1))
    assert found.ci_low is not None and found.ci_high is not None
    # With a tail of about 1 in 8,000, some draws more or less move the end to a neighbouring value.
    assert np.quantile(exact, tail / 8) <= found.ci_low <= np.quantile(exact, tail * 8)
    assert np.quantile(exact, 1 - tail * 8) <= found.ci_high <= np.quantile(exact, 1 - tail / 8)


@pytest.mark.parametrize(("a_count", "b_count", "told"), [(1, 8, False), (8, 3, False), (3, 3, False), (4, 40, True), (4, 4, True)])
def test_an_interval_needs_four_steps_on_each_side(a_count: int, b_count: int, told: bool) -> None:
    found = difference([[1.0 + i for i in range(a_count)], [2.0 + i for i in range(b_count)]], percent)
    assert ((found.ci_low is not None), (found.ci_high is not None)) == (told, told)


def test_samples_without_variance_have_an_interval_of_one_point() -> None:
    found = difference([[2.0] * 5, [3.0] * 4], percent)
    assert (found.value, found.ci_low, found.ci_high) == (50.0, 50.0, 50.0)
    same = difference([[2.0] * 5, [2.0] * 9], percent)
    assert (same.value, same.ci_low, same.ci_high) == (0.0, 0.0, 0.0)


def test_near_equal_samples_of_unequal_counts_are_not_called_different() -> None:
    # Where a t-test that fails is reported as a difference.
    found = difference([[1.00, 1.01, 0.99, 1.00], [1.00, 1.01, 0.99, 1.00, 1.005]], percent)
    assert found.ci_low is not None and found.ci_high is not None
    assert found.ci_low < 0.0 < found.ci_high


def test_the_same_samples_give_the_same_interval() -> None:
    samples = [[1.0, 2.0, 4.0, 7.0], [1.5, 2.5, 3.0, 9.0]]
    assert difference(samples, percent) == difference(samples, percent)


def test_a_hundred_thousand_steps_take_no_longer_than_the_sorting() -> None:
    sample = np.random.default_rng(0).normal(1.0, 0.1, 100_000)
    found = difference([sample, sample * 1.5], percent)
    assert found.ci_low is not None and found.ci_high is not None
    # The median's standard error is 1.25 sigma / sqrt(n): 0.04 % of each side, times sqrt(2) and 1.5 for the ratio.
    assert found.ci_high - found.ci_low == pytest.approx(2 * 1.96 * 100 * 1.2533 * 0.1 / math.sqrt(1e5) * math.sqrt(2) * 1.5, rel=0.2)


@pytest.mark.parametrize(("a_count", "b_count"), [(8, 8), (5, 20), (7, 4)])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(a_count: int, b_count: int) -> None:
    random = np.random.default_rng(11)
    runs, held = 120, 0
    for _ in range(runs):
        a, b = 5.0 * random.lognormal(0.0, 0.04, a_count), 5.5 * random.lognormal(0.0, 0.04, b_count)
        found = difference([a.tolist(), b.tolist()], percent)
        assert found.ci_low is not None and found.ci_high is not None
        held += found.ci_low <= 10.0 <= found.ci_high
    # 95 % of 120, less two standard errors of 2.4.
    assert held >= 114 - 5
