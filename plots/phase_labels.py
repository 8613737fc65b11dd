"""The phases' names, times and shares below a bar, moved apart so that none lies over another."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from plots import page, style
from plots.breakdown import Breakdown
from plots.numbers import duration, share
from plots.phase_words import name_of
from plots.spread import spread

SIZE, GAP_IN = 9.0, 0.12
LEADER_IN = 0.17  # from the bar to the labels
LINE_IN = 0.165
WIDER = 1.04  # the screen's glyphs are a little wider than the font says


@dataclass(frozen=True)
class _Label:
    middle: float
    lines: tuple[str, str, str]
    seconds: float

    @property
    def width(self) -> float:
        widths = (page.width_pt(line, SIZE, bold=number == 1) for number, line in enumerate(self.lines))
        return max(widths) * WIDER / page.POINTS_PER_IN


def label_phases(axes: Axes, made: Breakdown, middles: Sequence[float], under: float, shares: bool) -> None:
    """Label each phase below the bar's lower edge, `under`; axes are in inches.

    Where not all fit, the shortest are told as one. `shares`: with each phase's share of the step.
    """
    low, high = axes.get_xlim()
    labels = [
        _Label(middle, (name_of(phase), duration(phase.seconds), share(phase.seconds / made.step_s)), phase.seconds)
        for phase, middle in zip(made.phases, middles, strict=True)
    ]
    labels = _fitting(labels, made.step_s, high - low)
    places = spread([label.middle for label in labels], [label.width for label in labels], low, high, GAP_IN)
    for label, place in zip(labels, places, strict=True):
        top = under - LEADER_IN
        axes.plot([label.middle, label.middle, place, place], [under, under - 0.04, top + 0.04, top], color=style.MUTED, linewidth=0.8)
        name, time, part = label.lines
        for number, (line, bold) in enumerate(((name, False), (time, True), (part, False))[: 3 if shares else 2]):
            y = top - 0.14 - number * LINE_IN
            colour = style.MUTED if number == 2 else style.INK
            axes.text(place, y, line, size=SIZE, weight="bold" if bold else "normal", color=colour, ha="center", va="baseline")


def _fitting(labels: list[_Label], step_s: float, room: float) -> list[_Label]:
    shown, others = labels, 1
    while len(shown) > 1 and sum(label.width + GAP_IN for label in shown) - GAP_IN > room:
        others += 1
        by_length = sorted(labels, key=lambda label: label.seconds)
        together, kept = by_length[:others], by_length[others:]
        seconds = sum(label.seconds for label in together)
        one = _Label(together[-1].middle, (f"{others} others", duration(seconds), share(seconds / step_s)), seconds)
        shown = sorted([*kept, one], key=lambda label: label.middle)
    return shown
