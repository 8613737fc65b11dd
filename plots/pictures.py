"""Which picture is drawn from which file: a new picture is one module with a `draw`, and one entry here.

A picture's `draw(figure, data)` writes its head and foot and leaves the rest to `draw_body(figure, box, ...)`, which fills a box of any
width with the chart alone: the page draws that part too, once for a phone and once for a screen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plots import bars, curve, phases, scaling, sweep
from plots.checked import read_object
from plots.learning_run import KIND as LEARN
from plots.learning_run import read_runs
from plots.render import png_of, write_whole
from plots.results import read_result
from plots.scaling_file import KIND as SCALE
from plots.scaling_file import read_scaling
from plots.sheet import Sheet
from plots.size import README, Size
from plots.sweep_file import KIND as SWEEP
from plots.sweep_file import read_sweep


@dataclass(frozen=True)
class Picture[T]:
    """A file's name in the results folder, the picture's name, how to read the one and how to draw the other.

    `read` and `draw` raise PlotInputError, and NothingToDraw where the file has nothing that this picture shows.
    """

    source: str
    target: str
    read: Callable[..., T]
    draw: Callable[[Sheet, T], None]

    def make(self, target: Path, *sources: Path, size: Size = README) -> None:
        """Draw one file, or several where `read` takes them; raises PlotInputError or PlotOutputError."""
        write_whole(target, png_of(self.draw, self.read(*sources), size))


PICTURES: dict[str, Picture[Any]] = {
    "bars": Picture("last_gspo_bench.json", "bench_gspo_bars.png", read_result, bars.draw),
    "phases": Picture("last_gspo_bench.json", "bench_phases.png", read_result, phases.draw),
    "sweep": Picture("last_sweep.json", "sweep.png", read_sweep, sweep.draw),
    "scale": Picture("last_scale.json", "scale.png", read_scaling, scaling.draw),
    "curve": Picture("last_learn.json", "curve_gsm8k_gspo.png", read_runs, curve.draw),
}


def name_for(source: Path) -> str:
    """Return the name of the picture that suits a file or a run's folder; raises PlotInputError."""
    if source.is_dir() or source.suffix == ".jsonl":
        return "curve"
    return {LEARN: "curve", SWEEP: "sweep", SCALE: "scale"}.get(read_object(source).text("kind") or "", "bars")
