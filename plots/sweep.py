"""sweep.png: step time and peak memory of each server setting, the arithmetic's floor drawn in, failures named."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plots import page, style, sweep_words
from plots.sheet import Sheet
from plots.sweep_file import Sweep
from plots.sweep_layout import BANDS, WIDER, Layout, body_in, floors_of, layout_in, title_y
from plots.sweep_times import draw_times


def draw(figure: Sheet, sweep: Sweep) -> None:
    """Draw the whole picture, and size the figure for it."""
    head = page.heading(sweep_words.title(sweep), sweep_words.partial(sweep), sweep_words.verdict(sweep), sweep_words.where(sweep))
    width_in = figure.size.width_in - 2 * page.MARGIN_IN
    box = page.lay_out(figure, head, page.small_print(sweep_words.small_print(sweep)), body_in(sweep, width_in))
    draw_body(figure, box, sweep)


def draw_body(figure: Figure, box: page.Box, sweep: Sweep) -> None:
    """Draw the rows alone, without a word about the sweep, into a box of the figure: as many as it has room for, the fastest."""
    layout = layout_in(box, sweep)
    axes = draw_times(figure, sweep, layout)
    _write_labels(axes, sweep, layout)
    if layout.memory is not None:
        _draw_memory(figure, layout, layout.memory, title_y(layout, floors_of(sweep)))
    if line := sweep_words.left_out(sweep, layout.rows):
        width_in, height_in = figure.get_size_inches()
        figure.text(box.left / width_in, (box.bottom + 0.05) / height_in, line, size=9, color=style.MUTED, va="bottom")


def _write_labels(axes: Axes, sweep: Sweep, layout: Layout) -> None:
    best = sweep_words.best_row(sweep)
    for number, row in enumerate(layout.rows):
        bold = row is best
        peak = "" if layout.label_in else sweep_words.peak(row)
        memory_in = page.width_pt(peak, layout.size) * WIDER / page.POINTS_PER_IN
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
        if peak:
            place = (1, number - 0.24)
            axes.text(*place, peak, transform=axes.get_yaxis_transform(), size=layout.size, ha="right", va="center_baseline")


def _draw_memory(figure: Figure, layout: Layout, box: page.Box, y: float) -> None:
    axes = box.axes_on(figure)
    axes.set_ylim(len(layout.rows) - 0.5, -0.5)
    axes.set_axis_off()
    size = layout.size * 0.93
    words = [sweep_words.peak(row) for row in layout.rows]
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
