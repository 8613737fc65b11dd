"""The terminal's lines of a learning run: what it is, and how far it came."""

from pathlib import Path
from typing import Any

from rich.console import Console

from bench.json_object import JsonObject, one_line, printable
from bench.learn.record import KIND, RunFolder
from bench.numbers import percent, plural

HELD_OUT = "test/env/all/correct"
TRAINED = "env/all/correct"
FEWEST_SMOOTHED = 8  # steps; of fewer the ends are one step's, as in the picture


def is_learn(document: Any) -> bool:
    """Whether a JSON document is the record of a learning run."""
    return isinstance(document, dict) and document.get("kind") == KIND and "task" in document


def run_of_pointer(document: Any, file: Path) -> Path | None:
    """The record of the run that `file`, results/last_learn.json, points to; None for any other document."""
    run = document.get("run") if isinstance(document, dict) and document.get("kind") == KIND and "task" not in document else None
    return file.parent / run / "run.json" if isinstance(run, str) else None


def print_learn(document: dict[str, Any], file: Path, console: Console) -> None:
    """Prints the run whose record `file` is; its rows are read from beside it.

    Raises:
        InputError: a value of the record or a row is not what a run writes.
    """
    root = JsonObject(one_line(str(file)), "", document)
    weights = f" ({weights} weights)" if (weights := root.text("weights")) else ""
    parts = [f"{root.text('model') or 'unnamed model'}{weights}", *(text for key in ("task", "path") if (text := root.text(key)))]
    rows = list({row["step"]: row for row in RunFolder(file.parent).rows()}.values())
    trained, held_out = (_points(root.file, rows, key) for key in (TRAINED, HELD_OUT))
    status, reason = root.text("status") or "unknown", root.text("reason")
    asked = root.whole("steps")
    taken = f"{len(trained):,} of {'unknown steps' if asked is None else plural(asked, 'step')}"
    words = [f"{', '.join(parts)}: {taken}, {status}{f' ({reason})' if reason else ''}"]
    if trained:
        words.append(f"Accuracy in training: {_span(*_ends(trained))}.")
    final = root.object("final").number(HELD_OUT, 0.0, 1.0)
    if held_out:
        words.append(f"Held out: {_span([*held_out, *([] if final is None else [final])])}.")
    for line in words:
        console.print(printable(line), markup=False, soft_wrap=True)


def _points(file: str, rows: list[dict[str, Any]], key: str) -> list[float]:
    """The key's values, in the rows' order; rows without it are left out."""
    found = (JsonObject(f"{file}'s metrics", f"step {row['step']}: ", row).number(key, 0.0, 1.0) for row in rows)
    return [value for value in found if value is not None]


def _ends(steps: list[float]) -> tuple[list[float], str]:
    """The accuracy at the start and at the end, as the picture's title and the published table have it, and what it is of: the ends of
    the smoothed line, which are the means of the first two steps and of the last two; of fewer than `FEWEST_SMOOTHED` the steps' own.
    """
    if len(steps) < FEWEST_SMOOTHED:
        return steps, "" if len(steps) == 1 else " (of the first step and of the last)"
    return [(steps[0] + steps[1]) / 2, (steps[-2] + steps[-1]) / 2], " (means of the first two steps and of the last two)"


def _span(values: list[float], of: str = "") -> str:
    first, last = (percent(100 * value) for value in (values[0], values[-1]))
    return first if len(values) == 1 else f"{first} at the start, {last} at the end{of}"
