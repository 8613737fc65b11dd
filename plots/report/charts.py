"""A picture's chart without its words, drawn for a phone and for a screen by the code that draws the PNG."""

from collections.abc import Callable

from markupsafe import Markup
from matplotlib.figure import Figure

from plots import page
from plots.report.section import Chart
from plots.svg import Alternative, svg_of

NARROW_IN, WIDE_IN = 4.2, 8.4


def chart(key: str, fill: Callable[[Figure, page.Box], None], heights_in: tuple[float, float], instead: Alternative, *legend: str) -> Chart:
    """Return the chart at both widths; `heights_in` are the narrow one's and the wide one's."""
    narrow, wide = (
        # Escaped already: an XML library wrote it.
        Markup(svg_of(fill, width_in, height_in, f"{key}-{name}-", instead))
        for name, width_in, height_in in (("narrow", NARROW_IN, heights_in[0]), ("wide", WIDE_IN, heights_in[1]))
    )
    return Chart(narrow, wide, legend)
