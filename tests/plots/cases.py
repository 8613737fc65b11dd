"""Result files at the edges of what can be drawn, each made from the stored ones."""

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"
PATHS = ("native_1pass", "custom_2pass", "sdk_custom", "native_1pass_control")


def stored(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"{name}_gspo_bench.json").read_text())


def only(*names: str) -> dict[str, Any]:
    """Keep only some paths, and the comparisons between them."""
    document = stored("schema1")
    for name in set(PATHS) - set(names):
        del document[name]
    kept = [made for made in document["comparisons"] if {made["baseline"], made["candidate"]} <= set(names)]
    return document | {"comparisons": kept}


def timed(times: list[float]) -> dict[str, Any]:
    mean = sum(times) / len(times)
    ordered = sorted(times)
    return {"mean_s": mean, "stdev_s": None, "median_s": ordered[len(times) // 2], "times": times, "n": len(times)}


def scaled(factor: float, *names: str) -> dict[str, Any]:
    """Make the steps of some paths longer by a factor."""
    document = stored("schema1")
    for name in names:
        path = document[name]
        for key in ("mean_s", "stdev_s", "median_s"):
            path[key] *= factor
        path["times"] = [time * factor for time in path["times"]]
    return document


def one_step() -> dict[str, Any]:
    document = only("native_1pass", "custom_2pass")
    document |= {"native_1pass": timed([12.5]), "custom_2pass": timed([16.0])}
    document["comparisons"][0] |= {
        "saving_median_pct": 21.875,
        "ci_low_pct": None,
        "ci_high_pct": None,
        "pairs": 1,
        "faster_in": 1,
    }
    return document


def long_words() -> dict[str, Any]:
    """Texts far longer than their place: with blanks and without, and with what matplotlib would take for maths."""
    document = stored("schema1")
    document["summary"]["model"] = "/models/$x_1$/" + "averyveryverylongmodelnamewithoutanyblanks-" * 12
    document["environment"]["server"] |= {
        "gpus": [{"name": "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "total_bytes": 1}] * 8
        + [{"name": "Another GPU of a long and winding name, PCIe, 80 GB", "total_bytes": 1}],
        "notes": ["a note that goes on and on " * 20] * 5,
    }
    document["status"], document["reason"] = "partial", "the server died while waiting for forward_backward " * 20
    document["warnings"] = [{"code": "A_CODE" * 20, "text": "W" * 500, "action": "do"}] * 7
    document["settings"] |= {"order": "x" * 400, "mode": "y z " * 100}
    return document


def huge_numbers() -> dict[str, Any]:
    document = stored("schema1")
    for name in PATHS:
        document[name] = timed([9.87654321e8, 1e9, 9.1e8])
    document["summary"]["total_tokens_per_step"] = 999_999_999_999
    document["comparisons"][0] |= {"saving_median_pct": -1e15, "ci_low_pct": -1e15, "ci_high_pct": -9e14}
    return document


def one_slow_step() -> dict[str, Any]:
    document = stored("schema1")
    document["custom_2pass"]["times"][0] = 40.0
    return document


def many_steps() -> dict[str, Any]:
    document = stored("schema1")
    for name in PATHS:
        document[name]["times"] = document[name]["times"] * 40
    return document


def no_difference() -> dict[str, Any]:
    document = only("native_1pass", "custom_2pass")
    document["comparisons"][0] |= {"saving_median_pct": 1.2, "ci_low_pct": -2.1, "ci_high_pct": 4.0, "faster_in": 5}
    return document


def slower() -> dict[str, Any]:
    document = only("native_1pass", "custom_2pass")
    document["comparisons"][0] |= {"saving_median_pct": -7.5, "ci_low_pct": -9.0, "ci_high_pct": -6.0, "faster_in": 0}
    return document


def partial() -> dict[str, Any]:
    document = only("native_1pass", "custom_2pass")
    document |= {"status": "partial", "reason": "server died while waiting for optim_step after 3 pairs"}
    for name in ("native_1pass", "custom_2pass"):
        document[name] = timed(document[name]["times"][:3])
    document["comparisons"][0] |= {"pairs": 3, "faster_in": 3}
    document["environment"]["server"] = None
    return document


def invalid() -> dict[str, Any]:
    text = "gspo: row 1 came as row 2"
    caution = {"code": "OUTPUTS_OUT_OF_ORDER", "text": text, "action": "Try another server setting.", "unstable": True}
    return stored("schema1") | {"valid": False, "order_check": {"outcome": "fail", "text": text, "numbers": {}}, "warnings": [caution]}


def bare() -> dict[str, Any]:
    """As little as can be drawn."""
    return {"native_1pass": {"times": [1.0, 2.0]}}


def on_a_gpu() -> dict[str, Any]:
    document = scaled(60.0, *PATHS)
    document["summary"] |= {"model": "Qwen/Qwen3-4B-Instruct-2507", "total_tokens_per_step": 7569}
    gpu = {"name": "NVIDIA L4", "total_bytes": 24_000_000_000, "used_bytes": 1, "driver": "570.1"}
    document["environment"]["server"] |= {"gpus": [gpu], "backend": "fsdp", "weights": "pretrained", "notes": []}
    document["settings"] |= {"order": "blocked", "mode": "blocking"}
    document["warnings"] = []
    return document


CASES: dict[str, dict[str, Any]] = {
    "published": stored("published"),
    "schema1": stored("schema1"),
    "one path": only("native_1pass"),
    "two paths": only("native_1pass", "custom_2pass"),
    "three paths": only("native_1pass", "custom_2pass", "sdk_custom"),
    "a path 1000 times slower": scaled(1000.0, "custom_2pass"),
    "milliseconds": scaled(0.01, *PATHS),
    "microseconds": scaled(2e-5, *PATHS),
    "one step": one_step(),
    "long words": long_words(),
    "huge numbers": huge_numbers(),
    "one slow step": one_slow_step(),
    "many steps": many_steps(),
    "no difference": no_difference(),
    "slower": slower(),
    "partial": partial(),
    "invalid": invalid(),
    "bare": bare(),
    "on a GPU": on_a_gpu(),
}
