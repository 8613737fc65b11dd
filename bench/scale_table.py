"""The terminal's table of a scaling run."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.json_object import JsonObject
from bench.numbers import duration, memory, percent, plural, short
from bench.result_parts import LONGEST_STEP_S, SHORTEST_STEP_S
from bench.scale.document import KIND
from bench.sweep.outcome import OK

HEADINGS = ("batch", "sequences", "fused", "two-pass", "saving", "tokens/s,\nmedian", "efficiency", "peak", "")
NO_GPU = ("cpu", "unknown")  # what stands there instead of a GPU's name
DEVICES = "Without a GPU the devices are XLA's, all of one processor: this shows that they train together, not how GPUs scale."


def is_scale(document: Any) -> bool:
    """Whether a JSON document is a scaling run's file."""
    return isinstance(document, dict) and document.get("kind") == KIND


def print_scale(document: dict[str, Any], file: str, console: Console, reasons: bool = True) -> None:
    """Prints the rows, unless left out why those that failed did, and against what the efficiency is.

    Raises:
        InputError: a value of the file is not what a scaling run writes.
    """
    root = JsonObject(file, "", document)
    rows = root.objects("rows")
    partial = "PARTIAL " if root.text("status") == "partial" else ""
    machine = root.text("gpu")
    what = f"{root.text('model') or 'unnamed model'}{f', {machine}' if machine else ''}"
    noun = "device" if machine in NO_GPU else "GPU"
    table = Table(title=Text(f"{partial}Scaling, {what}: one batch on more {noun}s, then one that grows with them"), title_justify="left")
    for heading in (f"{noun}s", *HEADINGS):
        table.add_column(heading, justify="left" if heading in ("batch", "") else "right")
    for row in rows:
        table.add_row(*_cells(row))
    console.print(table)
    for row in rows:
        if reasons and (reason := row.text("reason")):
            words = f"{plural(row.whole('gpus') or 0, noun)}, {row.text('batch')} batch: {reason}"
            console.print(words, markup=False, soft_wrap=True)
    if reason := root.text("reason"):
        console.print(f"Partial: {reason}", markup=False, soft_wrap=True)
    reference = root.whole("reference_gpus")
    if reference:
        told = f"one {noun}'s" if reference == 1 else f"those of {reference} {noun}s"
        console.print(f"Efficiency: tokens a second and {noun} of the fused step, against {told}.", markup=False, soft_wrap=True)
    if machine == "cpu":
        console.print(DEVICES, markup=False, soft_wrap=True)


def _cells(row: JsonObject) -> tuple[str | Text, ...]:
    status, peak, sequences = row.text("status") or "", row.whole("peak_memory_bytes"), row.whole("sequences")
    return (
        str(row.whole("gpus") or ""),
        Text(row.text("batch") or ""),
        "" if sequences is None else f"{sequences:,}",
        *(_step(row.number(key, SHORTEST_STEP_S, LONGEST_STEP_S)) for key in ("native_1pass_s", "custom_2pass_s")),
        _percent(row.number("saving_pct")),
        "" if (rate := row.number("tokens_per_s", 0.0)) is None else short(rate),
        _percent(row.number("efficiency_pct")),
        "" if peak is None else memory(peak),
        Text("" if status == OK else status.replace("_", " ")),
    )


def _step(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)


def _percent(value: float | None) -> str:
    return "" if value is None else percent(value)
