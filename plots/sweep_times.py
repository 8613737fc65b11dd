"""The times of a sweep's picture: a line a setting with a dot for each path, the arithmetic's floors behind them, failures named."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plots import page, style, sweep_words
from plots.numbers import duration
from plots.scales import TimeScale, draw_scale, time_scale
from plots.spread import spread
from plots.sweep_file import Row, Sweep
from plots.sweep_layout import BANDS, FUSED, TWO_PASS, WIDER, Layout, floors_of, title_y


def draw_times(figure: Figure, sweep: Sweep, layout: Layout) -> Axes:
    """Draw the times, and return their axes: one unit of its y axis a row."""
    axes = layout.times.axes_on(figure)
    axes.set_ylim(len(layout.rows) - 0.5, -0.5)
    axes.yaxis.set_visible(False)
    axes.grid(axis="x")
    floors = floors_of(sweep)
    values = [s for row in layout.rows for s in (row.native_s, row.two_pass_s) if s is not None]
    best = sweep_words.best_row(sweep)
    for number, row in enumerate(layout.rows):
        if row is best:
            axes.axhspan(number - 0.5, number + 0.5, color=style.BEST, zorder=0)
        elif number % 2:
            axes.axhspan(number - 0.5, number + 0.5, color=BANDS[1], zorder=0)
    if not values:
        axes.xaxis.set_visible(False)
        for number, row in enumerate(layout.rows):
            _write_failure(axes, number, row, layout, 0.0)
        return axes
    scale = time_scale([*values, *floors.values()], layout.times.width, 0.75 * layout.size / 10)
    factor, unit = _unit(max(values))
    draw_scale(axes, scale, factor)
    axes.tick_params(axis="x", labelsize=9, labelcolor=style.MUTED)
    for number, row in enumerate(layout.rows):
        _draw_row(axes, number, row, layout, scale)
    # A narrow box has no room for more.
    title = f"{unit} a step, median" + (", logarithmic" if scale.log and layout.label_in else "")
    _write_head(figure, layout, title_y(layout, floors), title)
    _draw_floors(figure, axes, floors, layout, scale)
    return axes


def _draw_row(axes: Axes, number: int, row: Row, layout: Layout, scale: TimeScale) -> None:
    points = [(s, path) for s, path in ((row.native_s, FUSED), (row.two_pass_s, TWO_PASS)) if s is not None]
    points.sort()
    number_at = number + layout.dots_below
    if len(points) == 2:
        axes.plot([s for s, _ in points], [number_at, number_at], color=style.MUTED, linewidth=1.2, zorder=2)
    dot = layout.size * 0.8
    for place, (s, path) in enumerate(points):
        axes.plot([s], [number_at], "o", color=style.COLOURS[path], markersize=dot, zorder=3, gid=path, clip_on=False)
        left = place == 0 and len(points) == 2
        axes.annotate(
            duration(s),
            (s, number_at),
            (-dot if left else dot, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center_baseline",
            size=layout.size * 0.93,
            zorder=4,
        )
    free_from = 0.0
    if points:
        longest, _ = points[-1]
        free_from = scale.inches(longest) + (dot + page.width_pt(duration(longest), layout.size) * WIDER) / page.POINTS_PER_IN
    _write_failure(axes, number, row, layout, free_from)


def _write_failure(axes: Axes, number: int, row: Row, layout: Layout, free_from_in: float) -> None:
    words = sweep_words.failure(row)
    room_in = layout.times.width - free_from_in - 0.1
    if words is None or room_in < 0.3:
        return
    size = layout.size * 0.93
    words = page.cut(f"\N{MULTIPLICATION SIGN} {words}", size, room_in * page.POINTS_PER_IN / WIDER)
    place = ((free_from_in + 0.08) / layout.times.width, number + layout.dots_below)
    axes.text(
        *place,
        words,
        transform=axes.get_yaxis_transform(),
        size=size,
        color=style.ALERT,
        va="center_baseline",
        zorder=4,
        bbox={"facecolor": BANDS[number % 2], "edgecolor": "none", "pad": 0.5},  # no floor's line through the words
    )


def _write_head(figure: Figure, layout: Layout, y: float, title: str) -> None:
    """Write what the axis shows, and in the paths' colours what a dot is, above the times."""
    width_in, height_in = figure.get_size_inches()
    left = layout.times.left - layout.label_in
    right = layout.times.left + layout.times.width
    for name, path in (("two passes", TWO_PASS), ("fused", FUSED)):
        right -= page.width_pt(name, 10) * WIDER / page.POINTS_PER_IN
        figure.text(right / width_in, y / height_in, name, size=10, va="baseline")
        marker = page.Box(right - 0.2, y - 0.01, 0.16, 0.16).axes_on(figure)
        marker.set_axis_off()
        marker.plot([0], [0], "o", color=style.COLOURS[path], markersize=8)
        right -= 0.4
    # A phone's chart has less room than the longest unit takes.
    wide_in = page.width_pt(title, 11.5, bold=True) * WIDER / page.POINTS_PER_IN
    size = 11.5 * min(1.0, (right + 0.15 - left) / wide_in)
    figure.text(left / width_in, y / height_in, title, size=size, weight="bold", va="baseline")


def _draw_floors(figure: Figure, axes: Axes, floors: dict[str, float], layout: Layout, scale: TimeScale) -> None:
    """Draw a dashed line for each path's arithmetic, with its words above the rows."""
    ordered = sorted(floors.items(), key=lambda item: item[1])
    words = [f"{'arithmetic alone ' if number == 0 else ''}{duration(s)}" for number, (_, s) in enumerate(ordered)]
    widths = [page.width_pt(text, 9) * WIDER / page.POINTS_PER_IN for text in words]
    places = spread([scale.inches(s) for _, s in ordered], widths, -layout.label_in, layout.times.width, 0.15)
    for (path, s), text, place in zip(ordered, words, places, strict=True):
        axes.axvline(s, color=style.COLOURS[path], linewidth=1.4, linestyle=(0, (4, 2)), zorder=1)
        axes.annotate(
            text,
            (place / layout.times.width, 1),
            (0, 10),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="center",
            va="baseline",
            size=9,
            color=style.MUTED,
        )
        axes.plot(
            [scale.inches(s) / layout.times.width, place / layout.times.width],
            [1, 1 + 0.11 / layout.times.height],
            transform=axes.transAxes,
            color=style.COLOURS[path],
            linewidth=1.2,
            clip_on=False,
        )


def _unit(longest: float) -> tuple[float, str]:
    for least, scale, name in ((0.1, 1.0, "Seconds"), (1e-4, 1e3, "Milliseconds")):
        if longest >= least:
            return scale, name
    return 1e6, "Microseconds"
