"""Scaling runs at the edges of what can be drawn."""

from typing import Any

SAVING_PCT = 30.0


def row(gpus: int, batch: str, native_s: float | None, tokens: float, **changed: Any) -> dict[str, Any]:
    made = {
        "gpus": gpus,
        "batch": batch,
        "status": "ok" if native_s else "crashed",
        "reason": None,
        "native_1pass_s": native_s,
        "custom_2pass_s": native_s / 0.7 if native_s else None,
        "saving_pct": SAVING_PCT if native_s else None,
        "tokens_per_s": tokens / native_s if native_s else None,
        "efficiency_pct": None,
        "peak_memory_bytes": 2**34,
        "result_file": None,
    }
    return made | changed


def scale(rows: list[dict[str, Any]], **changed: Any) -> dict[str, Any]:
    made = {
        "schema": 1,
        "kind": "gspo-bench-scale",
        "status": "complete",
        "reason": None,
        "created_at": "2026-11-30T10:47:27Z",
        "model": "/models/Qwen3-0.6B-random-weights",
        "weights": "random",
        "gpu": "NVIDIA H200",
        "backend": "fsdp",
        "batch": {"sha256": "ab" * 32, "sequences": 16, "target_tokens": 8000},
        "reference_gpus": 1,
        "rows": rows,
        "environment": {"client": {}, "server": {"gpus": [{"name": "NVIDIA H200"}] * 8}},
    }
    return made | changed


def to_eight() -> list[dict[str, Any]]:
    same = [row(gpus, "same", seconds, 8000) for gpus, seconds in ((1, 8.0), (2, 5.0), (4, 4.0), (8, 3.2))]
    return same + [row(gpus, "grown", seconds, 8000 * gpus) for gpus, seconds in ((2, 8.0), (4, 10.0), (8, 12.8))]


SCALING_CASES = {
    "to eight": scale(to_eight()),
    "two": scale([row(1, "same", 0.51, 8000), row(2, "same", 0.3, 8000), row(2, "grown", 0.52, 16000)]),
    "the same batch alone": scale([row(1, "same", 8.0, 8000), row(2, "same", 5.0, 8000)]),
    "none of one": scale(
        [
            row(1, "same", None, 8000, status="out_of_memory", reason="torch.OutOfMemoryError: CUDA out of memory. " * 4),
            row(2, "same", 5.0, 8000),
            row(4, "same", 3.0, 8000),
            row(4, "grown", None, 16000, status="timed_out", reason="not done within 900 s"),
        ],
        status="partial",
        reason="the time budget of 600 s is spent",
    ),
    "nothing yet": scale([row(1, "same", None, 8000)], batch=None, weights=None, backend=None, model=None, created_at=None),
    "a reference alone": scale([row(1, "same", 8.0, 8000)]),
    "on a CPU": scale(
        to_eight()[:2],
        gpu="cpu",
        backend="jax",
        environment={"client": None, "server": {"gpus": [], "cpu": "AMD EPYC", "cpu_count": 2}},
    ),
    "many": scale([row(2**power, "same", 8.0 / 1.5**power, 8000) for power in range(11)]),
}
