"""The page around a picture's axes: lines of text above and below, wrapped to the width, and room for the body."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from plots import style
from plots.numbers import ELLIPSIS, UNITS, clipped
from plots.sheet import Sheet

MARGIN_IN = 0.35
LINE_PITCH = 1.42  # of the font's size
POINTS_PER_IN = 72.0
GLYPHS_WIDER = 0.98  # the screen's glyphs are a little wider than the font says
MOST_LINES_ON_A_SLIDE = 2  # of one paragraph
LEAST_BODY = 0.5  # of a slide's height
NARROW_IN = 6.0  # in a narrower box, what stands side by side stands one above the other
_BREAKS = re.compile(rf"(?<!\d) | (?!{UNITS})")  # a number and its unit stay together


@dataclass(frozen=True)
class Text:
    """One paragraph. `size` and `above` (the room before it) are in points; a `detail` is left out on a slide.

    `least`: down to which size it may go to stay on one line.
    """

    words: str
    size: float = 10
    color: str = style.INK
    bold: bool = False
    above: float = 0
    detail: bool = False
    least: float | None = None


@dataclass(frozen=True)
class Box:
    """A rectangle in inches from the figure's lower left corner."""

    left: float
    bottom: float
    width: float
    height: float

    def axes_on(self, figure: Figure) -> Axes:
        """Return new axes that fill the box."""
        width_in, height_in = figure.get_size_inches()
        return figure.add_axes((self.left / width_in, self.bottom / height_in, self.width / width_in, self.height / height_in))


def lay_out(figure: Sheet, head: Sequence[Text], foot: Sequence[Text], body_in: float) -> Box:
    """Size the figure to its texts, write them, and return the box that is left for the body.

    That is `body_in` inches high, or on a slide what its words leave, which are shortened first.
    """
    size = figure.size
    head_lines, foot_lines = _lines(figure, head), _lines(figure, foot)
    if size.height_in:
        room_in = size.height_in * (1 - LEAST_BODY) - 2 * MARGIN_IN
        while _height_in(head_lines + foot_lines) > room_in and (foot_lines or len(head_lines) > 1):
            (foot_lines or head_lines).pop()
        body_in = size.height_in - 2 * MARGIN_IN - _height_in(head_lines + foot_lines)
    foot_in = _height_in(foot_lines)
    height = size.height_in or 2 * MARGIN_IN + _height_in(head_lines) + body_in + foot_in
    figure.set_size_inches(size.width_in, height)
    _write(figure, head_lines, height - MARGIN_IN)
    _write(figure, foot_lines, MARGIN_IN + foot_in)
    return Box(MARGIN_IN, MARGIN_IN + foot_in, size.width_in - 2 * MARGIN_IN, body_in)


def heading(title: str, alert: str | None, verdict: str | None, where: Sequence[str]) -> list[Text]:
    """Return what stands above every picture: what was found, what speaks against the whole run, the evidence, what ran where."""
    head = [Text(title, 17, bold=True, least=15)]
    if alert:
        head.append(Text(alert, 11, style.ALERT, bold=True, above=2))
    if verdict:
        head.append(Text(verdict, 12, above=2))
    return head + [Text(line, 10, style.MUTED, above=0 if i else 4) for i, line in enumerate(where)]


def small_print(lines: Sequence[str]) -> list[Text]:
    """Return what stands below every picture: how to read it, and where it comes from."""
    return [Text(line, 9, style.MUTED, above=0 if i else 6, detail=True) for i, line in enumerate(lines)]


def wrapped(words: str, size: float, bold: bool, widest_pt: float) -> list[str]:
    """Break a text into lines of at most `widest_pt` points; a word that is wider than a line is broken too."""
    lines: list[str] = []
    line = ""
    for word in _BREAKS.split(words):
        longer = f"{line} {word}" if line else word
        if width_pt(longer, size, bold) <= widest_pt:
            line = longer
            continue
        if line:
            lines.append(line)
        *full, line = _broken(word, size, bold, widest_pt)
        lines += full
    return [*lines, line]


def cut(words: str, size: float, widest_pt: float, bold: bool = False, middle: bool = False) -> str:
    """Return the text on one line of at most `widest_pt` points, its end (or its `middle`) left out where it is longer."""
    kept, made = len(words), words
    while kept and width_pt(made, size, bold) > widest_pt:
        kept = min(kept - 1, int(kept * 0.95))
        made = clipped(words, kept + 1) if middle else words[:kept].rstrip() + ELLIPSIS
    return made


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


def _lines(figure: Sheet, texts: Sequence[Text]) -> list[Text]:
    if not figure.size.words:
        return []
    widest_pt = (figure.size.width_in - 2 * MARGIN_IN) * POINTS_PER_IN * GLYPHS_WIDER
    on_a_slide = figure.size.height_in is not None
    lines = []
    for text in texts:
        if text.detail and on_a_slide:
            continue
        size = _one_line_size(text, widest_pt)
        pieces = wrapped(text.words, size, text.bold, widest_pt)
        if on_a_slide and len(pieces) > MOST_LINES_ON_A_SLIDE:
            pieces = pieces[:MOST_LINES_ON_A_SLIDE]
            pieces[-1] = pieces[-1][:-2].rstrip() + ELLIPSIS
        lines += [replace(text, words=words, size=size, above=0 if number else text.above) for number, words in enumerate(pieces)]
    return lines


def _one_line_size(text: Text, widest_pt: float) -> float:
    """Return the size at which the text stays on one line, or its own where its least would not do."""
    width = width_pt(text.words, text.size, text.bold)
    if text.least is None or width <= widest_pt or width * text.least > widest_pt * text.size * GLYPHS_WIDER:
        return text.size
    return text.size * widest_pt / width * GLYPHS_WIDER


def _height_in(lines: Sequence[Text]) -> float:
    return sum(line.above + line.size * LINE_PITCH for line in lines) / POINTS_PER_IN


def _write(figure: Sheet, lines: Sequence[Text], top_in: float) -> None:
    width_in, height_in = figure.get_size_inches()
    y_pt = top_in * POINTS_PER_IN
    for line in lines:
        y_pt -= line.above + line.size * LINE_PITCH
        figure.text(
            MARGIN_IN / width_in,
            (y_pt + 0.35 * line.size) / (height_in * POINTS_PER_IN),
            line.words,
            size=line.size,
            color=line.color,
            weight="bold" if line.bold else "normal",
            va="baseline",
        )
