"""Why each setting of the best row is what it is, as far as the sweep's rows can say: no more than one row beside another shows."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bench.numbers import duration, memory
from bench.sweep.outcome import CRASHED, OK, OUT_OF_MEMORY, REFUSED, TIMED_OUT
from bench.sweep.rows import fitting

EVERY_SERVER = "as on every server of the sweep"
EVERY_ROW = "the same in every row that ran"
NO_OTHER = "no other setting ran"
UNSET = object()
LONGEST_VALUE = 60
ENDS = {
    OUT_OF_MEMORY: "it runs out of memory",
    CRASHED: "the row crashed",
    TIMED_OUT: "the row took too long",
    REFUSED: "it is refused",
}


def reasons(
    rows: Sequence[dict[str, Any]],
    best: dict[str, Any],
    settings: Mapping[str, Any],
    memory_limit_gib: float | None,
    not_told_apart: Sequence[str],
) -> dict[str, str]:
    """A reason for each of `settings`, which are the best row's with what its server had under them.

    Rows with another batch show nothing here. `not_told_apart` has the labels of the rows that are as fast as far as their steps tell.
    """
    others = [row for row in rows if row is not best and row.get("batch_times") == best.get("batch_times")]
    differing = [(row, _differing(row, best, settings)) for row in others]
    ran = {id(row) for row in fitting(rows, memory_limit_gib)}
    same = EVERY_ROW if any(row["status"] == OK for row in others) else NO_OTHER
    return {name: _reason(name, best, differing, ran, not_told_apart, same) for name in settings}


def _reason(
    name: str,
    best: dict[str, Any],
    differing: Sequence[tuple[dict[str, Any], set[str]]],
    ran: set[int],
    not_told_apart: Sequence[str],
    same_in_rows: str,
) -> str:
    varied = [(row, names) for row, names in differing if name in names]
    if not varied:
        return same_in_rows if name in best["backend_config"] else EVERY_SERVER
    timed = [(row, names) for row, names in varied if id(row) in ran]
    alone = [row for row, names in timed if names == {name}]
    lost = [f"with {_value(row, name)} {_end(row)}" for row, names in varied if names == {name} and id(row) not in ran]
    if alone:
        nearest = min(alone, key=_step_s)
        told = f"{duration(_step_s(best))} a fused step, against {duration(_step_s(nearest))} with {_value(nearest, name)}"
        same = ": not told apart, for step times overlap" if nearest["label"] in not_told_apart else ""
        return "; ".join([f"{told} and all else the same ({nearest['label']}){same}", *lost])
    if lost:
        return f"{duration(_step_s(best))} a fused step; {'; '.join(lost)}, all else the same"
    told = "part of the fastest row, and not varied alone"
    if not timed:
        return told
    nearest, names = min(timed, key=lambda entry: (len(entry[1]), _step_s(entry[0])))
    beside = sorted(names - {name})
    differ = f"where {' and '.join(beside)} {'differs' if len(beside) == 1 else 'differ'} too"
    return f"{told}: {duration(_step_s(best))} a fused step, against {duration(_step_s(nearest))} in {nearest['label']}, {differ}"


def _differing(row: dict[str, Any], best: dict[str, Any], settings: Mapping[str, Any]) -> set[str]:
    """The settings in which a row differs from the best; one that only the server has under its rows is the same in both."""
    config, own = row["backend_config"], best["backend_config"]
    under = {name: value for name, value in settings.items() if name not in own}
    return {name for name in {*config, *own} if config.get(name, under.get(name, UNSET)) != own.get(name, under.get(name, UNSET))}


def _step_s(row: dict[str, Any]) -> float:
    return float(row["native_1pass_s"])


def _value(row: dict[str, Any], name: str) -> str:
    """The row's value of a setting in words."""
    if name not in row["backend_config"]:
        return "it left out"
    text = json.dumps(row["backend_config"][name])
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def _end(row: dict[str, Any]) -> str:
    """How a row ended that is no match for the best."""
    if row["status"] != OK:
        return ENDS[row["status"]]
    if row["peak_memory_bytes"] is None:
        return "its memory is not known"
    return f"it takes {memory(row['peak_memory_bytes'])}, more than the limit"
