"""The page around a picture's axes: lines of text above and below, wrapped to the width, and room for the body."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from plots import style

MARGIN_IN = 0.35
LINE_PITCH = 1.42  # of the font's size
POINTS_PER_IN = 72.0
WIDEST_LINE_PT = (style.WIDTH_IN - 2 * MARGIN_IN) * POINTS_PER_IN * 0.98  # the screen's glyphs are a little wider


@dataclass(frozen=True)
class Text:
    """One paragraph. `size` and `above` (the room before it) are in points."""

    words: str
    size: float = 10
    color: str = style.INK
    bold: bool = False
    above: float = 0


@dataclass(frozen=True)
class Box:
    """A rectangle in inches from the figure's lower left corner."""

    left: float
    bottom: float
    width: float
    height: float


def lay_out(figure: Figure, head: Sequence[Text], foot: Sequence[Text], body_in: float) -> Box:
    """Size the figure to its texts, write them, and return the box that is left for a body of `body_in` inches."""
    head_lines, foot_lines = _lines(head), _lines(foot)
    head_in, foot_in = _height_in(head_lines), _height_in(foot_lines)
    height = 2 * MARGIN_IN + head_in + body_in + foot_in
    figure.set_size_inches(style.WIDTH_IN, height)
    _write(figure, head_lines, height - MARGIN_IN, height)
    _write(figure, foot_lines, MARGIN_IN + foot_in, height)
    return Box(MARGIN_IN, MARGIN_IN + foot_in, style.WIDTH_IN - 2 * MARGIN_IN, body_in)


def wrapped(words: str, size: float, bold: bool, widest_pt: float = WIDEST_LINE_PT) -> list[str]:
    """Break a text into lines of at most `widest_pt` points; a word that is wider than a line is broken too."""
    lines: list[str] = []
    line = ""
    for word in words.split(" "):
        longer = f"{line} {word}" if line else word
        if width_pt(longer, size, bold) <= widest_pt:
            line = longer
            continue
        if line:
            lines.append(line)
        *full, line = _broken(word, size, bold, widest_pt)
        lines += full
    return [*lines, line]


def width_pt(words: str, size: float, bold: bool = False) -> float:
    """Return how wide one line of text is, in points."""
    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(words, font, ismath=False)
    return float(width)


def _broken(word: str, size: float, bold: bool, widest_pt: float) -> list[str]:
    pieces = [""]
    for letter in word:
        if pieces[-1] and width_pt(pieces[-1] + letter, size, bold) > widest_pt:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _lines(texts: Sequence[Text]) -> list[Text]:
    lines = []
    for text in texts:
        for number, words in enumerate(wrapped(text.words, text.size, text.bold)):
            lines.append(Text(words, text.size, text.color, text.bold, 0 if number else text.above))
    return lines


def _height_in(lines: Sequence[Text]) -> float:
    return sum(line.above + line.size * LINE_PITCH for line in lines) / POINTS_PER_IN


def _write(figure: Figure, lines: Sequence[Text], top_in: float, height_in: float) -> None:
    y_pt = top_in * POINTS_PER_IN
    for line in lines:
        y_pt -= line.above + line.size * LINE_PITCH
        figure.text(
            MARGIN_IN / style.WIDTH_IN,
            (y_pt + 0.35 * line.size) / (height_in * POINTS_PER_IN),
            line.words,
            size=line.size,
            color=line.color,
            weight="bold" if line.bold else "normal",
            va="baseline",
        )
