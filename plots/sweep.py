"""sweep.png: step time and peak memory of each server setting, the arithmetic's floor drawn in, failures named."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plots import page, style, sweep_words
from plots.numbers import rough
from plots.scales import TimeScale, draw_scale, time_scale
from plots.sheet import Sheet
from plots.spread import spread
from plots.sweep_file import Row, Sweep

FUSED, TWO_PASS = "native_1pass", "custom_2pass"
ROWS = ((16, 0.34), (40, 0.23), (10**9, 0.155))  # up to so many rows, inches a row
NARROW_ROW_IN = 0.46  # with its label above
LEAST_ROW_IN = 0.15  # where the box is too low for all rows
TITLE_IN, FLOORS_IN = 0.45, 0.33  # above the rows: what they show, and the floors' words
AXIS_IN, LEFT_OUT_IN = 0.3, 0.22  # below them: the axis, and how many rows there is no room for
WIDEST_LABEL = 0.34  # of the picture's width
MEMORY_IN, GAP_IN = 1.9, 0.3
WIDER = 1.04  # the screen's glyphs are a little wider than the font says
BANDS = (style.PAPER, style.BAND)  # behind the rows


@dataclass(frozen=True)
class Layout:
    """Where the parts of the picture stand: `rows` in the order drawn, `size` of their words in points.

    `label_in`: room for the labels left of the times; 0 in a narrow box, where a row has its label above its dots.
    """

    rows: tuple[Row, ...]
    row_in: float
    size: float
    label_in: float
    times: page.Box
    memory: page.Box | None

    @property
    def dots_below(self) -> float:
        """How far below a row's middle its dots are, in rows."""
        return 0.0 if self.label_in else 0.2


def draw(figure: Sheet, sweep: Sweep) -> None:
    """Draw the whole picture, and size the figure for it."""
    head = page.heading(sweep_words.title(sweep), sweep_words.partial(sweep), sweep_words.verdict(sweep), sweep_words.where(sweep))
    width_in = figure.size.width_in - 2 * page.MARGIN_IN
    box = page.lay_out(figure, head, page.small_print(sweep_words.small_print(sweep)), body_in(sweep, width_in))
    draw_body(figure, box, sweep)


def body_in(sweep: Sweep, width_in: float) -> float:
    """Return how high the rows and their axis are, in inches, in a box of that width."""
    row_in = next(row_in for most, row_in in ROWS if len(sweep.rows) <= most)
    return _head_in(sweep) + (NARROW_ROW_IN if width_in < page.NARROW_IN else row_in) * len(sweep.rows) + AXIS_IN


def draw_body(figure: Figure, box: page.Box, sweep: Sweep) -> None:
    """Draw the rows alone, without a word about the sweep, into a box of the figure: as many as it has room for, the fastest."""
    room_in = box.height - _head_in(sweep) - AXIS_IN
    rows = sweep.rows
    if room_in / len(rows) < LEAST_ROW_IN:
        room_in -= LEFT_OUT_IN
        rows = _shown(sweep, max(1, int(room_in / LEAST_ROW_IN)))
    layout = _layout(box, _head_in(sweep), rows, min(0.5, room_in / len(rows)))
    axes = _draw_times(figure, sweep, layout)
    _write_labels(axes, sweep, layout)
    if layout.memory is not None:
        _draw_memory(figure, layout, layout.memory, _title_y(layout, _floors(sweep)))
    if line := sweep_words.left_out(sweep, rows):
        width_in, height_in = figure.get_size_inches()
        figure.text(box.left / width_in, (box.bottom + 0.05) / height_in, line, size=9, color=style.MUTED, va="bottom")


def _head_in(sweep: Sweep) -> float:
    return TITLE_IN + (FLOORS_IN if _floors(sweep) else 0)


def _shown(sweep: Sweep, most: int) -> tuple[Row, ...]:
    """Return as many rows as there is room for, in their order: the fastest."""
    fastest = sorted(sweep.rows, key=lambda row: row.native_s or row.two_pass_s or float("inf"))[:most]
    return tuple(row for row in sweep.rows if row in fastest)


def _layout(box: page.Box, head_in: float, rows: tuple[Row, ...], row_in: float) -> Layout:
    height = row_in * len(rows)
    bottom = box.bottom + box.height - head_in - height
    if box.width < page.NARROW_IN:
        return Layout(rows, row_in, 9.0, 0.0, page.Box(box.left, bottom, box.width, height), None)
    size = min(10.0, row_in * page.POINTS_PER_IN / 1.45)
    widest = max(page.width_pt(row.label, size, bold=True) for row in rows) * WIDER / page.POINTS_PER_IN + 0.15
    label_in = min(widest, WIDEST_LABEL * box.width)
    memory_in = MEMORY_IN + GAP_IN if any(row.peak_memory_bytes is not None for row in rows) else 0.0
    times = page.Box(box.left + label_in, bottom, box.width - label_in - memory_in, height)
    memory = page.Box(times.left + times.width + GAP_IN, bottom, MEMORY_IN, height) if memory_in else None
    return Layout(rows, row_in, size, label_in, times, memory)


