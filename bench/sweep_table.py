"""The terminal's table of a sweep."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.json_object import JsonObject, one_line
from bench.numbers import brief, duration, memory, percent, plural, short
from bench.result_parts import LONGEST_STEP_S, SHORTEST_STEP_S
from bench.sweep.document import KIND
from bench.sweep.outcome import OK

HEADINGS = ("setting", "fused", "two-pass", "saving", "tokens/s,\nmedian", "peak", "ready s", "")


def is_sweep(document: Any) -> bool:
    """Whether a JSON document is a sweep's file."""
    return isinstance(document, dict) and document.get("kind") == KIND


def print_sweep(document: dict[str, Any], file: str, console: Console, reasons: bool = True) -> None:
    """Prints the rows, unless left out why those that failed did, and the best.

    Raises:
        InputError: a value of the file is not what a sweep writes.
    """
    root = JsonObject(file, "", document)
    batch, best = root.object("batch"), root.object("best")
    table = Table(title=Text(_title(root, batch)), title_justify="left")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in ("setting", "") else "right", overflow="fold")
    rows = root.objects("rows")
    for row in rows:
        table.add_row(*_cells(row, best.text("label"), batch.whole("target_tokens")))
    console.print(table)
    for row in rows:
        if reasons and (reason := row.text("reason")):
            console.print(f"{row.text('label')}: {reason}", markup=False, soft_wrap=True)
    if any(row.flag("sampled") and row.whole("peak_memory_bytes") for row in rows):
        console.print("* sampled the batch too, so its memory holds the sampler's.", soft_wrap=True)
    if reason := root.text("reason"):
        console.print(f"Partial: {reason}", markup=False, soft_wrap=True)
    if best.values:
        console.print(_best(best, rows), markup=False, soft_wrap=True)


def _cells(row: JsonObject, best: str | None, tokens: int | None) -> tuple[str | Text, ...]:
    label, status, peak = row.text("label") or "", row.text("status") or "", row.whole("peak_memory_bytes")
    native_s, two_pass_s = (row.number(key, SHORTEST_STEP_S, LONGEST_STEP_S) for key in ("native_1pass_s", "custom_2pass_s"))
    ready_s = row.number("ready_s")
    star = "*" if row.flag("sampled") else ""
    return (
        Text(label),
        "" if native_s is None else duration(native_s),
        "" if two_pass_s is None else duration(two_pass_s),
        "" if (saving := row.number("saving_pct")) is None else percent(saving),
        short(tokens / native_s) if tokens and native_s else "",
        "" if peak is None else f"{memory(peak)}{star}",
        "" if ready_s is None else f"{ready_s:.0f}",
        Text(("best" if label == best else "") if status == OK else status.replace("_", " ")),
    )


def _title(root: JsonObject, batch: JsonObject) -> str:
    parts = [root.text("gpu")] if root.text("gpu") else []
    if batch.values:
        parts += [plural(batch.whole("sequences") or 0, "sequence"), f"{plural(batch.whole('target_tokens') or 0, 'target token')} a step"]
    partial = "PARTIAL " if root.text("status") == "partial" else ""
    return f"{partial}Server settings for {root.text('model') or 'unnamed model'}: {', '.join(part for part in parts if part)}"


def _best(best: JsonObject, rows: tuple[JsonObject, ...]) -> str:
    gain, first = best.number("speedup_vs_first", 0.0), rows[0].text("label") if rows else None
    native_s = best.number("native_1pass_s", SHORTEST_STEP_S, LONGEST_STEP_S)
    step = "" if native_s is None else f", {duration(native_s)} a fused step"
    near = best.texts("not_told_apart")
    told = f" Not told apart from it (step times overlap): {', '.join(near)}." if near else ""
    if first in near and first != best.text("label"):
        median = "" if native_s is None else f" Its median: {duration(native_s)} a fused step."
        claim = f"Even the fastest setting, {best.text('label')}, is not told apart from {first} by {_steps(best, rows)}."
        return one_line(f"{claim}{median}") + told
    faster = f", {brief(gain)} times as fast as {first}" if gain is not None and first != best.text("label") else ""
    return one_line(f"Best: {best.text('label')}{step}{faster}.") + told


def _steps(best: JsonObject, rows: tuple[JsonObject, ...]) -> str:
    """How many steps of each of the two there are to tell them apart by, of the first row and of the best."""
    row = next((row for row in rows if row.text("label") == best.text("label")), rows[0])
    count = min(len(made.numbers("native_times", SHORTEST_STEP_S, LONGEST_STEP_S)) for made in (rows[0], row))
    return "the steps taken" if not count else f"{plural(count, 'step')} of each"
