"""A picture's chart without its words, drawn for a phone and for a screen by the code that draws the PNG."""

from collections.abc import Callable

from markupsafe import Markup
from matplotlib.figure import Figure

from plots import page
from plots.report.section import Chart
from plots.svg import Alternative, svg_of

NARROW_IN, WIDE_IN = 4.2, 9.0


def chart[T](
    key: str,
    draw_body: Callable[[Figure, page.Box, T], None],
    body_in: Callable[[T, float], float],
    data: T,
    instead: Alternative,
    *legend: str,
) -> Chart:
    """Return the chart at both widths, as a picture's module draws it and says how high it is."""

    def drawn(name: str, width_in: float) -> Markup:
        # Escaped already: an XML library wrote it.
        made = svg_of(lambda figure, box: draw_body(figure, box, data), width_in, body_in(data, width_in), f"{key}-{name}-", instead)
        return Markup(made)

    return Chart(drawn("narrow", NARROW_IN), drawn("wide", WIDE_IN), legend)
