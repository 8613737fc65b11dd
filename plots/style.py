"""One look for every picture: colours, sizes and matplotlib's settings."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib

INK, MUTED, FAINT, ALERT, PAPER = "#1b1f24", "#57606a", "#d8dee4", "#b3261e", "#ffffff"
BAND, BEST, MEMORY = "#f6f8fa", "#eaf3f9", "#b9c2cc"  # a sweep's every second row, its best row, its bars of memory

# Okabe and Ito's palette, told apart with every common colour blindness; a path keeps its colour in every picture.
# In the order in which the paths stand in every picture: the headline's two are neighbours, and so are the fused path and its control.
COLOURS = {
    "sdk_custom": "#cc79a7",
    "custom_2pass": "#e69f00",
    "native_1pass": "#0072b2",
    "native_1pass_control": "#56b4e9",
}
ORDER = tuple(COLOURS)
# Of a phase: a hue for whose it is, shades within it; found by a search for what no colour blindness confuses.
PHASES = {
    "engine": ("#3897e3", "#1875a7", "#0f4768"),
    "wait": ("#a6c7f2", "#1f7fdc", "#125881"),
    "wire": ("#e69f00", "#f2c35c", "#b87d00"),
    "client": ("#00b55a", "#84e0b2", "#00381c"),
    "unexplained": ("#c3cad2",),
}
# Of runs in one picture; without the palette's yellow, which is faint on white.
RUNS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000")
# Every colour that stands for data.
DATA = (*COLOURS.values(), *(shade for shades in PHASES.values() for shade in shades), *RUNS, MEMORY)
SETTINGS: dict[Any, Any] = {
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "axes.facecolor": "none",
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same picture on every machine
    "font.size": 10,
    "text.color": INK,
    "text.parse_math": False,  # a dollar sign in a model's name is a dollar sign
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.spines.left": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": FAINT,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.color": INK,
    "ytick.color": MUTED,
    "ytick.labelsize": 9.5,
}


@contextmanager
def applied() -> Iterator[None]:
    """Draw in this style inside the block, whatever the user's matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


@contextmanager
def changed(settings: dict[Any, Any]) -> Iterator[None]:
    """Change a few of matplotlib's settings inside the block."""
    with matplotlib.rc_context(settings):
        yield