def _draw_times(figure: Figure, sweep: Sweep, layout: Layout) -> Axes:
    axes = layout.times.axes_on(figure)
    axes.set_ylim(len(layout.rows) - 0.5, -0.5)
    axes.yaxis.set_visible(False)
    axes.grid(axis="x")
    floors = _floors(sweep)
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
    title = f"{unit} a step"
    if layout.label_in:  # a narrow box has no room for more
        title += ", median" + (", logarithmic" if scale.log else "")
    _write_head(figure, layout, _title_y(layout, floors), title)
    _draw_floors(figure, axes, floors, layout, scale)
    return axes


def _floors(sweep: Sweep) -> dict[str, float]:
    """Return the seconds that each path's arithmetic alone would take, where the file tells and there is a time beside them."""
    if sweep.roofline is None or not any(row.native_s or row.two_pass_s for row in sweep.rows):
        return {}
    return {path: s for path, s in sweep.roofline.floor_s.items() if path in (FUSED, TWO_PASS) and s > 0}


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
            rough(s),
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
        free_from = scale.inches(longest) + (dot + page.width_pt(rough(longest), layout.size) * WIDER) / page.POINTS_PER_IN
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


def _write_labels(axes: Axes, sweep: Sweep, layout: Layout) -> None:
    best = sweep_words.best_row(sweep)
    for number, row in enumerate(layout.rows):
        bold = row is best
        memory = "" if layout.label_in or row.peak_memory_bytes is None else sweep_words.memory(row.peak_memory_bytes)
        memory_in = page.width_pt(memory, layout.size) * WIDER / page.POINTS_PER_IN
        room_in = (layout.label_in or layout.times.width - memory_in) - 0.1
        axes.text(
            -layout.label_in / layout.times.width,
            number if layout.label_in else number - 0.24,
            page.cut(row.label, layout.size, room_in * page.POINTS_PER_IN / WIDER, bold, middle=True),
            transform=axes.get_yaxis_transform(),
            size=layout.size,
            weight="bold" if bold else "normal",
            color=style.INK if row.status == "ok" else style.MUTED,
            va="center_baseline",
            bbox=None if layout.label_in else {"facecolor": style.BEST if bold else BANDS[number % 2], "edgecolor": "none", "pad": 0.5},
        )
        if memory:
            place = (1, number - 0.24)
            axes.text(*place, memory, transform=axes.get_yaxis_transform(), size=layout.size, ha="right", va="center_baseline")


def _title_y(layout: Layout, floors: dict[str, float]) -> float:
    return layout.times.bottom + layout.times.height + 0.2 + (FLOORS_IN if floors else 0)


def _write_head(figure: Figure, layout: Layout, y: float, title: str) -> None:
    """Write what the axis shows, and in the paths' colours what a dot is, above the times."""
    width_in, height_in = figure.get_size_inches()
    left = layout.times.left - layout.label_in
    figure.text(left / width_in, y / height_in, title, size=11.5, weight="bold", va="baseline")
    right = layout.times.left + layout.times.width
    for name, path in (("two passes", TWO_PASS), ("fused", FUSED)):
        right -= page.width_pt(name, 10) * WIDER / page.POINTS_PER_IN
        figure.text(right / width_in, y / height_in, name, size=10, va="baseline")
        marker = page.Box(right - 0.2, y - 0.01, 0.16, 0.16).axes_on(figure)
        marker.set_axis_off()
        marker.plot([0], [0], "o", color=style.COLOURS[path], markersize=8)
        right -= 0.4


def _draw_floors(figure: Figure, axes: Axes, floors: dict[str, float], layout: Layout, scale: TimeScale) -> None:
    """Draw a dashed line for each path's arithmetic, with its words above the rows."""
    ordered = sorted(floors.items(), key=lambda item: item[1])
    words = [f"{'arithmetic alone ' if number == 0 else ''}{rough(s)}" for number, (_, s) in enumerate(ordered)]
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


def _draw_memory(figure: Figure, layout: Layout, box: page.Box, y: float) -> None:
    axes = box.axes_on(figure)
    axes.set_ylim(len(layout.rows) - 0.5, -0.5)
    axes.set_axis_off()
    size = layout.size * 0.93
    words = [sweep_words.memory(row.peak_memory_bytes) if row.peak_memory_bytes is not None else "" for row in layout.rows]
    words_in = max(page.width_pt(text, size) for text in words) * WIDER / page.POINTS_PER_IN + 0.08
    largest = max(row.peak_memory_bytes or 0.0 for row in layout.rows) or 1.0
    axes.set_xlim(0, largest * box.width / (box.width - words_in))
    for number, (row, text) in enumerate(zip(layout.rows, words, strict=True)):
        count = row.peak_memory_bytes
        if count is None:
            continue
        axes.barh(number, count, 0.62, color=style.MEMORY, gid="memory")
        axes.annotate(text, (count, number), (4, 0), textcoords="offset points", va="center_baseline", size=size)
    width_in, height_in = figure.get_size_inches()
    figure.text(box.left / width_in, y / height_in, "Peak memory", size=11.5, weight="bold", va="baseline")


def _unit(longest: float) -> tuple[float, str]:
    for least, scale, name in ((0.1, 1.0, "Seconds"), (1e-4, 1e3, "Milliseconds")):
        if longest >= least:
            return scale, name
    return 1e6, "Microseconds"
