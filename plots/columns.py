"""One panel of upright bars, a bar a path, with its steps as dots, a whisker and its value."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from plots import page, style, words
from plots.measures import Bar
from plots.numbers import short, tick

LABELS_IN = 0.56  # below the axes, for the paths' names
TITLE_IN = 0.55  # above the axes
TICK_GAP_PT = 8  # between an axis number and the axes
BAR_WIDTH = 0.68  # of the room that a path has
DOTS_FROM, DOTS_TO, WHISKER_AT = -0.29, 0.14, 0.25  # from the bar's middle: dots never hide the whisker


@dataclass(frozen=True)
class Panel:
    """What one panel shows. `scale` turns the bars' values into what is drawn, `unit` follows a value's number."""

    title: str
    hint: str
    bars: tuple[Bar, ...]
    scale: float
    unit: str


def draw_panel(figure: Figure, box: page.Box, panel: Panel) -> None:
    """Draw a panel inside a box of the figure."""
    top = max(bar.top for bar in panel.bars) * panel.scale * 1.15
    ticks = [value for value in MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(0, top) if 0 <= value <= top]
    ticks_pt = max(page.width_pt(tick(value), style.SETTINGS["ytick.labelsize"]) for value in ticks) + TICK_GAP_PT
    ticks_in = ticks_pt / page.POINTS_PER_IN
    width_in, height_in = figure.get_size_inches()
    axes = figure.add_axes(
        (
            (box.left + ticks_in) / width_in,
            (box.bottom + LABELS_IN) / height_in,
            (box.width - ticks_in) / width_in,
            (box.height - LABELS_IN - TITLE_IN) / height_in,
        )
    )
    title_y = (box.bottom + box.height - 0.35) / height_in
    figure.text(box.left / width_in, title_y, panel.title, size=11.5, weight="bold")
    figure.text((box.left + box.width) / width_in, title_y, panel.hint, size=10, color=style.MUTED, ha="right")
    side = 0.5 if len(panel.bars) > 1 else 1.0  # a lone bar stays slim
    axes.set_xlim(-side, len(panel.bars) - 1 + side)
    axes.set_ylim(0, top)
    for place, bar in enumerate(panel.bars):
        _draw_bar(axes, place, bar, panel)
    names = [words.LABELS[bar.path] for bar in panel.bars]
    axes.set_xticks(range(len(names)), names, size=10.5 if len(names) < 4 else 9.5)
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FuncFormatter(tick))


def _draw_bar(axes: Axes, place: int, bar: Bar, panel: Panel) -> None:
    height = bar.height * panel.scale
    axes.bar(place, height, BAR_WIDTH, color=style.COLOURS[bar.path], label=bar.path)
    count = len(bar.dots)
    pitch = (DOTS_TO - DOTS_FROM) / max(count, 8)
    middle = (DOTS_FROM + DOTS_TO) / 2
    axes.plot(
        [place + middle + pitch * (i - (count - 1) / 2) for i in range(count)],
        [dot * panel.scale for dot in bar.dots],
        "o",
        markersize=5 if count <= 16 else 3,
        color=style.INK,
        markeredgecolor="white",
        markeredgewidth=0.6,
        zorder=3,
    )
    if bar.whisker:
        low, high = (end * panel.scale for end in bar.whisker)
        ends = [[max(0.0, height - low)], [max(0.0, high - height)]]
        axes.errorbar(
            place + WHISKER_AT, height, ends, fmt="none", ecolor=style.INK, elinewidth=1.5, capsize=4, capthick=1.5
        )
    axes.annotate(
        short(height) + panel.unit,
        (place, bar.top * panel.scale),
        xytext=(0, 7),
        textcoords="offset points",
        ha="center",
        size=12 if len(panel.bars) < 4 else 11,
        weight="bold",
    )
