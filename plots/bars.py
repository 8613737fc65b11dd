"""bench_gspo_bars.png: how long a step takes and how many tokens a second that is, the paths side by side."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from plots import page, style, words
from plots.columns import Panel, draw_panel
from plots.measures import Bar, Measures, measures
from plots.results import Result
from plots.sheet import Sheet

BODY_IN, STACKED_IN = 4.0, 3.25  # the latter for each panel where they stand one above the other
PANEL_GAP_IN = 0.5
UNITS = ((0.1, 1.0, "Seconds", "s"), (1e-4, 1e3, "Milliseconds", "ms"), (0.0, 1e6, "Microseconds", "µs"))


def draw(figure: Sheet, result: Result) -> None:
    """Draw the whole picture, and size the figure for it."""
    drawn = measures(result)
    head = page.heading(words.title(result), words.alert(result), words.verdict(result), words.where(result))
    box = page.lay_out(figure, head, _foot(result, words.legend(drawn)), body_in(drawn, figure.size.width_in))
    draw_body(figure, box, drawn)


def body_in(drawn: Measures, width_in: float) -> float:
    """Return how high the panels are, in inches, in a box of that width."""
    return STACKED_IN * len(_panels(drawn)) if width_in < page.NARROW_IN else BODY_IN


def draw_body(figure: Figure, box: page.Box, drawn: Measures) -> None:
    """Draw the panels alone, without a word about the run, into a box of the figure."""
    panels = _panels(drawn)
    gaps = len(panels) - 1
    for place, panel in enumerate(panels):
        if box.width < page.NARROW_IN:
            height = (box.height - gaps * PANEL_GAP_IN) / len(panels)
            part = page.Box(box.left, box.bottom + (gaps - place) * (height + PANEL_GAP_IN), box.width, height)
        else:
            width = (box.width - gaps * PANEL_GAP_IN) / len(panels)
            part = page.Box(box.left + place * (width + PANEL_GAP_IN), box.bottom, width, box.height)
        draw_panel(figure, part, panel)


def _panels(drawn: Measures) -> list[Panel]:
    seconds = _ordered(drawn.seconds)
    scale, name, unit = _unit(seconds)
    panels = [Panel(f"{name} a step, {drawn.centre}", "lower is better", seconds, scale, f" {unit}")]
    if drawn.tokens:
        title = f"Target tokens a second, {drawn.centre}"
        panels.append(Panel(title, "higher is better", _ordered(drawn.tokens), 1.0, ""))
    return panels


def _foot(result: Result, legend: str) -> list[page.Text]:
    foot = [page.Text(line, 10, above=2) for line in words.other_comparisons(result)]
    for line, unstable in words.cautions(result):
        foot.append(page.Text(line, 9.5, style.ALERT if unstable else style.INK, above=2, detail=not unstable))
    return foot + page.small_print([legend, *words.notes(result), words.source(result)])


def _ordered(bars: Sequence[Bar]) -> tuple[Bar, ...]:
    return tuple(sorted(bars, key=lambda bar: style.ORDER.index(bar.path)))


def _unit(bars: Sequence[Bar]) -> tuple[float, str, str]:
    """Return the factor from seconds, the unit's name and its sign, chosen by the longest bar."""
    longest = max(bar.height for bar in bars)
    return next((scale, name, sign) for least, scale, name, sign in UNITS if longest >= least)
