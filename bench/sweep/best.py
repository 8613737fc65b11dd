"""The best row of a sweep: its entry in the file, and its preset file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.numbers import brief, duration
from bench.sweep.document import Sweep
from bench.sweep.preset import settings_of, write_preset
from bench.sweep.reasons import reasons
from bench.sweep.rows import best_of, fitting


def best_entry(sweep: Sweep, first_key: str, memory_limit_gib: float | None, results: Path) -> tuple[dict[str, Any] | None, Any]:
    """The file's `best` and the best row's `roofline`, both None where no row fits. Writes the preset file.

    `first_key` is the key of the row that the best is compared with.
    """
    rows = list(sweep.rows.values())
    best = best_of(rows, memory_limit_gib)
    if best is None:
        return None, None
    first = sweep.rows.get(first_key)
    gain = first["native_1pass_s"] / best["native_1pass_s"] if first and first["native_1pass_s"] else None
    near = not_told_apart(rows, best, memory_limit_gib)
    fast = f"{duration(best['native_1pass_s'])} a fused step, {_place(len(fitting(rows, memory_limit_gib)), memory_limit_gib)}"
    if first and gain is not None and first is not best:
        fast += f", {brief(gain)} times as fast as {first['label']}"
    if near:
        fast += f"; not told apart from it, for step times overlap: {', '.join(near)}"
    result = _result_of(best, results)
    settings = settings_of(best, (result.get("environment") or {}).get("server"))
    why = reasons(rows, best, settings, memory_limit_gib, near)
    preset = write_preset(results, best, settings, sweep.facts, fast, why)
    entry = {
        "label": best["label"],
        "backend_config": settings,
        "native_1pass_s": best["native_1pass_s"],
        "speedup_vs_first": gain,
        "not_told_apart": near,
        "preset_file": str(preset.relative_to(results)),
    }
    return entry, result.get("roofline")


def _place(ran: int, memory_limit_gib: float | None) -> str:
    """The best row's place among the rows that ran, itself included, where a memory limit counts those within it."""
    within = "" if memory_limit_gib is None else f" within {memory_limit_gib:g} GiB"
    return f"the fastest of {ran:,} settings that ran{within}" if ran > 1 else f"the only setting that ran{within}"


def not_told_apart(rows: Sequence[dict[str, Any]], best: dict[str, Any], memory_limit_gib: float | None) -> list[str]:
    """Labels of the fitting rows, the fastest first, that their fused steps do not tell apart from the best.

    Such a row's fastest step is not slower than the best's slowest. For n and m steps without a difference, ranges wholly apart in that
    order happen by chance in n! m! / (n + m)! of cases: 1 in 70 for 4 and 4. One row is one server, and steps within it say nothing about
    what differs from server to server: rows wholly apart may still be the same.
    """
    if not best.get("native_times"):
        return []
    others = [row for row in fitting(rows, memory_limit_gib) if row is not best and row.get("native_times")]
    near = [row for row in others if min(row["native_times"]) <= max(best["native_times"])]
    return [str(row["label"]) for row in sorted(near, key=lambda row: float(row["native_1pass_s"]))]


def _result_of(row: dict[str, Any], results: Path) -> dict[str, Any]:
    """The row's result file, empty where it is gone."""
    try:
        found = json.loads((results / (row["result_file"] or "")).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
