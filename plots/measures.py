"""From a result to the heights, whiskers and dots of the two panels."""

import statistics
from dataclasses import dataclass

from plots.results import PathTimes, Result

FEWEST_FOR_QUARTILES = 4
FARTHEST_DOT = 1.5  # times the tallest bar; a dot beyond it is marked at the panel's upper edge


@dataclass(frozen=True)
class Bar:
    """One path in one panel. `whisker` is its lower and upper end, or None where the file supports none."""

    path: str
    height: float
    whisker: tuple[float, float] | None
    dots: tuple[float, ...]

    @property
    def reach(self) -> float:
        """The upper end of the bar and its whisker."""
        return max(self.height, self.whisker[1] if self.whisker else 0)


@dataclass(frozen=True)
class Measures:
    """Both panels: `seconds` a step, and target `tokens` a second (empty where the file does not tell).

    `centre` names what a bar's height is: the median step, or the mean where a file (as published) has only that.
    """

    centre: str
    seconds: tuple[Bar, ...]
    tokens: tuple[Bar, ...]

    @property
    def whisker_words(self) -> str | None:
        """What a whisker shows, or None where no bar has one."""
        if not any(bar.whisker for bar in self.seconds + self.tokens):
            return None
        return "middle half of the steps" if self.centre == "median" else "one standard deviation either side"


def highest(bars: tuple[Bar, ...]) -> float:
    """Return the highest value that a panel shows in its place: a single wild step does not flatten the bars."""
    limit = FARTHEST_DOT * max(bar.reach for bar in bars)
    return max(value for bar in bars for value in (bar.reach, *bar.dots) if value <= limit)


def beyond(bars: tuple[Bar, ...]) -> tuple[float, ...]:
    """Return the steps that lie above the panel's highest value."""
    top = highest(bars) if bars else 0
    return tuple(dot for bar in bars for dot in bar.dots if dot > top)


def measures(result: Result) -> Measures:
    """Return what to draw: medians with quartiles where every path has a median, else means with deviations."""
    count = result.setting.tokens_per_step or None
    # A rate at the median step needs the token count; a file's own tokens_per_s goes with the mean.
    by_median = result.schema > 0 and count is not None and all(path.middle_s for path in result.paths)
    bar = _median_bars if by_median else _mean_bars
    pairs = [bar(path, count) for path in result.paths]
    rates = tuple(rate for _, rate in pairs if rate is not None)
    return Measures(
        centre="median" if by_median else "mean",
        seconds=tuple(seconds for seconds, _ in pairs),
        tokens=rates if len(rates) == len(pairs) else (),
    )


def _median_bars(path: PathTimes, count: int | None) -> tuple[Bar, Bar | None]:
    median = path.centre_s
    rates = tuple((count or 0) / time for time in path.times)
    seconds = Bar(path.name, median, _quartiles(path.times), path.times)
    return seconds, Bar(path.name, (count or 0) / median, _quartiles(rates), rates)


def _mean_bars(path: PathTimes, count: int | None) -> tuple[Bar, Bar | None]:
    seconds = Bar(path.name, path.mean_s, _around(path.mean_s, path.stdev_s), path.times)
    rates = tuple(count / time for time in path.times) if count else ()
    rate = path.tokens_per_s or (count / path.mean_s if count else None)
    if rate is None:
        return seconds, None
    spread = statistics.stdev(rates) if len(rates) > 1 else None
    return seconds, Bar(path.name, rate, _around(rate, spread), rates)


def _quartiles(values: tuple[float, ...]) -> tuple[float, float] | None:
    if len(values) < FEWEST_FOR_QUARTILES:
        return None
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def _around(centre: float, spread: float | None) -> tuple[float, float] | None:
    return None if spread is None else (max(0.0, centre - spread), centre + spread)
