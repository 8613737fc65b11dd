"""The learning run: how accuracy climbs by step and by hour, and every step of it."""

from collections.abc import Sequence

from plots import curve, curve_words
from plots.learning_run import LearningRun, Point
from plots.numbers import clipped, percent, plural
from plots.report.charts import chart
from plots.report.section import Section, Table
from plots.svg import Alternative

MOST_STEPS = 500


def learning(runs: Sequence[LearningRun]) -> Section:
    """Return the section."""
    names = curve_words.names(runs)
    lead = [f"{curve_words.title(runs)}.", curve_words.partial(runs), curve_words.verdict(runs, names)]
    instead = Alternative("The learning curve", "; ".join(_instead(run) for run in runs) + ".")
    return Section(
        "learning",
        "Does it learn?",
        tuple(line for line in lead if line),
        tuple(curve_words.where(runs)),
        chart("learning", curve.draw_body, curve.body_in, runs, instead),
        notes=tuple(curve_words.small_print(runs, curve.is_timed(runs))),
        folded=tuple(_steps(run) for run in runs),
    )


def _instead(run: LearningRun) -> str:
    first, last = curve_words.ends_of(run)
    return f"accuracy from {percent(100 * first)} to {percent(100 * last)} over {plural(run.taken, 'step')}"


def _steps(run: LearningRun) -> Table:
    rows = [_row(point) for point in run.points[:MOST_STEPS]]
    if left := len(run.points) - len(rows):
        rows.append((f"and {left:,} more", "", "", "in the run's metrics.jsonl"))
    headings = ("step", "accuracy", "held out", "seconds of work")
    return Table(f"Every step of {clipped(run.folder, 80)}", headings, tuple(rows))


def _row(point: Point) -> tuple[str, ...]:
    elapsed = "not told" if point.elapsed_s is None else f"{point.elapsed_s:,.1f}"
    return f"{point.step:,}", _share(point.correct), _share(point.held_out), elapsed


def _share(value: float | None) -> str:
    return "" if value is None else percent(100 * value)
