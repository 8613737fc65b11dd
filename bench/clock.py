"""Time and pauses, replaceable in tests by a clock whose every tick is known."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from bench.timeline import Stage


@dataclass(frozen=True)
class Clock:
    """`now_s` is monotonic and in seconds, `sleep` takes seconds, `wall_s` is Unix time."""

    now_s: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], None] = time.sleep
    wall_s: Callable[[], float] = time.time


class PhaseTimer:
    """Splits a stretch of time into named stages: each `mark` names what passed since the last one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.started_wall_s = clock.wall_s()
        self._start_s = self.last_s = clock.now_s()
        self.stages: list[Stage] = []

    def mark(self, name: str) -> None:
        now_s = self._clock.now_s()
        self.stages.append(Stage(name, self.last_s, now_s))
        self.last_s = now_s

    @property
    def phases_s(self) -> dict[str, float]:
        """Name -> seconds; they sum to the total."""
        spent_s: dict[str, float] = {}
        for stage in self.stages:
            spent_s[stage.name] = spent_s.get(stage.name, 0.0) + stage.end_s - stage.start_s
        return spent_s

    @property
    def total_s(self) -> float:
        return self.last_s - self._start_s
