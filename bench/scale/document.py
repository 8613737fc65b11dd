"""The scaling run's file, worked out anew from the sweep's after every row."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.files import write_json
from bench.scale.plan import GROWN, SAME, gpus_of
from bench.sweep.outcome import OK

SCHEMA = 1
KIND = "gspo-bench-scale"
LAST = "last_scale.json"
FOLDER = "scale"  # of the results folder: the sweep's files, logs and batches


def document_of(sweep: dict[str, Any]) -> dict[str, Any]:
    """The file's content, from that of the sweep whose rows were taken: by their batch and then by GPUs, whichever run took them."""
    tokens = (sweep["batch"] or {}).get("target_tokens")
    sequences = (sweep["batch"] or {}).get("sequences")
    rows = sorted((_row(row, tokens, sequences) for row in sweep["rows"]), key=lambda row: (row["batch"] == GROWN, row["gpus"]))
    reference = _reference(rows)
    for row in rows:
        row["efficiency_pct"] = _efficiency_pct(row, reference)
    return {
        "schema": SCHEMA,
        "kind": KIND,
        **{name: sweep[name] for name in ("status", "reason", "created_at", "server", "model", "weights", "gpu", "backend", "batch")},
        "not_tried": sweep.get("not_tried", []),
        "reference_gpus": reference["gpus"] if reference else None,
        "rows": rows,
        "environment": sweep["environment"],
    }


def save(sweep: dict[str, Any], results: Path) -> dict[str, Any]:
    """Writes the file that plots take, and returns its content."""
    document = document_of(sweep)
    write_json(results / LAST, document)
    return document


def _row(row: dict[str, Any], tokens: int | None, sequences: int | None) -> dict[str, Any]:
    times = row.get("batch_times") or 1
    taken, native_s = (tokens or 0) * times, row["native_1pass_s"]
    return {
        "gpus": gpus_of(row["backend_config"]),
        "batch": GROWN if times > 1 else SAME,
        "sequences": sequences * times if sequences else None,
        "target_tokens": taken or None,
        "status": row["status"],
        "reason": row["reason"],
        "native_1pass_s": native_s,
        "native_times": row["native_times"],
        "custom_2pass_s": row["custom_2pass_s"],
        "custom_2pass_times": row["custom_2pass_times"],
        "saving_pct": row["saving_pct"],
        "tokens_per_s": taken / native_s if taken and native_s else None,
        "ready_s": row["ready_s"],
        "peak_memory_bytes": row["peak_memory_bytes"],
        "backend_config": row["backend_config"],
        "result_file": f"{FOLDER}/{row['result_file']}" if row["result_file"] else None,
    }


def _reference(rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The row on the fewest GPUs that went well, with the batch as it is."""
    fitting = [row for row in rows if row["batch"] == SAME and row["status"] == OK and row["tokens_per_s"]]
    return min(fitting, key=lambda row: int(row["gpus"]), default=None)


def _efficiency_pct(row: dict[str, Any], reference: dict[str, Any] | None) -> float | None:
    """Tokens a second and GPU of the fused path, against the reference's: 100 where twice the GPUs train twice the tokens."""
    if reference is None or row["status"] != OK or not row["tokens_per_s"]:
        return None
    each, first = (entry["tokens_per_s"] / entry["gpus"] for entry in (row, reference))
    return 100.0 * float(each) / float(first)
