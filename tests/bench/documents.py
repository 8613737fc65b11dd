"""Small result documents for the tests of what reads them."""

import copy
import json
from pathlib import Path
from typing import Any

from bench.result_file import ResultFile, of_document

DATA = Path(__file__).parents[1] / "data"
SCHEMA1: dict[str, Any] = json.loads((DATA / "schema1_gspo_bench.json").read_text())
PUBLISHED: dict[str, Any] = json.loads((DATA / "published_gspo_bench.json").read_text())


def document(native: list[float], two_pass: list[float] | None = None, **changed: Any) -> dict[str, Any]:
    """A document of schema 1 with these times, its pairs in the order given; `changed` replaces top-level keys."""
    made = copy.deepcopy({key: value for key, value in SCHEMA1.items() if key not in ("sdk_custom", "native_1pass_control", "steps")})
    made["comparisons"] = []
    for name, times in (("native_1pass", native), ("custom_2pass", two_pass)):
        if times:
            made[name] = {"mean_s": sum(times) / len(times), "stdev_s": None, "times": times, "n": len(times), "requests_per_step": 2}
        else:
            made.pop(name)
    if native and two_pass:
        savings = [100 * (1 - fused / slow) for fused, slow in zip(native, two_pass, strict=False)]
        made["comparisons"] = [{"baseline": "custom_2pass", "candidate": "native_1pass", "savings_pct": savings}]
    return made | changed


def result(native: list[float], two_pass: list[float] | None = None, **changed: Any) -> ResultFile:
    return of_document(document(native, two_pass, **changed), "r.json")


def with_value(source: dict[str, Any], where: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """A copy of the document with one value replaced."""
    made = copy.deepcopy(source)
    inner: Any = made
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    return made
