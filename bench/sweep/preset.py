"""The best row as a preset file, in the form of docker/server/presets/."""

import math
import re
from pathlib import Path
from typing import Any

from bench.files import write_json
from bench.numbers import plural
from bench.sweep.rows import BYTES_PER_GIB

# The server's launcher sets these itself, by what is installed where it runs.
OF_THE_LAUNCHER = ("trainer.flash_attn", "trainer.remove_microbatch_padding")
PACKING = "trainer.max_tokens_per_microbatch"
ORDER_NOTE = "older servers returned outputs in packed order with it (SkyRL#1865): check with `bench verify`"


def settings_of(row: dict[str, Any], server: dict[str, Any] | None) -> dict[str, Any]:
    """All settings that the row's server ran with, a preset's under the row's own included, where it told them."""
    told = (server or {}).get("backend_config")
    under = {key: value for key, value in told.items() if key not in OF_THE_LAUNCHER} if isinstance(told, dict) else {}
    return under | dict(row["backend_config"])


def write_preset(
    results: Path, row: dict[str, Any], settings: dict[str, Any], facts: dict[str, Any], fast: str, why: dict[str, str]
) -> Path:
    """Writes presets/best-<model>-<gpu>.json under the results folder; `fast` says how fast the row is, `why` what each setting is for."""
    model = str(facts.get("model") or "").rstrip("/").rpartition("/")[2]
    name = "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-.")[:60] or "unnamed" for part in (model, str(facts.get("gpu"))))
    batch = facts.get("batch") or {}
    if PACKING in why:
        why = why | {PACKING: f"{why[PACKING]}; {ORDER_NOTE}"}
    counts = (("sequences", "sequence"), ("target_tokens", "target token"))
    size = ", ".join(plural(count, noun) for key, noun in counts if (count := batch.get(key)) is not None)
    step = f"{size} a step; " if size else ""
    peak_bytes = row["peak_memory_bytes"]
    document = {
        "description": f"The fastest of a sweep for {model} on {facts.get('gpu')}: {step}{fast}.",
        **({"gpu_memory_gib": math.ceil(peak_bytes / BYTES_PER_GIB)} if peak_bytes else {}),
        "backend_config": settings,
        "why": why,
    }
    path = results / "presets" / f"best-{name}.json"
    write_json(path, document)
    return path
