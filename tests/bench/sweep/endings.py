"""Endings of rows, as `take` returns them, without any process."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.sweep.take import Ending
from tests.bench.documents import document

GIB = 2**30
NOTHING = Ending(
    client_code=1,
    server_code=None,
    out_of_time=False,
    ready_s=None,
    wall_s=30.0,
    client_text="",
    server_text="",
    document=None,
    document_file=None,
    told=None,
)


def failed(**changed: Any) -> Ending:
    """A row whose client ended with 1, wrote nothing and said nothing, but for what is given."""
    return replace(NOTHING, **changed)


def measured(
    native: list[float], two_pass: list[float] | None = None, peak_gib: float | None = None, gpu: str | None = None, **changed: Any
) -> Ending:
    """A row that went well: these times, on this GPU."""
    made = document(native, two_pass, status="complete")
    gpus = [] if gpu is None else [{"name": gpu, "peak_bytes": int((peak_gib or 0) * GIB)}]
    made["environment"] = {
        "client": {"python": "3"},
        "server": {"gpus": gpus, "backend": "jax", "weights": "random", "backend_config": {"under": 1}},
        "memory": [{"stage": "ready", "gpus": [{"peak_bytes": GIB}] if gpus else []}, {"stage": "measured", "gpus": gpus}],
    }
    made["native_1pass"]["tokens_per_s"] = 100.0
    if two_pass:
        made["comparisons"][0]["saving_median_pct"] = 25.0
    return replace(NOTHING, client_code=0, ready_s=20.0, document=made, document_file=Path("unused"), **changed)
