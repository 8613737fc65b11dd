"""What can be seen of a step beside its duration: the bytes on the wire, and the server's own record of when it did what."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from bench.clock import Clock
from bench.paths import StepOutcome
from bench.probe import Probe
from bench.timeline import Request, timeline_s
from bench.wire import WireCounter

CLOCK_LOOKS = 5


@dataclass(frozen=True)
class ClockOffset:
    """The server's wall clock less the client's, in seconds, known to within `uncertainty_s`: half the quickest look's round trip."""

    offset_s: float
    uncertainty_s: float


@dataclass(frozen=True)
class Observation:
    """A step's timeline, None where the server keeps no record, and its use of the wire."""

    timeline_s: dict[str, float] | None
    wire: dict[str, int]


def clock_offset(look: Callable[[], float | None], clock: Clock) -> ClockOffset | None:
    """The offset by the quickest of a few looks at the server's clock, as NTP takes it; None where the server tells no time."""
    found = []
    for _ in range(CLOCK_LOOKS):
        wall_s, before_s = clock.wall_s(), clock.now_s()
        server_s = look()
        half_s = (clock.now_s() - before_s) / 2
        if server_s is None:
            return None
        found.append(ClockOffset(server_s - (wall_s + half_s), half_s))
    return min(found, key=lambda entry: entry.uncertainty_s)


class Observer:
    """Observes the steps of one model: `start` before each, `finish` right after it, outside its time."""

    def __init__(self, probe: Probe, model_id: str, wire: WireCounter, clock: Clock) -> None:
        self._probe = probe
        self._model_id = model_id
        self._wire = wire
        self._last_request = 0
        self.offset = clock_offset(probe.clock_s, clock)

    def start(self) -> None:
        """Forgets what was sent until now."""
        self._wire.restart()
        if self._last_request == 0:
            self._new_requests()

    def finish(self, outcome: StepOutcome) -> Observation:
        """What the step that just ended used, and where its time went."""
        wire = asdict(self._wire.used())
        records = self._new_requests()
        if not records or self.offset is None or not outcome.stages:
            return Observation(None, wire)
        # From the server's wall clock to the client's monotonic one.
        shift_s = outcome.stages[0].start_s - outcome.started_wall_s - self.offset.offset_s
        requests = [_request(entry, shift_s) for entry in records]
        return Observation(timeline_s(outcome.stages, outcome.calls, requests), wire)

    def _new_requests(self) -> list[dict[str, Any]]:
        found = self._probe.requests(self._model_id, self._last_request)
        if found:
            self._last_request = max(entry["request_id"] for entry in found)
        return found


def _request(entry: dict[str, Any], shift_s: float) -> Request:
    start_s, end_s = (None if entry[name] is None else entry[name] + shift_s for name in ("start_s", "end_s"))
    return Request(entry["type"], entry["created_s"] + shift_s, start_s, end_s)
