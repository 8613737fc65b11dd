"""Pages at the edges of what can be shown."""

from collections.abc import Callable
from typing import Any

from tests.plots.breakdown_cases import timed_by_both
from tests.plots.cases import CASES
from tests.plots.run_cases import Run, climbing, record

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}<style>*{display:none}</style>"
# Texts that a reader checks against a list.
FIXED = ("kind", "status", "batch", "weights", "path", "baseline", "candidate")


def everything() -> dict[str, Any]:
    """A result with every part that a page can show."""
    rows = [
        {"rtt_ms": ms, "native_1pass_s": 0.5 + ms / 500, "custom_2pass_s": 0.8 + ms / 250, "saving_pct": 37.5} for ms in (1, 20, 80, 150)
    ]
    return timed_by_both() | {"projection": {"note": "two waits against one", "bandwidth_mbit_s": 100.0, "rows": rows}}


def repeat() -> dict[str, Any]:
    run = {"file": "runs/a.json", "status": "complete", "reason": None, "native_1pass_s": 0.5, "custom_2pass_s": 0.75}
    return {
        "schema": 1,
        "kind": "gspo-bench-repeat",
        "model": "m",
        "gpu": "NVIDIA L4",
        "runs": [
            run | {"saving_median_pct": 30.0, "ci_low_pct": 29.0, "ci_high_pct": 31.0},
            {"file": None, "status": "failed", "reason": "no result; it ended with exit code 3"},
            run | {"saving_median_pct": 34.0, "ci_low_pct": 33.0, "ci_high_pct": 36.0},
        ],
        "between": {"n": 2, "saving_mean_pct": 32.0, "saving_stdev_pct": 2.83, "saving_low_pct": 30.0, "saving_high_pct": 34.0},
        "within_ci_width_median_pct": 2.5,
    }


def hostile(value: Any, text: str = HOSTILE, key: str = "") -> Any:
    """The document with every text of it replaced, and keys that say the same."""
    if isinstance(value, dict):
        made = {name: hostile(item, text, name) for name, item in value.items()}
        return made | ({text: text} if key in ("settings", "server", "versions", "backend_config") else {})
    if isinstance(value, list):
        return [hostile(item, text, key) for item in value]
    return text if isinstance(value, str) and key not in FIXED else value


def learn() -> Run:
    return record(), climbing(40, 0.02, 0.6, held_every=10)


HUGE, LONG = "W" * 1_900, "word " * 380
PAGES: dict[str, dict[str, Any]] = CASES | {
    "everything": everything(),
    "hostile": hostile(everything()),
    "huge words": hostile(everything(), HUGE),
    "long texts": hostile(everything(), LONG),
}
# What is done to the other files of these pages.
FULL: dict[str, Callable[[Any], Any]] = {
    "everything": lambda document: document,
    "hostile": hostile,
    "huge words": lambda document: hostile(document, HUGE),
    "long texts": lambda document: hostile(document, LONG),
}
