"""Learning runs at the edges of what can be drawn: the record (or None) and the metrics of each."""

import json
import math
import random
from pathlib import Path
from typing import Any

Run = tuple[dict[str, Any] | None, list[dict[str, Any]]]


def record(**changed: Any) -> dict[str, Any]:
    made = {
        "schema": 1,
        "kind": "gspo-bench-learn",
        "status": "complete",
        "reason": None,
        "created_at": "2026-11-30T10:47:27Z",
        "model": "Qwen/Qwen3-0.6B",
        "weights": "pretrained",
        "task": "gsm8k",
        "path": "native_1pass",
        "loss": {"name": "gspo", "clip_low_threshold": 0.9997, "clip_high_threshold": 1.0004, "advantages": "centred", "reduction": "mean"},
        "seed": 0,
        "groups": 8,
        "group_size": 8,
        "updates_per_batch": 1,
        "learning_rate": 4e-5,
        "lora_rank": 32,
        "max_tokens": 512,
        "steps": 40,
        "settings": {},
        "environment": {"client": {}, "server": {"gpus": [{"name": "NVIDIA L4", "total_bytes": 1}]}},
    }
    return made | changed


def climbing(steps: int, low: float, high: float, seed: int = 0, step_s: float = 30.0, held_every: int = 0) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    made = []
    for step in range(steps):
        mean = low + (high - low) / (1 + math.exp(-10 * (step / max(1, steps - 1) - 0.4)))
        line: dict[str, Any] = {
            "step": step,
            "env/all/correct": min(1.0, max(0.0, mean + chance.gauss(0, 0.05))),
            "time/total": step_s,
            "time/elapsed": step_s * (step + 1),
        }
        if held_every and (step % held_every == 0 or step == steps - 1):
            line |= {"test/env/all/correct": mean * 0.9, "test/env/all/count": 200}
        made.append(line)
    return made


def write_run(folder: Path, run: Run, torn: bool = False) -> Path:
    """Write a run's folder as bench does, or as a kill in the middle of a line leaves it."""
    folder.mkdir(parents=True)
    made, metrics = run
    if made is not None:
        (folder / "run.json").write_text(json.dumps(made))
    text = "".join(json.dumps(line) + "\n" for line in metrics)
    (folder / "metrics.jsonl").write_text(text + ('{"step": 41, "env/all/corr' if torn else ""))
    return folder


def published_shape() -> Run:
    """What the first published reader needs: two keys, and no record beside them."""
    return None, [{"step": line["step"], "env/all/correct": line["env/all/correct"]} for line in climbing(40, 0.02, 0.6)]


def paths(seeds: int) -> list[Run]:
    made: list[Run] = []
    for seed in range(seeds):
        for path, seconds in (("native_1pass", 30.0), ("custom_2pass", 42.0)):
            made.append((record(path=path, seed=seed), climbing(40, 0.02, 0.6, seed, seconds, held_every=10)))
    return made


LONG = {"model": "org/" + "averylongname-" * 40, "task": "t" * 300, "path": "p" * 300, "status": "partial", "reason": "died " * 200}
RUN_CASES: dict[str, list[Run]] = {
    "published shape": [published_shape()],
    "a run": [(record(), climbing(40, 0.02, 0.6, held_every=10))],
    "still running": [(record(status="running", steps=200), climbing(12, 0.3, 0.4))],
    "one step": [(record(steps=1), climbing(1, 0.3, 0.3))],
    "a thousand steps": [(record(steps=1000, task="arithmetic"), climbing(1000, 0.2, 0.95, step_s=0.02, held_every=50))],
    "none right": [(record(), [{"step": step, "env/all/correct": 0.0} for step in range(10)])],
    "all right": [(record(), [{"step": step, "env/all/correct": 1.0} for step in range(10)])],
    "held-out only": [(record(), [{"step": 0, "test/env/all/correct": 0.25}, {"step": 10, "test/env/all/correct": 0.5}])],
    "two paths": paths(1),
    "two paths, three seeds": paths(3),
    "twelve seeds": [(record(seed=seed), climbing(30, 0.1, 0.8, seed)) for seed in range(12)],
    "alike": [(record(), climbing(30, 0.1, 0.8, seed)) for seed in range(2)],
    "long words": [(record(**LONG), climbing(30, 0.1, 0.8)), (record(**LONG, seed=1), climbing(30, 0.1, 0.8, 1))],
}
