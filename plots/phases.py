"""bench_phases.png: where a step's time goes, a bar a path, its phases from first to last with their names below."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plots import page, phase_words, style, words
from plots.breakdown import TIMELINE, UNEXPLAINED, Breakdown
from plots.errors import NothingToDraw
from plots.phase_labels import label_phases
from plots.results import Result
from plots.sheet import Sheet

ROW_IN, ROW_FOR_SHARES_IN, LEAST_ROW_IN = 1.56, 1.42, 1.24
LEFT_OUT_FIRST = ("native_1pass_control", "sdk_custom")
LEGEND_IN, LEGEND_PITCH_IN, SWATCH_IN = 0.2, 0.22, 0.2
NAME_IN, BAR_IN = 0.3, 0.36  # of a row, from its top: the path's name, then its bar; the rest is for the phases' names


def draw(figure: Sheet, result: Result) -> None:
    """Draw the whole picture, and size the figure for it; raises NothingToDraw for a file without phases."""
    drawn = sorted(result.breakdowns, key=lambda made: style.ORDER.index(made.path))
    if not drawn:
        raise NothingToDraw(f"{result.file} has no phases")
    head = page.heading(phase_words.title(drawn), words.alert(result), phase_words.verdict(drawn), words.where(result))
    box = page.lay_out(figure, head, _foot(result, drawn), body_in(drawn, figure.size.width_in - 2 * page.MARGIN_IN))
    draw_body(figure, box, drawn)


def body_in(drawn: Sequence[Breakdown], width_in: float) -> float:
    """Return how high the bars and their words are, in inches, in a box of that width."""
    return _legend_in(_legend(drawn, width_in)) + ROW_IN * len(drawn)


def draw_body(figure: Figure, box: page.Box, drawn: Sequence[Breakdown]) -> None:
    """Draw the bars alone, without a word about the run, into a box of the figure."""
    axes = _inches(figure, box)
    rows = sorted(drawn, key=lambda made: style.ORDER.index(made.path))
    legend = _legend(rows, box.width)
    rows_in = box.height - _legend_in(legend)
    while len(rows) > 1 and rows_in / len(rows) < LEAST_ROW_IN:  # a slide: the headline's paths
        spare = next((made for path in LEFT_OUT_FIRST for made in rows if made.path == path), rows[0])
        rows = [made for made in rows if made is not spare]
    longest_s = max(max(made.step_s, sum(phase.seconds for phase in made.phases)) for made in rows)
    row_in = rows_in / len(rows)
    colours = _colours(rows)
    _draw_legend(axes, legend, box.height, rows, colours)
    for number, made in enumerate(rows):
        _draw_row(axes, made, rows_in - number * row_in, row_in, box.width / longest_s, colours)


def _foot(result: Result, drawn: Sequence[Breakdown]) -> list[page.Text]:
    foot = [page.Text(line, 10, above=2, detail=True) for line in phase_words.utilisation(result, drawn)]
    foot += [page.Text(line, 9.5, style.ALERT, above=2) for line in phase_words.sums(drawn)]
    small = [phase_words.legend(drawn), *phase_words.glossary(drawn), *phase_words.accounted(drawn)]
    return foot + page.small_print([*small, *phase_words.wire(drawn), *phase_words.clock(result), words.source(result)])


def _inches(figure: Figure, box: page.Box) -> Axes:
    """Return axes over the box whose units are inches from its lower left corner."""
    axes = box.axes_on(figure)
    axes.set_axis_off()
    axes.set_xlim(0, box.width)
    axes.set_ylim(0, box.height)
    return axes


def _legend(drawn: Sequence[Breakdown], width_in: float) -> list[list[tuple[float, str]]]:
    """Return the groups that occur in rows, each with where it begins in inches."""
    rows: list[list[tuple[float, str]]] = [[]]
    left = 0.0
    for group in (group for group in style.PHASES if any(phase_words.seconds_of(made, group) for made in drawn)):
        wide = SWATCH_IN + page.width_pt(phase_words.GROUP_NAMES[group], 9.5) * 1.04 / page.POINTS_PER_IN
        if left + wide > width_in and rows[-1]:
            rows.append([])
            left = 0.0
        rows[-1].append((left, group))
        left += wide + 0.3
    return rows


def _legend_in(rows: Sequence[object]) -> float:
    return LEGEND_IN + LEGEND_PITCH_IN * len(rows)


def _draw_legend(
    axes: Axes, legend: Sequence[Sequence[tuple[float, str]]], top_in: float, drawn: Sequence[Breakdown], colours: dict[str, str]
) -> None:
    for number, row in enumerate(legend):
        middle = top_in - LEGEND_IN / 2 - LEGEND_PITCH_IN * (number + 0.5)
        for left, group in row:
            phases = [phase for made in drawn for phase in made.phases if phase_words.group_of(phase) == group]
            longest = max(phases, key=lambda phase: phase.seconds)
            colour = colours[longest.name]
            axes.barh(middle, 0.14, 0.14, left, color=colour, hatch=_hatch(group), edgecolor=style.PAPER, linewidth=0)
            axes.text(left + SWATCH_IN, middle, phase_words.GROUP_NAMES[group], size=9.5, va="center_baseline")


def _colours(drawn: Sequence[Breakdown]) -> dict[str, str]:
    """Return a colour for each phase that occurs: a hue for whose it is, a shade within it."""
    colours: dict[str, str] = {}
    phases = {phase.name: phase for made in drawn for phase in made.phases}
    for group, shades in style.PHASES.items():
        names = sorted((name for name, phase in phases.items() if phase_words.group_of(phase) == group), key=_place)
        colours |= {name: shades[number % len(shades)] for number, name in enumerate(names)}
    return colours


def _place(name: str) -> tuple[int, str]:
    return (TIMELINE.index(name) if name in TIMELINE else len(TIMELINE), name)


def _draw_row(axes: Axes, made: Breakdown, top_in: float, row_in: float, scale: float, colours: dict[str, str]) -> None:
    """Draw one path's row below `top_in`; `scale` is in inches a second."""
    names = phase_words.row(made)
    room = axes.get_xlim()[1]
    floor_in = page.width_pt(phase_words.floor(made)[-1], 9.5) * 1.04 / page.POINTS_PER_IN + 0.25 if made.floor_s else 0.0
    name = next((name for name in names if page.width_pt(name, 11, bold=True) * 1.04 / page.POINTS_PER_IN <= room - floor_in), names[-1])
    axes.text(0, top_in - 0.13, name, size=11, weight="bold", va="baseline")
    middle = top_in - NAME_IN - BAR_IN / 2
    left = 0.0
    middles = []
    for phase in made.phases:
        width = phase.seconds * scale
        axes.barh(
            middle,
            width,
            BAR_IN,
            left,
            color=colours[phase.name],
            hatch=_hatch(phase_words.group_of(phase)),
            edgecolor=style.PAPER,
            linewidth=0.6 if width > 0.03 else 0,
            gid=f"{made.path}-{phase.name}",
        )
        middles.append(left + width / 2)
        left += width
    if made.floor_s:
        _draw_floor(axes, made, made.floor_s * scale, middle, page.width_pt(name, 11, bold=True) / page.POINTS_PER_IN + 0.2)
    label_phases(axes, made, middles, middle - BAR_IN / 2, shares=row_in >= ROW_FOR_SHARES_IN)


def _draw_floor(axes: Axes, made: Breakdown, at: float, middle: float, free_from: float) -> None:
    """Mark where the step would end if arithmetic were all; the mark's words stand where the row's name leaves room."""
    top = middle + BAR_IN / 2
    room = axes.get_xlim()[1]
    if at <= room:
        axes.plot([at, at], [middle - BAR_IN / 2, top], color=style.INK, linewidth=1.4, linestyle=(0, (2, 1)))
        axes.plot([at], [top + 0.045], "v", color=style.INK, markersize=6, clip_on=False)
    labels = [(label, page.width_pt(label, 9.5) * 1.04 / page.POINTS_PER_IN) for label in phase_words.floor(made)]
    label, width = next((pair for pair in labels if pair[1] <= room - free_from), labels[-1])
    left = max(free_from, min(at - width / 2, room - width))
    axes.text(left, top + NAME_IN - 0.13, label, size=9.5, color=style.INK, va="baseline")


def _hatch(group: str) -> str | None:
    return "////" if group == UNEXPLAINED else None
