"""Which server settings a sweep takes: a small JSON file, one of data/sweeps/ by its name or any other by its path."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.errors import InputError
from bench.files import read_json

SHIPPED = Path(__file__).resolve().parents[1] / "data" / "sweeps"
MAX_PLAN_BYTES = 1024 * 1024
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
MAX_STEPS = 100_000


@dataclass(frozen=True)
class PlannedRow:
    """One server setting. `backend_config` is the whole of it; `steps` are its own pairs, None for the sweep's; `times` as large as the
    others' is its batch.
    """

    label: str
    backend_config: dict[str, Any]
    steps: int | None
    times: int = 1

    @property
    def key(self) -> str:
        """By which a row that was taken before is found again."""
        return row_key(self.backend_config, self.times)


def row_key(backend_config: dict[str, Any], times: int) -> str:
    """The same text for the same settings and size of the batch."""
    return canonical(backend_config) + (f" batch x {times}" if times > 1 else "")


def canonical(backend_config: dict[str, Any]) -> str:
    """The same text for the same settings, in whatever order they stand."""
    return json.dumps(backend_config, sort_keys=True, separators=(",", ":"), allow_nan=False)


def shipped() -> list[str]:
    """The names of the sweeps that come with the program."""
    return sorted(path.stem for path in SHIPPED.glob("*.json"))


def read_plan(name: str) -> tuple[PlannedRow, ...]:
    """The rows of a shipped sweep (`l4`) or of a file (`mine.json`), in order; the first is what the others are compared with.

    The file holds a list of `{"label": ..., "backend_config": {...}, "steps": 2}`, steps left out at will; or an object with that list
    as `rows` and, as `backend_config`, the settings under all of them.

    Raises:
        InputError: names the file, the row and the value that is wrong.
    """
    if name in shipped():
        path = SHIPPED / f"{name}.json"
    elif "/" in name or name.endswith(".json"):
        path = Path(name)
    else:
        raise InputError(f"there is no sweep {name!r}.\nGive {', '.join(shipped())}, or the path of a JSON file.")
    document = read_json(path, MAX_PLAN_BYTES, "sweep's settings")
    if isinstance(document, list):
        document = {"rows": document}
    entries = document.get("rows") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{path} has no rows: give a list of objects with a label and a backend_config.")
    under = _settings(document.get("backend_config", {}), f"{path}: backend_config")
    rows = [_row(entry, under, f"{path}, row {index + 1}") for index, entry in enumerate(entries)]
    for what, values in (("label", [row.label.lower() for row in rows]), ("backend_config", [row.key for row in rows])):
        twice = next((index for index, value in enumerate(values) if value in values[:index]), None)
        if twice is not None:
            raise InputError(f"{path}, row {twice + 1} has the {what} of row {values.index(values[twice]) + 1}: give each its own.")
    return tuple(rows)


def _row(entry: Any, under: dict[str, Any], where: str) -> PlannedRow:
    if not isinstance(entry, dict) or entry.keys() - {"label", "backend_config", "steps"}:
        raise InputError(f"{where} must be an object with label, backend_config and at most steps beside them.")
    label, steps = entry.get("label"), entry.get("steps")
    if not isinstance(label, str) or not LABEL.fullmatch(label):
        raise InputError(f"{where}: label is {json.dumps(label)[:80]}; it names files: letters, digits, '.', '_' and '-', at most 60.")
    if steps is not None and (type(steps) is not int or not 1 <= steps <= MAX_STEPS):
        raise InputError(f"{where}: steps is {json.dumps(steps)[:80]}; give a whole number from 1.")
    return PlannedRow(label, under | _settings(entry.get("backend_config"), f"{where}: backend_config"), steps)


def _settings(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} is {json.dumps(value)[:80]}, not an object of settings.")
    return value
