"""Two independent samples: how their medians differ, with an interval from both samples' own spread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.stats import MIN_PAIRS_FOR_INTERVAL, RESAMPLES, expanded_level

MIN_STEPS_FOR_INTERVAL = MIN_PAIRS_FOR_INTERVAL
SEED = 0

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A difference with its 95 % interval, whose ends are None where a sample has fewer than `MIN_STEPS_FOR_INTERVAL` values."""

    value: float
    ci_low: float | None
    ci_high: float | None


def difference(samples: Sequence[Sequence[float]], of_medians: Callable[..., Floats]) -> Estimate:
    """`of_medians` of the samples' medians, each sample at least one value. It is given one array a sample, and works elementwise.

    The interval's level is expanded as for a sample as small as the smallest.
    """
    value = float(of_medians(*(np.atleast_1d(np.median(sample)) for sample in samples))[0])
    smallest = min(len(sample) for sample in samples)
    if smallest < MIN_STEPS_FOR_INTERVAL:
        return Estimate(value, None, None)
    random = np.random.default_rng(SEED)
    drawn = of_medians(*(median_draws(sample, RESAMPLES, random) for sample in samples))
    tail = (1.0 - expanded_level(smallest)) / 2.0
    low, high = np.quantile(drawn, [tail, 1.0 - tail])
    return Estimate(value, float(low), float(high))


def median_draws(sample: Sequence[float], count: int, random: np.random.Generator) -> Floats:
    """`count` medians of resamples with replacement, shape [count].

    Drawn as order statistics rather than by resampling, which gives the same distribution in a time that does not grow with the sample:
    a resample is n uniform numbers that point into the sorted sample, and the m-th smallest of n uniforms is Beta(m, n + 1 - m).
    """
    ordered = np.sort(np.asarray(sample, dtype=np.float64))
    size = len(ordered)
    lower_rank = (size + 1) // 2
    lower = random.beta(lower_rank, size + 1 - lower_rank, count)
    upper = lower
    if size % 2 == 0:
        # The next larger: the smallest of the uniforms that are left, which lie anywhere above.
        upper = 1.0 - (1.0 - lower) * random.random(count) ** (1.0 / (size - lower_rank))
    return np.asarray((_pointed_at(ordered, lower) + _pointed_at(ordered, upper)) / 2.0)


def _pointed_at(ordered: Floats, uniform: Floats) -> Floats:
    index = np.minimum((uniform * len(ordered)).astype(np.int64), len(ordered) - 1)
    return np.asarray(ordered[index])
