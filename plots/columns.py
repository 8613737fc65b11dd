"""One panel of upright bars, a bar a path, with its steps as dots, a whisker and its value."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from plots import page, style, words
from plots.measures import Bar, highest
from plots.numbers import short, tick

LABELS_IN = 0.56  # below the axes, for the paths' names
TITLE_IN = 0.55  # above the axes
TICK_GAP_PT = 8  # between an axis number and the axes
HEADROOM = 1.15  # room for the values above the highest dot
MOST_CLEAR_DOTS = 40  # more are drawn small and see-through
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
    top = highest(panel.bars) * panel.scale * HEADROOM
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
    if page.width_pt(panel.title, 11.5, True) + page.width_pt(panel.hint, 10) + TICK_GAP_PT < box.width * page.POINTS_PER_IN:
        figure.text((box.left + box.width) / width_in, title_y, panel.hint, size=10, color=style.MUTED, ha="right")
    side = 0.5 if len(panel.bars) > 1 else 1.0  # a lone bar stays slim
    axes.set_xlim(-side, len(panel.bars) - 1 + side)
    axes.set_ylim(0, top)
    slot_pt = (box.width - ticks_in) * page.POINTS_PER_IN / (2 * side + len(panel.bars) - 1)
    for place, bar in enumerate(panel.bars):
        _draw_bar(axes, place, bar, panel)
        _draw_dots(axes, place, bar, panel, top)
    _write_values(axes, panel, slot_pt)
    names = [words.LABELS[bar.path] for bar in panel.bars]
    size = _fitting(10.5, [line for name in names for line in name.split("\n")], slot_pt, bold=False)
    axes.set_xticks(range(len(names)), names, size=size)
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FuncFormatter(tick))


def _draw_bar(axes: Axes, place: int, bar: Bar, panel: Panel) -> None:
    height = bar.height * panel.scale
    axes.bar(place, height, BAR_WIDTH, color=style.COLOURS[bar.path], gid=bar.path)
    if bar.whisker:
        low, high = (end * panel.scale for end in bar.whisker)
        # At least 0: a file's median can lie a rounding outside the quartiles of its times.
        ends = [[max(0.0, height - low)], [max(0.0, high - height)]]
        axes.errorbar(place + WHISKER_AT, height, ends, fmt="none", ecolor=style.INK, elinewidth=1.5, capsize=4, capthick=1.5)


def _draw_dots(axes: Axes, place: int, bar: Bar, panel: Panel, top: float) -> None:
    """Draw the steps from left to right; those beyond the panel as triangles at its upper edge."""
    count = len(bar.dots)
    pitch = (DOTS_TO - DOTS_FROM) / max(count, 8)
    first = place + (DOTS_FROM + DOTS_TO - pitch * (count - 1)) / 2
    edge = highest(panel.bars)
    near = [(first + pitch * i, dot * panel.scale) for i, dot in enumerate(bar.dots) if dot <= edge]
    far = [(first + pitch * i, top) for i, dot in enumerate(bar.dots) if dot > edge]
    clear = count <= MOST_CLEAR_DOTS
    for points, marker in ((near, "o"), (far, "^")):
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            marker,
            markersize=7 if marker == "^" else 5 if clear else 2.5,
            alpha=1 if clear else 0.35,
            color=style.INK,
            markeredgecolor=style.PAPER if clear else "none",
            markeredgewidth=0.6,
            zorder=3,
            clip_on=False,
        )


def _write_values(axes: Axes, panel: Panel, slot_pt: float) -> None:
    """Write each bar's value above it and its dots."""
    values = [short(bar.height * panel.scale) + panel.unit for bar in panel.bars]
    size = _fitting(12, values, slot_pt, bold=True)
    edge = highest(panel.bars)
    for place, (bar, value) in enumerate(zip(panel.bars, values, strict=True)):
        under = max(bar.reach, *(dot for dot in bar.dots if dot <= edge), 0.0) * panel.scale
        axes.annotate(
            value,
            (place, under),
            (0, 7),
            textcoords="offset points",
            ha="center",
            size=size,
            weight="bold",
            bbox={"facecolor": style.PAPER, "edgecolor": "none", "pad": 1.5},  # no grid line through the digits
        )


def _fitting(size: float, texts: list[str], slot_pt: float, bold: bool) -> float:
    """Return the largest font size up to `size` with which every text fits its slot."""
    return min(size, size * 0.93 * slot_pt / max(page.width_pt(text, size, bold) for text in texts))
