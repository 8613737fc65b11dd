"""Which picture is drawn from which file: a new picture is one module with a `draw`, and one entry here.

A picture's `draw(figure, data)` writes its head and foot and leaves the rest to `draw_body(figure, box, ...)`, which fills a box of any
width with the chart alone: the page draws that part too, once for a phone and once for a screen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from plots import bars
from plots.render import png_of, write_whole
from plots.results import read_result


@dataclass(frozen=True)
class Picture[T]:
    """A file's name in the results folder, the picture's name, how to read the one and how to draw the other."""

    source: str
    target: str
    read: Callable[[Path], T]
    draw: Callable[[Figure, T], None]

    def make(self, source: Path, target: Path) -> None:
        """Draw one file; raises PlotInputError or PlotOutputError."""
        write_whole(target, png_of(self.draw, self.read(source)))


BARS = Picture("last_gspo_bench.json", "bench_gspo_bars.png", read_result, bars.draw)
PICTURES: tuple[Picture[Any], ...] = (BARS,)
