"""curve_gsm8k_gspo.png: accuracy against step and against time of work, of one learning run or of several."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from plots import curve_words, page, style
from plots.learning_run import LearningRun, Point
from plots.numbers import tick
from plots.sheet import Sheet
from plots.smoothing import smoothed, window

BODY_IN = 3.9
PANEL_GAP_IN = 0.45
AXIS_IN, TICKS_IN, TITLE_IN = 0.5, 0.55, 0.5  # below, left of and above the axes
LEGEND_PITCH_IN, SWATCH_IN = 0.24, 0.47
MOST_RAW_DOTS = 60
WAIT = 0.6  # of a run's time; where its first step ended later, the axis begins there, or the steps would lie upon each other
FEW_RUNS, LINE_PT, WIDER_BELOW_PT = 6, 2.2, 2.6
WIDER = 1.04  # the screen's glyphs are a little wider than the font says
# More runs than colours are told apart by their dashes.
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))
UNITS = ((2 * 3600.0, 3600.0, "hours"), (120.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))


@dataclass(frozen=True)
class Line:
    """How one run is drawn."""

    run: LearningRun
    name: str
    colour: str
    dash: str | tuple[int, tuple[float, ...]]
    width: float


@dataclass(frozen=True)
class Panel:
    """One panel: what its x axis is called, whether it counts whole steps, and where a point stands on it."""

    title: str
    label: str
    whole: bool
    place: Callable[[Point], float | None]


def draw(figure: Sheet, runs: Sequence[LearningRun]) -> None:
    """Draw the whole picture, and size the figure for it."""
    names = curve_words.names(runs)
    head = page.heading(curve_words.title(runs), curve_words.partial(runs), curve_words.verdict(runs, names), curve_words.where(runs))
    foot = page.small_print(curve_words.small_print(runs, is_timed(runs)))
    box = page.lay_out(figure, head, foot, body_in(runs, figure.size.width_in - 2 * page.MARGIN_IN))
    draw_body(figure, box, runs)


def body_in(runs: Sequence[LearningRun], width_in: float) -> float:
    """Return how high the panels and the runs' names are, in inches, in a box of that width."""
    panels = 2 if is_timed(runs) and width_in < page.NARROW_IN else 1
    return _legend_in(_legend_rows(_lines(runs), width_in)) + BODY_IN * panels + PANEL_GAP_IN * (panels - 1)


def draw_body(figure: Figure, box: page.Box, runs: Sequence[LearningRun]) -> None:
    """Draw the panels and the runs' names alone into a box of the figure; in a narrow one the panels stand one above the other."""
    lines = _lines(runs)
    legend = _legend_rows(lines, box.width)
    _draw_legend(figure, box, legend)
    room = page.Box(box.left, box.bottom, box.width, box.height - _legend_in(legend))
    panels = _panels(runs)
    gaps = (len(panels) - 1) * PANEL_GAP_IN
    for place, panel in enumerate(panels):
        if box.width < page.NARROW_IN:
            height = (room.height - gaps) / len(panels)
            part = page.Box(room.left, room.bottom + (len(panels) - 1 - place) * (height + PANEL_GAP_IN), room.width, height)
        else:
            width = (room.width - gaps) / len(panels)
            part = page.Box(room.left + place * (width + PANEL_GAP_IN), room.bottom, width, room.height)
        _draw_panel(figure, part, lines, panel)


def is_timed(runs: Sequence[LearningRun]) -> bool:
    """Return whether every run tells its time."""
    return all(any(point.elapsed_s is not None for point in run.points) for run in runs)


def _panels(runs: Sequence[LearningRun]) -> list[Panel]:
    panels = [Panel("Accuracy, by step", "training step", True, lambda point: float(point.step))]
    if is_timed(runs):
        times_s = [point.elapsed_s for run in runs for point in run.points if point.elapsed_s is not None]
        shown_s = max(times_s) - (min(times_s) if _begins_late(min(times_s), max(times_s)) else 0.0)
        per_unit, unit = next((seconds, name) for least, seconds, name in UNITS if shown_s >= least)
        place = lambda point: None if point.elapsed_s is None else point.elapsed_s / per_unit  # noqa: E731
        panels.append(Panel("Accuracy, by time of work", f"{unit} of work", False, place))
    return panels


def _lines(runs: Sequence[LearningRun]) -> list[Line]:
    names = curve_words.names(runs)
    lines = []
    for number, (run, name) in enumerate(zip(runs, names, strict=True)):
        # Runs of one seed can be alike to the last digit: the earlier, drawn below, is the wider.
        width = LINE_PT + (WIDER_BELOW_PT * (len(runs) - 1 - number) / (len(runs) - 1) if 1 < len(runs) <= FEW_RUNS else 0.0)
        lines.append(Line(run, name, *_look(runs, number), width))
    return lines


def _legend_in(rows: Sequence[object]) -> float:
    return LEGEND_PITCH_IN * len(rows) + 0.1 if rows else 0.0


