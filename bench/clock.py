"""Time and pauses, replaceable in tests by a clock whose every tick is known."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """`now_s` is monotonic and in seconds, `sleep` takes seconds, `wall_s` is Unix time."""

    now_s: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], None] = time.sleep
    wall_s: Callable[[], float] = time.time


class PhaseTimer:
    """Splits a stretch of time into named phases that sum to it: each `mark` names what passed since the last one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._start_s = self._last_s = clock.now_s()
        self.phases_s: dict[str, float] = {}

    def mark(self, phase: str) -> None:
        now_s = self._clock.now_s()
        self.phases_s[phase] = self.phases_s.get(phase, 0.0) + now_s - self._last_s
        self._last_s = now_s

    @property
    def total_s(self) -> float:
        return self._last_s - self._start_s
