"""What a slow wire would cost: each path's step at a given round-trip time and bandwidth, from what it sent and how often it waited.

A projection, not a measurement: to the measured mean step it adds a round trip for each wait that the next call depends on, and the time
that the bodies of the step's requests and results take one after the other. Left out:
connection set-up, TCP's slow start, loss, compression.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench import path_names

RTTS_MS = (1, 20, 80, 150)
BANDWIDTH_MBIT_S = 100.0
NOTE = (
    "a projection: the measured mean step, a round trip for each result that the next call waits for, and its bytes at this bandwidth; "
    "without connection set-up, slow start or loss"
)


@dataclass(frozen=True)
class PathUse:
    """What a step of a path took here: its time, its bytes up and down, the round trips that follow one another."""

    step_s: float
    wire_bytes: float
    round_trips: int


def projected_s(use: PathUse, rtt_ms: float, bandwidth_mbit_s: float) -> float:
    """The step's seconds on a wire of that round-trip time and bandwidth."""
    return use.step_s + use.round_trips * rtt_ms / 1e3 + use.wire_bytes * 8 / (bandwidth_mbit_s * 1e6)


def projection(uses: Mapping[str, PathUse]) -> dict[str, Any] | None:
    """The result file's `projection`; None without both of the headline's paths."""
    if not {path_names.NATIVE, path_names.TWO_PASS} <= uses.keys():
        return None
    rows = []
    for rtt_ms in RTTS_MS:
        native_s, two_pass_s = (projected_s(uses[name], rtt_ms, BANDWIDTH_MBIT_S) for name in (path_names.NATIVE, path_names.TWO_PASS))
        rows.append(
            {
                "rtt_ms": rtt_ms,
                f"{path_names.NATIVE}_s": native_s,
                f"{path_names.TWO_PASS}_s": two_pass_s,
                "saving_pct": 100.0 * (1.0 - native_s / two_pass_s),
            }
        )
    return {"note": NOTE, "bandwidth_mbit_s": BANDWIDTH_MBIT_S, "rows": rows}
