"""Axes of times: linear, or logarithmic where the range demands it, with ticks that people count in."""

import math
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from plots.numbers import tick

WIDEST_LINEAR = 6.0  # the longest time over the shortest; beyond, a linear axis hides the short ones
MOST_TICKS = 7


@dataclass(frozen=True)
class TimeScale:
    """From seconds to inches along an axis of `width_in` inches."""

    low_s: float
    high_s: float
    log: bool
    width_in: float

    def inches(self, seconds: float) -> float:
        """Return where a time stands, in inches from the axis's beginning."""
        if self.log:
            return self.width_in * math.log(seconds / self.low_s) / math.log(self.high_s / self.low_s)
        return self.width_in * (seconds - self.low_s) / (self.high_s - self.low_s)


def time_scale(values: list[float], width_in: float, room_in: float) -> TimeScale:
    """Return a scale that shows all values (positive), with `room_in` for words at either end."""
    shortest, longest = min(values), max(values)
    used = max(0.2, 1 - 2 * room_in / width_in)
    if longest / shortest <= WIDEST_LINEAR:
        return TimeScale(0.0, longest / (0.5 + used / 2), False, width_in)
    pad = (longest / shortest) ** ((1 / used - 1) / 2)
    return TimeScale(shortest / pad, longest * pad, True, width_in)


def draw_scale(axes: Axes, scale: TimeScale, factor: float) -> None:
    """Put the scale on the x axis, its ticks written in units of seconds / `factor`."""
    axes.set_xscale("log" if scale.log else "linear")
    axes.set_xlim(scale.low_s, scale.high_s)
    low, high = scale.low_s * factor, scale.high_s * factor
    ticks = _log_ticks(low, high) if scale.log else list(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))
    ticks = [value for value in ticks if low <= value <= high]
    axes.xaxis.set_major_locator(FixedLocator([value / factor for value in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(float(f"{value * factor:.3g}"))))


def _log_ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
        if len(ticks) <= MOST_TICKS:
            return ticks
    return ticks[:: math.ceil(len(ticks) / MOST_TICKS)]
