"""bench_gspo_bars.png: how long a step takes and how many tokens a second that is, the paths side by side."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from plots import page, style, words
from plots.columns import Panel, draw_panel
from plots.measures import Bar, Measures, measures
from plots.results import Result

BODY_IN = 4.0
PANEL_GAP_IN = 0.5
NARROW_IN = 6.0  # in a narrower box the panels stand one above the other
# Left to right, so that the headline's two paths are neighbours, and so are the fused path and its control.
ORDER = ("sdk_custom", "custom_2pass", "native_1pass", "native_1pass_control")
UNITS = ((0.1, 1.0, "Seconds", "s"), (1e-4, 1e3, "Milliseconds", "ms"), (0.0, 1e6, "Microseconds", "µs"))


def draw(figure: Figure, result: Result) -> None:
    """Draw the whole picture, and size the figure for it."""
    drawn = measures(result)
    box = page.lay_out(figure, _head(result), _foot(result, words.legend(drawn)), BODY_IN)
    draw_body(figure, box, drawn)


def draw_body(figure: Figure, box: page.Box, drawn: Measures) -> None:
    """Draw the panels alone, without a word about the run, into a box of the figure."""
    panels = _panels(drawn)
    gaps = len(panels) - 1
    for place, panel in enumerate(panels):
        if box.width < NARROW_IN:
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


def _head(result: Result) -> list[page.Text]:
    head = [page.Text(words.title(result), 17, bold=True)]
    if stopped := words.partial(result):
        head.append(page.Text(stopped, 11, style.ALERT, bold=True, above=2))
    if verdict := words.verdict(result):
        head.append(page.Text(verdict, 12, above=2))
    return head + [page.Text(line, 10, style.MUTED, above=0 if i else 4) for i, line in enumerate(words.where(result))]


def _foot(result: Result, legend: str) -> list[page.Text]:
    foot = [page.Text(line, 10, above=2) for line in words.other_comparisons(result)]
    foot += [page.Text(line, 9.5, style.ALERT if unstable else style.INK, above=2) for line, unstable in words.cautions(result)]
    small = [legend, *words.notes(result), words.source(result)]
    return foot + [page.Text(line, 9, style.MUTED, above=0 if i else 6) for i, line in enumerate(small)]


def _ordered(bars: Sequence[Bar]) -> tuple[Bar, ...]:
    return tuple(sorted(bars, key=lambda bar: ORDER.index(bar.path)))


def _unit(bars: Sequence[Bar]) -> tuple[float, str, str]:
    """Return the factor from seconds, the unit's name and its sign, chosen by the longest bar."""
    longest = max(bar.height for bar in bars)
    return next((scale, name, sign) for least, scale, name, sign in UNITS if longest >= least)
