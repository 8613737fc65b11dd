"""scale.png: how much faster more GPUs are, with the same batch and with one that grows, and what a step takes there."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from plots import page, scaling_words, style
from plots.numbers import brief, duration, percent, tick
from plots.scaling_file import Row, Scaling
from plots.sheet import Sheet

BARS_IN, GAP_IN = 2.2, 0.45
TITLE_IN = 0.6  # above the bars
LINE_IN = 0.21  # of what stands below them: the numbers of GPUs, then the lines
FUSED = "native_1pass"
LINES = ("pace", "efficiency", "fused", "two passes", "saving")
NAMES_IN = 0.9  # left of the bars: the ticks, and the lines' names below
BAR_WIDTH, HEADROOM = 0.6, 1.08
WIDER = 1.04  # the screen's glyphs are a little wider than the font says


def draw(figure: Sheet, scaling: Scaling) -> None:
    """Draw the whole picture, and size the figure for it."""
    words = scaling_words
    head = page.heading(words.title(scaling), words.partial(scaling), words.verdict(scaling), words.where(scaling))
    foot = page.small_print([*words.failures(scaling), *words.small_print(scaling)])
    box = page.lay_out(figure, head, foot, body_in(scaling, figure.size.width_in - 2 * page.MARGIN_IN))
    draw_body(figure, box, scaling)


def body_in(scaling: Scaling, width_in: float) -> float:
    """Return how high the panels are, in inches, in a box of that width."""
    panels = len(_batches(scaling)) if width_in < page.NARROW_IN else 1
    return panels * (TITLE_IN + BARS_IN + _below_in()) + (panels - 1) * GAP_IN


def draw_body(figure: Figure, box: page.Box, scaling: Scaling) -> None:
    """Draw the panels alone into a box of the figure; in a narrow one they stand one above the other."""
    batches = _batches(scaling)
    heights = [value for row in scaling.rows for value in (scaling.pace(row), scaling.ideal(row)) if value is not None]
    top = max(heights, default=1.0) * HEADROOM
    gaps = (len(batches) - 1) * GAP_IN
    for place, batch in enumerate(batches):
        if box.width < page.NARROW_IN:
            height = (box.height - gaps) / len(batches)
            part = page.Box(box.left, box.bottom + (len(batches) - 1 - place) * (height + GAP_IN), box.width, height)
        else:
            width = (box.width - gaps) / len(batches)
            part = page.Box(box.left + place * (width + GAP_IN), box.bottom, width, box.height)
        _draw_panel(figure, part, scaling, batch, top)


def _batches(scaling: Scaling) -> list[str]:
    return [batch for batch in scaling_words.PANELS if any(row.batch == batch for row in scaling.rows)]


def _below_in() -> float:
    return LINE_IN * (len(LINES) + 1) + 0.1


def _draw_panel(figure: Figure, box: page.Box, scaling: Scaling, batch: str, top: float) -> None:
    rows = scaling.of(batch)
    left_in = NAMES_IN
    area = page.Box(box.left + left_in, box.bottom + _below_in(), box.width - left_in, box.height - _below_in() - TITLE_IN)
    axes = area.axes_on(figure)
    axes.set_xlim(-0.5, len(rows) - 0.5)
    axes.set_ylim(0, top)
    axes.xaxis.set_visible(False)
    axes.yaxis.set_major_locator(FixedLocator([value for value in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(0, top) if value <= top]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{tick(value)} \N{MULTIPLICATION SIGN}"))
    slot_pt = area.width / len(rows) * page.POINTS_PER_IN / WIDER
    for place, row in enumerate(rows):
        _draw_bar(axes, place, row, scaling, slot_pt)
        _write_below(axes, area, place, row, scaling, slot_pt)
    width_in, height_in = figure.get_size_inches()
    title = scaling_words.PANELS[batch].format(noun=scaling_words.noun(scaling))
    figure.text(box.left / width_in, (box.bottom + box.height - 0.25) / height_in, title, size=11.5, weight="bold")
    hint = scaling_words.hint(scaling)
    figure.text(box.left / width_in, (box.bottom + box.height - 0.45) / height_in, hint, size=10, color=style.MUTED)
    for number, name in enumerate(LINES):
        middle_in = area.bottom - LINE_IN * (number + 1.65)
        figure.text(box.left / width_in, middle_in / height_in, name, size=9.5, color=style.MUTED, va="center_baseline")


def _draw_bar(axes: Axes, place: int, row: Row, scaling: Scaling, slot_pt: float) -> None:
    pace, ideal = scaling.pace(row), scaling.ideal(row)
    if ideal is not None and row is not scaling.reference:
        ends = [place - BAR_WIDTH / 2 - 0.06, place + BAR_WIDTH / 2 + 0.06]
        axes.plot(ends, [ideal, ideal], color=style.INK, linewidth=1.2, linestyle=(0, (3, 2)), gid="ideal")
    if pace is None:
        words = page.cut(f"\N{MULTIPLICATION SIGN} {scaling_words.failure(row)}", 9, slot_pt)
        axes.annotate(words, (place, 0), (0, 8), textcoords="offset points", ha="center", size=9, color=style.ALERT)
        return
    axes.bar(place, pace, BAR_WIDTH, color=style.COLOURS[FUSED], gid="pace")


def _write_below(axes: Axes, area: page.Box, place: int, row: Row, scaling: Scaling, slot_pt: float) -> None:
    """Write a row's GPUs and numbers below its bar, a line each."""
    pace, share = scaling.pace(row), scaling_words.efficiency_pct(scaling, row)
    words_of = {
        "pace": None if pace is None else f"{brief(pace)} \N{MULTIPLICATION SIGN}",
        "efficiency": None if share is None else percent(share),
        "fused": None if row.native_s is None else duration(row.native_s),
        "two passes": None if row.two_pass_s is None else duration(row.two_pass_s),
        "saving": None if row.saving_pct is None else percent(row.saving_pct),
    }
    heading = scaling_words.counted(scaling, row.gpus)
    for number, (words, bold) in enumerate([(heading, True), *((words_of[name], False) for name in LINES)]):
        if words is not None:
            at = (place, -LINE_IN * (number + 0.65) / area.height)
            size = min(9.5, 9.5 * slot_pt / max(1.0, page.width_pt(words, 9.5, bold) + 6))
            axes.text(
                *at,
                words,
                transform=axes.get_xaxis_transform(),
                size=size,
                weight="bold" if bold else "normal",
                ha="center",
                va="center_baseline",
            )
