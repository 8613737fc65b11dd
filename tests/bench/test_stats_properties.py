"""What holds of the statistics whatever the times are."""

import math
import random
import statistics
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import run_warnings, stats
from bench.compare.samples import difference
from tests.bench.fakes import paired

times_s = st.floats(min_value=1e-6, max_value=1e6)
pairs_s = st.lists(st.tuples(times_s, times_s), min_size=1, max_size=12)
# In steps of 1/64, so that no result is subnormal, where doubling is not exact.
percents = st.lists(st.integers(-(10**9), 6400).map(lambda count: count / 64), min_size=4, max_size=12)
some = settings(max_examples=60, deadline=None)


@pytest.fixture(scope="module", autouse=True)
def few_resamples() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stats, "RESAMPLES", 300)
        yield


@some
@given(percents)
def test_an_interval_holds_the_median_and_lies_within_the_values(values: list[float]) -> None:
    low, high = stats.median_interval(values, seed=1)
    assert low is not None and high is not None
    slack = 1e-9 * max(abs(value) for value in values)
    assert min(values) - slack <= low <= statistics.median(values) + slack
    assert statistics.median(values) - slack <= high <= max(values) + slack


@some
@given(percents)
def test_the_interval_of_values_twice_as_large_is_twice_as_large(values: list[float]) -> None:
    low, high = stats.median_interval(values, seed=1)
    assert stats.median_interval([2.0 * value for value in values], seed=1) == (2.0 * low, 2.0 * high)  # type: ignore[operator]


@some
@given(pairs_s)
def test_a_saving_is_below_100_percent_and_its_sign_says_who_is_faster(pairs: list[tuple[float, float]]) -> None:
    records = paired([baseline for baseline, _ in pairs], [candidate for _, candidate in pairs])
    found = stats.saving(records, "custom_2pass", "native_1pass", seed=0)
    assert found is not None and found.pairs == len(pairs)
    for value, (baseline, candidate) in zip(found.savings_pct, pairs, strict=True):
        assert value <= 100.0
        assert (value > 0) == (candidate / baseline < 1.0)
    assert found.faster_in == sum(candidate / baseline < 1.0 for baseline, candidate in pairs)


@some
@given(pairs_s, st.integers(0, 1000))
def test_the_order_of_the_records_does_not_matter_to_a_saving(pairs: list[tuple[float, float]], seed: int) -> None:
    records = paired([baseline for baseline, _ in pairs], [candidate for _, candidate in pairs])
    shuffled = random.Random(seed).sample(records, len(records))
    assert stats.savings_pct(shuffled, "custom_2pass", "native_1pass") == stats.savings_pct(records, "custom_2pass", "native_1pass")


@some
@given(st.lists(times_s, min_size=1, max_size=20))
def test_centre_and_spread_lie_within_the_times(times: list[float]) -> None:
    found = stats.path_times(times)
    slack = 1e-12 * max(times)
    assert min(times) - slack <= found.mean_s <= max(times) + slack
    assert min(times) <= found.median_s <= max(times)
    assert (found.stdev_s is None) == (len(times) == 1)
    assert found.stdev_s is None or 0.0 <= found.stdev_s <= max(times)


@some
@given(pairs_s)
def test_whatever_the_times_are_every_warning_has_words_and_something_to_do(pairs: list[tuple[float, float]]) -> None:
    records = paired([baseline for baseline, _ in pairs], [candidate for _, candidate in pairs])
    saving = stats.saving(records, "custom_2pass", "native_1pass", seed=0)
    found = [*run_warnings.of_steps(records, ("native_1pass", "custom_2pass")), *run_warnings.of_saving(saving, "interleaved", records)]
    assert all(warning.text and warning.action and "nan" not in warning.text for warning in found)


@some
@given(st.lists(times_s, min_size=1, max_size=12), st.lists(times_s, min_size=1, max_size=12))
def test_a_difference_of_medians_is_finite_and_lies_in_its_interval(first: list[float], second: list[float]) -> None:
    found = difference((first, second), lambda a, b: 100.0 * (b / a - 1.0))
    assert math.isfinite(found.value)
    if found.ci_low is not None and found.ci_high is not None:
        assert found.ci_low <= found.ci_high and math.isfinite(found.ci_low) and math.isfinite(found.ci_high)
