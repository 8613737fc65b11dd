"""The terminal's table of repeated runs."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.json_object import JsonObject
from bench.numbers import duration, percent, plural, tenths
from bench.repeats import KIND
from bench.result_parts import LONGEST_STEP_S, SHORTEST_STEP_S

HEADINGS = ("run", "saving", "95 % interval", "fused, median", "two passes, median", "status")


def is_repeat(document: Any) -> bool:
    """Whether a JSON document is a repeat file."""
    return isinstance(document, dict) and document.get("kind") == KIND


def print_repeat(document: dict[str, Any], file: str, console: Console) -> None:
    """Prints every run, and what they show together.

    Raises:
        InputError: a value of the file is not what `repeats` writes.
    """
    root = JsonObject(file, "", document)
    runs = root.objects("runs")
    title = f"{root.text('model') or 'unnamed model'}: {plural(len(runs), 'run')}, each on a fresh server"
    table = Table(title=Text(title), title_justify="left")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in ("run", "status") else "right", overflow="fold")
    for number, row in enumerate(runs, start=1):
        table.add_row(*(Text(cell) for cell in _cells(number, row)))
    console.print(table)
    for line in (*_words(root, len(runs)), *_not_tried(root)):
        console.print(line, markup=False, soft_wrap=True)


def _cells(number: int, row: JsonObject) -> tuple[str, ...]:
    saving, low, high = (row.number(key) for key in ("saving_median_pct", "ci_low_pct", "ci_high_pct"))
    steps = (row.number(key, SHORTEST_STEP_S, LONGEST_STEP_S) for key in ("native_1pass_s", "custom_2pass_s"))
    status, reason = row.text("status") or "", row.text("reason")
    return (
        str(number),
        "" if saving is None else percent(saving),
        "" if low is None or high is None else f"{tenths(low)} to {percent(high)}",
        *("" if step_s is None else duration(step_s) for step_s in steps),
        status if reason is None else f"{status}: {reason}",
    )


def _words(root: JsonObject, runs: int) -> list[str]:
    between, within = root.object("between"), root.number("within_ci_width_median_pct")
    count = between.whole("n") or 0
    low, high = between.number("saving_low_pct"), between.number("saving_high_pct")
    mean, stdev = between.number("saving_mean_pct"), between.number("saving_stdev_pct")
    if count < 2 or low is None or high is None or mean is None or stdev is None:
        line = f"{plural(count, 'complete run')}: a spread between servers needs two."
    else:
        line = (
            f"Between {count} fresh servers the saving spread over {tenths(high - low)} points: {tenths(low)} to {percent(high)}, "
            f"mean {percent(mean)}, standard deviation {tenths(stdev)} points"
        )
        line += "." if within is None else f"; within one run its interval is {tenths(within)} points wide."
    left_out = runs - count
    if left_out <= 0:
        return [line]
    return [
        line,
        f"{left_out:,} of {plural(runs, 'run')} did not finish with a valid saving, and {'is' if left_out == 1 else 'are'} not counted.",
    ]


def _not_tried(root: JsonObject) -> list[str]:
    left = root.whole("not_tried") or 0
    return [f"{plural(left, 'more run')} not tried. {root.text('not_tried_reason') or ''}".rstrip()] if left else []
