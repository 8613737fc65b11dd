"""Taking the timed steps: warm up, then rounds in which every arm takes one step, each after a short random pause."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bench import order
from bench.clock import Clock
from bench.observer import Observer
from bench.paths import Path, StepSetup

# The server polls every 0.1 s (engine) and 0.05 s (API): a pause of 0 to 0.15 s spreads steps over all phases of both.
MAX_PAUSE_S = 0.15
# The reason of a step in which a request failed and was sent again: its time is the network's as much as the path's.
REPEATED = "repeated_requests"


@dataclass(frozen=True)
class StepRecord:
    """One step as it was taken, warm-ups (`counted` False) too. `round` pairs steps of different paths; `position` is the place in it.

    `reason` says why a step that was to count does not.
    """

    index: int
    path: str
    round: int
    position: int
    counted: bool
    started_at: str
    pause_s: float
    step_s: float
    phases_s: dict[str, float]
    metrics: dict[str, float | None]
    timeline_s: dict[str, float] | None = None
    wire: dict[str, int] | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Plan:
    """How many steps of which arms, in which order. `enough(records)` may end an interleaved run early or late, at even rounds."""

    arms: Sequence[tuple[str, Path]]
    rounds: int
    max_rounds: int
    warmup: int
    order: str
    seed: int
    enough: Callable[[list[StepRecord]], bool]


@dataclass
class Recorder:
    """Takes steps one at a time and keeps their records in execution order."""

    setup: StepSetup
    plan: Plan
    on_step: Callable[[StepRecord], None]
    clock: Clock
    observer: Observer | None
    records: list[StepRecord] = field(default_factory=list)
    pauses: random.Random = field(default_factory=random.Random)

    def take(self, arm: str, path: Path, round_index: int, position: int, counted: bool) -> None:
        pause_s = self.pauses.uniform(0.0, MAX_PAUSE_S)
        self.clock.sleep(pause_s)
        started_at = datetime.fromtimestamp(self.clock.wall_s(), UTC).isoformat(timespec="milliseconds")
        if self.observer:
            self.observer.start()
        outcome = path.step(self.setup)
        seen = self.observer.finish(outcome) if self.observer else None
        repeated = bool(seen and seen.wire["failed_requests"])
        record = StepRecord(
            index=len(self.records),
            path=arm,
            round=round_index,
            position=position,
            counted=counted and not repeated,
            started_at=started_at,
            pause_s=pause_s,
            step_s=outcome.step_s,
            phases_s=outcome.phases_s,
            metrics=outcome.metrics,
            timeline_s=seen.timeline_s if seen else None,
            wire=seen.wire if seen else None,
            reason=REPEATED if counted and repeated else None,
        )
        self.records.append(record)
        self.on_step(record)


def measure(
    setup: StepSetup,
    plan: Plan,
    on_step: Callable[[StepRecord], None],
    on_round: Callable[[list[StepRecord]], None],
    clock: Clock,
    observer: Observer | None = None,
) -> list[StepRecord]:
    """Takes the plan's steps and returns their records, in execution order. `on_round` sees all records after each round, to save
    them; `observer` looks at each step from before it to after it.
    """
    recorder = Recorder(setup, plan, on_step, clock, observer, pauses=random.Random(plan.seed))
    paths = dict(plan.arms)
    names = [name for name, _ in plan.arms]
    if plan.order == "blocked":
        for name in names:
            _warm_up(recorder, [(name, paths[name])])
            for index in range(plan.rounds):
                recorder.take(name, paths[name], index, 0, counted=True)
                on_round(recorder.records)
        return recorder.records
    _warm_up(recorder, plan.arms)
    for index, round_names in zip(range(plan.max_rounds), order.interleaved(names), strict=False):
        for position, name in enumerate(round_names):
            recorder.take(name, paths[name], index, position, counted=True)
        on_round(recorder.records)
        done = index + 1
        if done >= plan.rounds and done % 2 == 0 and plan.enough(recorder.records):
            break
    return recorder.records


def _warm_up(recorder: Recorder, arms: Sequence[tuple[str, Path]]) -> None:
    for round_index in range(recorder.plan.warmup):
        for position, (name, path) in enumerate(arms):
            recorder.take(name, path, round_index, position, counted=False)
