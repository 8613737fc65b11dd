"""Every setting and version that a file tells, as tables of dotted names."""

from collections.abc import Collection, Iterator
from typing import Any

from plots.checked import Section as Json
from plots.checked import one_line
from plots.numbers import GIB, clipped, memory, plural
from plots.report.section import Section, Table

MOST_ROWS, LONGEST_NAME, LONGEST_VALUE, DEEPEST = 200, 120, 300, 8
MEMORY = ("environment", "memory")
Groups = tuple[tuple[str, tuple[str, ...]], ...]
RESULT: Groups = (
    ("Settings of the run", ("settings",)),
    ("The frozen batch", ("batch",)),
    ("Server", ("environment", "server")),
    ("Client", ("environment", "client")),
    ("GPU memory", MEMORY),
    ("Near-empty steps", ("floor",)),
    ("Arithmetic", ("roofline",)),
    ("Clocks", ("clock",)),
)
SWEEP: Groups = (
    ("The best setting", ("best",)),
    ("The frozen batch", ("batch",)),
    ("Server", ("environment", "server")),
    ("Client", ("environment", "client")),
    ("Arithmetic", ("roofline",)),
)
OF_ONE_ROW = ("backend_config", "preset_changed")  # of what a sweep's server tells: the settings of the last that ran
SCALE: Groups = (
    ("The frozen batch", ("batch",)),
    ("Server", ("environment", "server")),
    ("Client", ("environment", "client")),
)
LEARN: Groups = (
    ("Settings of the run", ("settings",)),
    ("The loss", ("loss",)),
    ("Server", ("environment", "server")),
    ("Client", ("environment", "client")),
)


def of_result(root: Json | None) -> Section | None:
    """Return a result's folded section, or None for a file that tells nothing."""
    return _facts("settings", "Every setting and version", RESULT, root)


def of_sweep(root: Json | None) -> Section | None:
    """The same of a sweep."""
    return _facts("sweep-settings", "The sweep's settings and versions", SWEEP, root, left_out=OF_ONE_ROW)


def of_scaling(root: Json | None) -> Section | None:
    """The same of a scaling run."""
    return _facts("scale-settings", "The scaling run's settings and versions", SCALE, root)


def of_run(root: Json | None) -> Section | None:
    """The same of a learning run."""
    return _facts("run-settings", "The learning run's settings and versions", LEARN, root)


def _facts(key: str, heading: str, groups: Groups, root: Json | None, left_out: Collection[str] = ()) -> Section | None:
    if root is None:
        return None
    tables = []
    for title, keys in groups:
        value: Any = root.values
        for name in keys:
            value = value.get(name) if isinstance(value, dict) else None
        if keys == MEMORY and not _has_gpus(value):
            continue
        if isinstance(value, dict):
            value = {name: item for name, item in value.items() if name not in left_out or title != "Server"}
        if table := _table(title, value):
            tables.append(table)
    if not tables:
        return None
    own = {name: value for name, value in root.values.items() if value is not None and not isinstance(value, dict | list)}
    if table := _table("The file", {"name": root.file} | own):
        tables.append(table)
    return Section(key, heading, folded=tuple(tables))


def _has_gpus(stages: Any) -> bool:
    """Return whether a run's memory by stages is of any GPU: of a run without one it says nothing."""
    return isinstance(stages, list) and any(isinstance(stage, dict) and stage.get("gpus") for stage in stages)


def _table(title: str, value: Any) -> Table | None:
    if not isinstance(value, dict | list) or not value:
        return None
    rows = [_row(name, text) for name, text in _flat("", value, 0)]
    left = len(rows) - MOST_ROWS
    if left > 0:
        rows[MOST_ROWS:] = [(f"and {plural(left, 'more row')}", "in the file")]
    return Table(title, ("name", "value"), tuple(rows), words=True) if rows else None


def _row(name: str, text: str) -> tuple[str, str]:
    return clipped(one_line(name), LONGEST_NAME) or "unnamed", clipped(one_line(text), LONGEST_VALUE)


def _flat(name: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Yield each leaf with its dotted name; a list of plain values is one leaf."""
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        value = {str(number): item for number, item in enumerate(value, start=1)}
    if isinstance(value, dict) and value and depth < DEEPEST:
        for key, item in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), item, depth + 1)
        return
    yield name, _text(value, name)


def _text(value: Any, name: str) -> str:
    if isinstance(value, dict):
        return "an object" if value else "none"
    if isinstance(value, list):
        return ", ".join(_text(item, "") for item in value) or "none"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("_bytes") and isinstance(value, int | float) and GIB / 10 <= value < 1e15:
        return memory(value)
    return str(value)
