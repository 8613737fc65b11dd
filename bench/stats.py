"""What the steps' times say: each path's centre and spread, and the saving as paired within rounds, with an interval."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.measure import StepRecord

CI_LEVEL = 0.95
RESAMPLES = 10_000
# Values drawn at a time: bounds the memory of a long run's interval, and changes nothing of it.
MAX_DRAWN = 200_000
MIN_PAIRS_FOR_INTERVAL = 4
METHOD = "median over pairs; 95 % expanded percentile bootstrap (Hesterberg 2015), 10,000 resamples"


@dataclass(frozen=True)
class PathTimes:
    """A path's counted steps in execution order, seconds. `stdev_s` is the sample's, None for one step."""

    times_s: tuple[float, ...]
    mean_s: float
    median_s: float
    stdev_s: float | None


@dataclass(frozen=True)
class Saving:
    """How much shorter the candidate's step is than the baseline's, in percent of the baseline's, paired within rounds.

    `ci_low_pct` and `ci_high_pct` are None for fewer than `MIN_PAIRS_FOR_INTERVAL` pairs.
    """

    baseline: str
    candidate: str
    median_pct: float
    ci_low_pct: float | None
    ci_high_pct: float | None
    faster_in: int
    savings_pct: tuple[float, ...]

    @property
    def pairs(self) -> int:
        return len(self.savings_pct)


def counted_times(records: Sequence[StepRecord], path: str) -> list[float]:
    """A path's counted times, seconds, in execution order."""
    return [record.step_s for record in records if record.counted and record.path == path]


def path_times(times_s: Sequence[float]) -> PathTimes:
    """Centre and spread of at least one time."""
    spread = statistics.stdev(times_s) if len(times_s) > 1 else None
    return PathTimes(tuple(times_s), statistics.fmean(times_s), statistics.median(times_s), spread)


def savings_pct(records: Sequence[StepRecord], baseline: str, candidate: str) -> list[float]:
    """The saving of each round in which both paths took a counted step: 100 (1 - candidate / baseline)."""
    rounds: dict[int, dict[str, float]] = {}
    for record in records:
        if record.counted:
            rounds.setdefault(record.round, {})[record.path] = record.step_s
    pairs = [times for _, times in sorted(rounds.items()) if baseline in times and candidate in times]
    return [100.0 * (1.0 - times[candidate] / times[baseline]) for times in pairs]


def saving(records: Sequence[StepRecord], baseline: str, candidate: str, seed: int) -> Saving | None:
    """The paired estimate, or None without a pair."""
    values = savings_pct(records, baseline, candidate)
    if not values:
        return None
    low, high = median_interval(values, seed)
    faster = sum(value > 0 for value in values)
    return Saving(baseline, candidate, statistics.median(values), low, high, faster, tuple(values))


def load() -> None:
    """Imports what intervals are worked out with, which takes 1.5 s: before the first step, so that it is beside none, and an interrupt
    in the middle of it does not leave half a library to a run that has steps to save.
    """
    import scipy.stats  # noqa: F401


def median_interval(values: Sequence[float], seed: int) -> tuple[float | None, float | None]:
    """A 95 % interval for the median: percentile bootstrap, its level expanded for small samples.

    The plain percentile interval is too narrow for few values; expanding it to the level at which it would match the t interval for a
    mean (Hesterberg 2015, "What Teachers Should Know About the Bootstrap", section 3.4 of the supplement) mends that.
    """
    count = len(values)
    if count < MIN_PAIRS_FOR_INTERVAL:
        return None, None
    if len(set(values)) == 1:
        return values[0], values[0]
    from scipy import stats  # takes 1.5 s to import: not for every --help

    result = stats.bootstrap(
        (np.asarray(values),),
        _median,
        confidence_level=expanded_level(count),
        n_resamples=RESAMPLES,
        batch=max(1, MAX_DRAWN // count),
        method="percentile",
        rng=np.random.default_rng(seed),
        vectorized=True,
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def expanded_level(count: int) -> float:
    """The level at which a percentile interval of `count` values has the reach of a 95 % t interval."""
    from scipy import stats

    quantile = stats.t.ppf(0.5 + CI_LEVEL / 2, count - 1) * math.sqrt(count / (count - 1))
    return float(1.0 - 2.0 * stats.norm.sf(quantile))


def _median(sample: npt.NDArray[np.float64], axis: int = -1) -> npt.NDArray[np.float64]:
    return np.asarray(np.median(sample, axis=axis))
