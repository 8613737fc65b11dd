"""What the rows of a sweep can say of each setting of the best."""

import json
import statistics
from pathlib import Path
from typing import Any

from bench.sweep.best import not_told_apart
from bench.sweep.reasons import reasons
from bench.sweep.rows import best_of

GIB = 2**30
PUBLISHED = Path(__file__).parents[3] / "results" / "published"


def row(label: str, config: dict[str, Any], times: list[float], status: str = "ok", gib: float | None = None) -> dict[str, Any]:
    return {
        "label": label,
        "backend_config": config,
        "status": status,
        "native_1pass_s": statistics.median(times) if times else None,
        "native_times": times,
        "peak_memory_bytes": None if gib is None else int(gib * GIB),
    }


def why(rows: list[dict[str, Any]], under: dict[str, Any] | None = None, limit_gib: float | None = None) -> dict[str, str]:
    best = best_of(rows, limit_gib)
    assert best is not None
    return reasons(rows, best, (under or {}) | best["backend_config"], limit_gib, not_told_apart(rows, best, limit_gib))


def test_each_setting_is_held_against_the_fastest_row_that_differs_in_it_alone() -> None:
    rows = [
        row("small", {"size": 1, "checkpointing": False}, [8.0]),
        row("four", {"size": 4, "checkpointing": False}, [2.0]),
        row("best", {"size": 16, "checkpointing": False}, [0.5]),
        row("recomputing", {"size": 16, "checkpointing": True}, [0.75]),
        row("four-recomputing", {"size": 4, "checkpointing": True}, [0.6]),  # two settings differ: it shows neither
    ]
    assert why(rows) == {
        "size": "0.500 s a fused step, against 2.000 s with 4 and all else the same (four)",
        "checkpointing": "0.500 s a fused step, against 0.750 s with true and all else the same (recomputing)",
    }


def test_a_setting_that_no_row_varies_is_the_same_in_every_row_or_on_every_server() -> None:
    rows = [row("a", {"fixed": 1, "size": 1}, [2.0]), row("b", {"fixed": 1, "size": 2}, [1.0])]
    found = why(rows, {"preset": {"of": "the server"}})
    assert (found["fixed"], found["preset"]) == ("the same in every row that ran", "as on every server of the sweep")


def test_a_row_that_ran_alone_says_so_of_its_settings_rather_than_of_rows_that_are_not_there() -> None:
    lost = row("lost", {"fixed": 1, "size": 2}, [], "crashed")
    assert why([row("a", {"fixed": 1, "size": 1}, [2.0])]) == {"fixed": "no other setting ran", "size": "no other setting ran"}
    assert why([row("a", {"fixed": 1, "size": 1}, [2.0]), lost]) == {
        "fixed": "no other setting ran",
        "size": "2.000 s a fused step; with 2 the row crashed, all else the same",
    }


def test_settings_that_are_only_varied_together_are_said_to_be() -> None:
    rows = [row("a", {"train": 4, "forward": 4}, [2.0]), row("b", {"train": 8, "forward": 8}, [1.0])]
    assert why(rows) == {
        "train": "part of the fastest row, and not varied alone: 1.000 s a fused step, against 2.000 s in a, where forward differs too",
        "forward": "part of the fastest row, and not varied alone: 1.000 s a fused step, against 2.000 s in a, where train differs too",
    }
    assert set(why([rows[1], row("lost", {"train": 4, "forward": 4}, [], "crashed")]).values()) == {
        "part of the fastest row, and not varied alone"
    }


def test_a_row_that_is_as_fast_as_its_steps_tell_is_said_to_be() -> None:
    found = why([row("near", {"size": 8}, [0.6, 0.9]), row("best", {"size": 16}, [0.5, 0.7])])
    assert found["size"].endswith("0.750 s with 8 and all else the same (near): not told apart, for step times overlap")


def test_what_does_not_run_or_fit_is_told_too() -> None:
    rows = [
        row("best", {"size": 8}, [0.5], gib=18.0),
        row("four", {"size": 4}, [0.9], gib=9.0),
        row("large", {"size": 16}, [0.4], gib=30.0),
        row("larger", {"size": 64}, [], "out_of_memory"),
        row("odd", {"size": -1}, [], "refused"),
    ]
    assert why(rows, limit_gib=20.0)["size"] == (
        "0.500 s a fused step, against 0.900 s with 4 and all else the same (four); with 16 it takes 30.0 GiB, more than the limit; "
        "with 64 it runs out of memory; with -1 it is refused"
    )
    assert why([rows[0], rows[3]])["size"] == "0.500 s a fused step; with 64 it runs out of memory, all else the same"


def test_a_setting_that_a_row_leaves_out_is_what_the_server_has_under_it() -> None:
    stock = row("stock", {}, [0.5])
    rows = [stock, row("same", {"size": 1}, [0.6]), row("two", {"size": 2}, [0.7])]
    assert why(rows, {"size": 1}) == {"size": "0.500 s a fused step, against 0.700 s with 2 and all else the same (two)"}
    assert why([row("best", {"size": 4}, [0.4]), stock]) == {
        "size": "0.400 s a fused step, against 0.500 s with it left out and all else the same (stock)"
    }


def test_a_row_with_another_batch_shows_nothing() -> None:
    rows = [row("best", {"size": 4}, [0.4]), row("grown", {"size": 1}, [0.9]) | {"batch_times": 2}]
    assert why(rows) == {"size": "no other setting ran"}


def test_the_published_sweep_of_the_cpu_gives_its_micro_batch_and_nothing_else_a_time() -> None:
    document = json.loads((PUBLISHED / "cpu-sweep.json").read_text())
    found = why(document["rows"])
    assert found.pop("train_micro_batch_size") == (
        "0.497 s a fused step, against 0.587 s with 4 and all else the same (micro-batch-4): not told apart, for step times overlap"
    )
    assert set(found.values()) == {"the same in every row that ran"} and len(found) == 4
