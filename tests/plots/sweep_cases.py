"""Sweeps at the edges of what can be drawn."""

import copy
from typing import Any

from tests.plots.breakdown_cases import ROOFLINE

GIB = 2**30


def row(label: str, native_s: float | None, two_pass_s: float | None, memory_gib: float | None, **changed: Any) -> dict[str, Any]:
    saving = None if native_s is None or two_pass_s is None else 100 * (1 - native_s / two_pass_s)
    made = {
        "label": label,
        "backend_config": {"a": label},
        "status": "ok",
        "reason": None,
        "ready_s": 21.5,
        "native_1pass_s": native_s,
        "native_times": [] if native_s is None else [native_s] * 3,
        "custom_2pass_s": two_pass_s,
        "custom_2pass_times": [] if two_pass_s is None else [two_pass_s] * 3,
        "saving_pct": saving,
        "tokens_per_s": None if native_s is None else 7569 / native_s,
        "peak_memory_bytes": None if memory_gib is None else int(memory_gib * GIB),
        "timeline_mean_s": None,
        "result_file": None,
    }
    return made | changed


def sweep(rows: list[dict[str, Any]], best: int | None = None, **changed: Any) -> dict[str, Any]:
    made = {
        "schema": 1,
        "kind": "gspo-bench-sweep",
        "status": "complete",
        "reason": None,
        "created_at": "2026-11-30T10:47:27Z",
        "model": "/models/Qwen3-0.6B-random-weights",
        "weights": "random",
        "gpu": "NVIDIA H200",
        "backend": "fsdp",
        "batch": {"sha256": "ab" * 32, "sequences": 16, "target_tokens": 7569},
        "rows": rows,
        "best": None,
        "roofline": copy.deepcopy(ROOFLINE),
        "environment": {"client": {}, "server": {}},
    }
    if best is not None:
        chosen, first = rows[best], rows[0]["native_1pass_s"]
        made["best"] = {
            "label": chosen["label"],
            "backend_config": chosen["backend_config"],
            "native_1pass_s": chosen["native_1pass_s"],
            "speedup_vs_first": first / chosen["native_1pass_s"] if first else 1.0,
            "preset_file": "sweeps/best-0.6b.json",
        }
    return made | changed


def micro_batches() -> dict[str, Any]:
    """What a sweep on a large GPU looks like: the best is 16 times as fast as the first, and two settings fail."""
    rows = [
        row("micro-batch 1", 8.0, 10.0, 6.0),
        row("micro-batch 2", 4.1, 5.2, 8.5),
        row("micro-batch 4", 2.0, 2.7, 14.0),
        row("micro-batch 8", 1.02, 1.4, 26.0),
        row("micro-batch 16", 0.5, 0.75, 45.0),
        row("micro-batch 16, checkpointing", 0.7, 0.9, 20.0),
        row(
            "micro-batch 32", None, None, None, status="out_of_memory", reason="CUDA out of memory. Tried to allocate 18.25 GiB. GPU 0 has"
        ),
        row("16,384 tokens a micro-batch", None, None, None, status="timed_out", reason="not ready after 180 s"),
    ]
    return sweep(rows, best=4)


def on_a_cpu() -> dict[str, Any]:
    rows = [row(f"micro-batch {size}", time, time * 1.4, None) for size, time in ((1, 1.1), (2, 0.8), (4, 0.62), (8, 0.55), (16, 0.54))]
    server = {"gpus": [], "cpu": "AMD EPYC", "cpu_count": 2}
    return sweep(
        rows, best=4, environment={"client": None, "server": server}, gpu="cpu", backend="jax", model="/models/tiny-qwen3", roofline=None
    )


def hundred() -> dict[str, Any]:
    rows = []
    for number in range(100):
        label = f"micro-batch {1 + number % 20}, budget {2048 * (1 + number // 20):,}"
        if number % 20 > 16:
            rows.append(row(label, None, None, None, status="out_of_memory", reason="CUDA out of memory"))
        else:
            rows.append(row(label, 8.0 / (1 + number % 20) + 0.1, 10.0 / (1 + number % 20) + 0.2, 6.0 + number % 20))
    return sweep(rows, best=16)


def all_failed() -> dict[str, Any]:
    kinds = ("out_of_memory", "crashed", "timed_out", "refused")
    return sweep([row(f"setting of {kind}", None, None, None, status=kind, reason="because " * 60) for kind in kinds])


def long_labels() -> dict[str, Any]:
    label = "trainer.micro_train_batch_size_per_gpu=16,trainer.gradient_checkpointing=false,trainer.max_tokens_per_microbatch=16384"
    rows = [row(f"{label},{number}", 1.0 + number, 2.0 + number, 20.0) for number in range(6)]
    made = sweep(rows, best=0, model="/models/" + "averylongname-" * 40, gpu="GPU " * 60, status="partial", reason="the server " * 60)
    made["best"]["not_told_apart"] = [row["label"] for row in made["rows"][1:]]
    return made


def far_apart() -> dict[str, Any]:
    return sweep([row("slow", 5000.0, 9000.0, 1.0), row("fast", 0.0005, 0.0007, 2.0)], best=1)


def halves() -> dict[str, Any]:
    """Rows with one path only, one of them with a failure beside its time."""
    rows = [
        row("fused only", 1.0, None, 10.0),
        row("two passes out of memory", 0.9, None, 12.0, status="out_of_memory", reason="CUDA out of memory in forward"),
        row("two passes only", None, 2.0, 11.0),
    ]
    return sweep(rows, best=0)


SWEEP_CASES: dict[str, dict[str, Any]] = {
    "micro-batches": micro_batches(),
    "on a CPU": on_a_cpu(),
    "one": sweep([row("micro-batch 1", 0.5, 0.75, 45.0)], best=0),
    "microseconds": sweep([row("a", 5e-6, 7e-6, 0.001), row("b", 4e-6, 6e-6, 0.002)], best=1, roofline=None),
    "a hundred": hundred(),
    "all failed": all_failed(),
    "long labels": long_labels(),
    "far apart": far_apart(),
    "halves": halves(),
    "two passes faster": sweep([row("a", 2.0, 1.5, 10.0), row("b", 1.0, 1.0, 10.0)], best=1),
}
