"""A row of the sweep's file, from how its server and client ended, and which row is best."""

import statistics
from collections.abc import Sequence
from typing import Any

from bench import path_names
from bench.sweep.outcome import OK
from bench.sweep.plan import PlannedRow, row_key
from bench.sweep.take import Ending

BYTES_PER_GIB = 2**30


def row_of(planned: PlannedRow, ending: Ending, status: str, reason: str | None, result_file: str | None, sampled: bool) -> dict[str, Any]:
    """The row; `sampled` says that this server sampled the batch too, so that its memory is not the training's alone."""
    document = ending.document or {}
    native, two_pass = (document.get(name) for name in (path_names.NATIVE, path_names.TWO_PASS))
    timelines = {
        name: entry["timeline_mean_s"]
        for name, entry in ((path_names.NATIVE, native), (path_names.TWO_PASS, two_pass))
        if entry and entry.get("timeline_mean_s")
    }
    return {
        "label": planned.label,
        "backend_config": planned.backend_config,
        **({"batch_times": planned.times} if planned.times > 1 else {}),
        "status": status,
        "reason": reason,
        "sampled": sampled,
        "ready_s": ending.ready_s,
        "native_1pass_s": statistics.median(native["times"]) if native else None,
        "native_times": native["times"] if native else [],
        "custom_2pass_s": statistics.median(two_pass["times"]) if two_pass else None,
        "custom_2pass_times": two_pass["times"] if two_pass else [],
        "saving_pct": _saving(document),
        "tokens_per_s": native["tokens_per_s"] if native else None,
        "peak_memory_bytes": _peak_bytes(document, ending.told),
        "timeline_mean_s": timelines or None,
        "result_file": result_file,
    }


def best_of(rows: Sequence[dict[str, Any]], memory_limit_gib: float | None) -> dict[str, Any] | None:
    """The row with the fastest fused step of those that went well and, with a limit, whose memory is known to be within it."""
    return min(fitting(rows, memory_limit_gib), key=lambda row: float(row["native_1pass_s"]), default=None)


def fitting(rows: Sequence[dict[str, Any]], memory_limit_gib: float | None) -> list[dict[str, Any]]:
    """The rows that went well and, with a limit, whose memory is known to be within it."""
    return [row for row in rows if row["status"] == OK and row["native_1pass_s"] is not None and _fits(row, memory_limit_gib)]


def key_of(row: dict[str, Any]) -> str:
    """By which a row is found again; that of the planned row that it was taken for."""
    return row_key(row["backend_config"], row.get("batch_times") or 1)


def _fits(row: dict[str, Any], memory_limit_gib: float | None) -> bool:
    if memory_limit_gib is None:
        return True
    return row["peak_memory_bytes"] is not None and row["peak_memory_bytes"] <= memory_limit_gib * BYTES_PER_GIB


def _saving(document: dict[str, Any]) -> float | None:
    pair = (path_names.TWO_PASS, path_names.NATIVE)
    found = [entry["saving_median_pct"] for entry in document.get("comparisons", []) if (entry["baseline"], entry["candidate"]) == pair]
    return found[0] if found else None


def _peak_bytes(document: dict[str, Any], told: dict[str, Any] | None) -> int | None:
    """The most memory that one GPU had in use while the row's server ran, None where it has no GPU or does not tell."""
    stages = [stage["gpus"] for stage in document.get("environment", {}).get("memory", [])]
    gpus = [gpu for stage in [*stages, (told or {}).get("gpus") or []] for gpu in stage if isinstance(gpu, dict)]
    return max((gpu["peak_bytes"] for gpu in gpus if isinstance(gpu.get("peak_bytes"), int)), default=None)
