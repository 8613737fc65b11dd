"""The terminal's lines of a learning run: what it is, and how far it came."""

from pathlib import Path
from typing import Any

from rich.console import Console

from bench.json_object import JsonObject, one_line, printable
from bench.learn.record import KIND, RunFolder

HELD_OUT = "test/env/all/correct"
TRAINED = "env/all/correct"


def is_learn(document: Any) -> bool:
    """Whether a JSON document is the record of a learning run."""
    return isinstance(document, dict) and document.get("kind") == KIND and "task" in document


def print_learn(document: dict[str, Any], file: Path, console: Console) -> None:
    """Prints the run whose record `file` is; its rows are read from beside it.

    Raises:
        InputError: a value of the record or a row is not what a run writes.
    """
    root = JsonObject(one_line(str(file)), "", document)
    weights = f" ({weights} weights)" if (weights := root.text("weights")) else ""
    parts = [f"{root.text('model') or 'unnamed model'}{weights}", *(text for key in ("task", "path") if (text := root.text(key)))]
    rows = RunFolder(file.parent).rows()
    status, reason = root.text("status") or "unknown", root.text("reason")
    words = [f"{', '.join(parts)}: {len(rows)} of {root.whole('steps') or 'unknown'} steps, {status}{f' ({reason})' if reason else ''}"]
    trained = _points(root.file, rows, TRAINED)
    if trained:
        words.append(f"Accuracy in training: {_span(trained)}.")
    held_out = _points(root.file, rows, HELD_OUT)
    final = root.object("final").number(HELD_OUT, 0.0, 1.0)
    if held_out:
        words.append(f"Held out: {_span([*held_out, *([] if final is None else [final])])}.")
    for line in words:
        console.print(printable(line), markup=False, soft_wrap=True)


def _points(file: str, rows: list[dict[str, Any]], key: str) -> list[float]:
    """The key's values, in the rows' order; rows without it are left out."""
    found = (JsonObject(f"{file}'s metrics", f"step {row['step']}: ", row).number(key, 0.0, 1.0) for row in rows)
    return [value for value in found if value is not None]


def _span(values: list[float]) -> str:
    return f"{100 * values[0]:.1f} %" if len(values) == 1 else f"{100 * values[0]:.1f} % at the start, {100 * values[-1]:.1f} % at the end"