def _look(runs: Sequence[LearningRun], number: int) -> tuple[str, str | tuple[int, tuple[float, ...]]]:
    """Return a run's colour and dash: a path's own colour where the runs are of several paths, else one a run."""
    paths = [run.path for run in runs]
    if len(runs) == 1 or (len(set(paths)) > 1 and all(path in style.COLOURS for path in paths)):
        path = paths[number]
        earlier = paths[:number].count(path)
        return style.COLOURS.get(path or "", style.RUNS[0]), DASHES[earlier % len(DASHES)]
    return style.RUNS[number % len(style.RUNS)], DASHES[number // len(style.RUNS) % len(DASHES)]


def _legend_rows(lines: Sequence[Line], room_in: float) -> list[list[tuple[float, Line]]]:
    """Return the runs' names in rows, each with where it begins in inches; a lone run needs none."""
    if len(lines) == 1:
        return []
    rows: list[list[tuple[float, Line]]] = []
    left = room_in
    for line in lines:
        width = SWATCH_IN + page.width_pt(line.name, 10) * WIDER / page.POINTS_PER_IN + 0.25
        if left + width > room_in or not rows:
            rows.append([])
            left = 0.0
        rows[-1].append((left, line))
        left += width
    return rows


def _draw_legend(figure: Figure, box: page.Box, rows: Sequence[Sequence[tuple[float, Line]]]) -> None:
    if not rows:
        return
    height = LEGEND_PITCH_IN * len(rows)
    axes = page.Box(box.left, box.bottom + box.height - height, box.width, height).axes_on(figure)
    axes.set_axis_off()
    axes.set_xlim(0, box.width)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    for number, row in enumerate(rows):
        for left, line in row:
            axes.plot([left, left + SWATCH_IN - 0.08], [number, number], color=line.colour, linestyle=line.dash, linewidth=line.width)
            room_pt = (box.width - left - SWATCH_IN) * page.POINTS_PER_IN / WIDER
            axes.text(left + SWATCH_IN, number, page.cut(line.name, 10, room_pt), size=10, va="center_baseline")


def _draw_panel(figure: Figure, box: page.Box, lines: Sequence[Line], panel: Panel) -> None:
    width_in, height_in = figure.get_size_inches()
    axes = page.Box(box.left + TICKS_IN, box.bottom + AXIS_IN, box.width - TICKS_IN, box.height - AXIS_IN - TITLE_IN).axes_on(figure)
    figure.text(box.left / width_in, (box.bottom + box.height - 0.28) / height_in, panel.title, size=11.5, weight="bold", va="baseline")
    for line in lines:
        _draw_run(axes, line, panel.place, faint=len(lines) > 4)
    highest = max(max(point.correct or 0.0, point.held_out or 0.0) for line in lines for point in line.run.points)
    top = min(1.0, max(0.1, highest * 1.12)) + 0.005
    axes.set_ylim(0, top)
    axes.yaxis.set_major_locator(_ticks(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]), 0, top))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g} %"))
    places = [at for line in lines for point in line.run.points if (at := panel.place(point)) is not None]
    low, high = min(places), max(places)
    late = 0.2 * high < low < high if panel.whole else _begins_late(low, high)
    low = low if late else 0.0
    margin = (high - low) * 0.02 or 1.0
    axes.set_xlim(low - margin, high + margin)
    axes.xaxis.set_major_locator(_ticks(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10], integer=panel.whole), low, high))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(float(f"{value:.6g}"))))
    axes.tick_params(axis="x", labelsize=9.5, labelcolor=style.MUTED)
    since = ", shown from the end of the first step" if late and not panel.whole else ""
    axes.set_xlabel(panel.label + since, size=10, color=style.MUTED)


def _begins_late(low: float, high: float) -> bool:
    """Return whether a run's first step, in which a sampler starts, took most of its time."""
    return WAIT * high < low < high


def _ticks(locator: MaxNLocator, low: float, high: float) -> FixedLocator:
    """Return the locator's ticks, none beyond the ends."""
    return FixedLocator([value for value in locator.tick_values(low, high) if low <= value <= high])


def _draw_run(axes: Axes, line: Line, place: Callable[[Point], float | None], faint: bool) -> None:
    trained = [(at, point.correct) for point in line.run.points if point.correct is not None and (at := place(point)) is not None]
    over = window(line.run)
    if trained:
        along, raw = [at for at, _ in trained], [correct for _, correct in trained]
        marker = "o" if len(trained) <= MOST_RAW_DOTS else ""
        if over > 1:
            alpha = 0.25 if faint else 0.45
            axes.plot(along, raw, color=line.colour, linewidth=0.9, marker=marker, markersize=3, alpha=alpha, zorder=2, gid="raw")
        else:
            marker = "o"
        axes.plot(
            along,
            smoothed(raw, over),
            color=line.colour,
            linestyle=line.dash,
            linewidth=line.width,
            marker="" if over > 1 else marker,
            markersize=5,
            zorder=3,
            gid="smoothed",
            clip_on=False,
        )
    held = [(at, point.held_out) for point in line.run.points if point.held_out is not None and (at := place(point)) is not None]
    if held:
        axes.plot(
            [at for at, _ in held],
            [value for _, value in held],
            color=line.colour,
            linestyle=(0, (1, 2)),
            linewidth=1.2,
            marker="D",
            markersize=5 + line.width,
            markerfacecolor=style.PAPER,
            markeredgecolor=line.colour,
            markeredgewidth=1.6,
            zorder=4,
            gid="held out",
            clip_on=False,
        )
