"""A step's time by where it went, from the client's stages and the server's record of the step's requests.

Every moment of the step belongs to one phase, so that the phases sum to it; what neither side accounts for is "unexplained".
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

ENGINE = "engine_"
UNEXPLAINED = "unexplained"
PHASES = (
    "encode",
    "submit",
    "queued",
    f"{ENGINE}forward",
    f"{ENGINE}forward_backward",
    f"{ENGINE}optim_step",
    "fetch",
    "decode",
    "weights",
    UNEXPLAINED,
)
CLIENT_WORK = ("encode", "decode", "weights")


@dataclass(frozen=True)
class Stage:
    """What the client did from `start_s` to `end_s`, on its monotonic clock."""

    name: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Call:
    """A training call: its kind as the server names it, when it was made and when its result was in (None: the SDK does not say)."""

    kind: str
    called_s: float
    received_s: float | None


@dataclass(frozen=True)
class Request:
    """The server's record of a request, in seconds: when it was stored, when the engine's work on it began and ended; None: not known."""

    kind: str
    created_s: float
    start_s: float | None
    end_s: float | None


def timeline_s(stages: Sequence[Stage], calls: Sequence[Call], requests: Sequence[Request]) -> dict[str, float]:
    """Phase -> seconds, in the order of PHASES, those that occur. All times on one clock; the stages are contiguous.

    A moment counts as the client's own work where the client works; else as the engine's where it works on one of the step's requests;
    else as queued where a request waits for the engine; else as submit where a call is on its way to the server; else as fetch where
    a result is on its way back.
    """
    start_s, end_s = stages[0].start_s, stages[-1].end_s
    moments = {start_s, end_s}
    moments.update(stage.end_s for stage in stages)
    moments.update(moment for call in calls for moment in (call.called_s, call.received_s) if moment is not None)
    moments.update(moment for entry in requests for moment in (entry.created_s, entry.start_s, entry.end_s) if moment is not None)
    inside = sorted(moment for moment in moments if start_s <= moment <= end_s)
    spent_s = dict.fromkeys(PHASES, 0.0)
    for left_s, right_s in itertools.pairwise(inside):
        spent_s[_phase(left_s, stages, calls, requests)] += right_s - left_s
    return {phase: seconds for phase, seconds in spent_s.items() if seconds > 0.0 or phase == UNEXPLAINED}


def _phase(moment_s: float, stages: Sequence[Stage], calls: Sequence[Call], requests: Sequence[Request]) -> str:
    """The phase from this moment until the next one of any kind."""
    stage = next((entry.name for entry in stages if entry.start_s <= moment_s < entry.end_s), "")
    if stage in CLIENT_WORK:
        return stage
    for entry in requests:
        if entry.start_s is not None and entry.end_s is not None and entry.start_s <= moment_s < entry.end_s:
            return f"{ENGINE}{entry.kind}"
    if any(entry.start_s is not None and entry.created_s <= moment_s < entry.start_s for entry in requests):
        return "queued"
    open_calls = [call for call in calls if call.called_s <= moment_s and call.received_s is not None and moment_s < call.received_s]
    if any(_not_yet_stored(call, moment_s, requests) for call in open_calls):
        return "submit"
    if any(_all_ended(call, moment_s, requests) for call in open_calls):
        return "fetch"
    return UNEXPLAINED


def _not_yet_stored(call: Call, moment_s: float, requests: Sequence[Request]) -> bool:
    created_s = [entry.created_s for entry in requests if entry.kind == call.kind]
    return bool(created_s) and moment_s < max(created_s)


def _all_ended(call: Call, moment_s: float, requests: Sequence[Request]) -> bool:
    ends_s = [entry.end_s for entry in requests if entry.kind == call.kind]
    return bool(ends_s) and all(end_s is not None and end_s <= moment_s for end_s in ends_s)
