"""The terminal's table of a sweep."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.json_object import JsonObject, one_line
from bench.sweep.document import KIND
from bench.sweep.outcome import OK

HEADINGS = ("setting", "fused s", "two-pass s", "saving", "tokens/s", "peak GiB", "ready s", "")


def is_sweep(document: Any) -> bool:
    """Whether a JSON document is a sweep's file."""
    return isinstance(document, dict) and document.get("kind") == KIND


def print_sweep(document: dict[str, Any], file: str, console: Console) -> None:
    """Prints the rows, why those that failed did, and the best.

    Raises:
        InputError: a value of the file is not what a sweep writes.
    """
    root = JsonObject(file, "", document)
    batch, best = root.object("batch"), root.object("best")
    table = Table(title=Text(_title(root, batch)), title_justify="left")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in ("setting", "") else "right")
    rows = root.objects("rows")
    for row in rows:
        table.add_row(*_cells(row, best.text("label")))
    console.print(table)
    for row in rows:
        if reason := row.text("reason"):
            console.print(f"{row.text('label')}: {reason}", markup=False, soft_wrap=True)
    if any(row.flag("sampled") and row.whole("peak_memory_bytes") for row in rows):
        console.print("* sampled the batch too, so its memory holds the sampler's.", soft_wrap=True)
    if reason := root.text("reason"):
        console.print(f"Partial: {reason}", markup=False, soft_wrap=True)
    if best.values:
        console.print(_best(best, rows), markup=False, soft_wrap=True)


def _cells(row: JsonObject, best: str | None) -> tuple[str | Text, ...]:
    label, status, peak = row.text("label") or "", row.text("status") or "", row.whole("peak_memory_bytes")
    star = "*" if row.flag("sampled") else ""
    return (
        Text(label),
        _fixed(row.number("native_1pass_s"), 3),
        _fixed(row.number("custom_2pass_s"), 3),
        "" if (saving := row.number("saving_pct")) is None else f"{saving:.1f} %",
        _fixed(row.number("tokens_per_s"), 0),
        "" if peak is None else f"{peak / 2**30:.1f}{star}",
        _fixed(row.number("ready_s"), 0),
        Text(("best" if label == best else "") if status == OK else status.replace("_", " ")),
    )


def _fixed(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _title(root: JsonObject, batch: JsonObject) -> str:
    parts = [root.text("gpu")] if root.text("gpu") else []
    if batch.values:
        parts += [f"{batch.whole('sequences')} sequences", f"{batch.whole('target_tokens') or 0:,} target tokens a step"]
    partial = "PARTIAL " if root.text("status") == "partial" else ""
    return f"{partial}Server settings for {root.text('model') or 'unnamed model'}: {', '.join(part for part in parts if part)}"


def _best(best: JsonObject, rows: tuple[JsonObject, ...]) -> str:
    gain, first = best.number("speedup_vs_first"), rows[0].text("label") if rows else None
    faster = f", {gain:.{2 if gain < 2 else 1}f} times as fast as {first}" if gain is not None and first != best.text("label") else ""
    near = best.texts("not_told_apart")
    told = f" Not told apart from it (step times overlap): {', '.join(near)}." if near else ""
    return one_line(f"Best: {best.text('label')}, {_fixed(best.number('native_1pass_s'), 3)} s a fused step{faster}.") + told
