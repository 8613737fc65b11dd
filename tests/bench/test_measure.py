"""Taking steps on a clock that is known: order, warm-ups, pauses and what is kept."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pytest

from bench import stats
from bench.errors import BenchError
from bench.measure import MAX_PAUSE_S, Plan, StepRecord, measure
from bench.observer import Observation
from bench.path_names import CONTROL
from bench.paths import Native, StepOutcome, TwoPass
from tests.bench.fakes import FakeClient, FakeTime, setup_of

PAIR = (("native_1pass", Native()), ("custom_2pass", TwoPass()))
PLAN = Plan(PAIR, rounds=4, max_rounds=4, warmup=1, order="interleaved", seed=0, enough=lambda records: True)


def taken(plan: Plan, client: FakeClient | None = None) -> list[StepRecord]:
    client = client or FakeClient(FakeTime())
    return measure(setup_of(client), plan, lambda record: None, lambda records: None, client.time.clock())


def letters(records: list[StepRecord], counted: bool = True) -> str:
    return "".join({"native_1pass": "N", "custom_2pass": "T", CONTROL: "C"}[entry.path] for entry in records if entry.counted is counted)


def test_pairs_are_counter_balanced_after_one_warm_up_of_each() -> None:
    records = taken(PLAN)
    assert letters(records, counted=False) == "NT"
    assert letters(records) == "NTTNTNNT"
    assert [entry.position for entry in records if entry.counted] == [0, 1] * 4
    assert [entry.round for entry in records if entry.counted] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [entry.index for entry in records] == list(range(10))


def test_blocked_takes_one_path_and_then_the_other_each_after_its_warm_up() -> None:
    records = taken(replace(PLAN, order="blocked", rounds=3, warmup=2))
    assert [(entry.path[:3], entry.counted) for entry in records] == [
        *[("nat", False)] * 2,
        *[("nat", True)] * 3,
        *[("cus", False)] * 2,
        *[("cus", True)] * 3,
    ]
    assert [entry.round for entry in records if entry.counted] == [0, 1, 2, 0, 1, 2]


def test_without_warm_up_every_step_counts() -> None:
    assert all(entry.counted for entry in taken(replace(PLAN, warmup=0)))


def test_step_times_are_the_servers_and_the_pause_is_not_in_them() -> None:
    records = taken(PLAN)
    assert {round(entry.step_s, 9) for entry in records if entry.path == "native_1pass"} == {2.5}
    assert {round(entry.step_s, 9) for entry in records if entry.path == "custom_2pass"} == {3.5}
    assert all(sum(entry.phases_s.values()) == pytest.approx(entry.step_s) for entry in records)


def test_the_saving_of_known_latencies_is_known() -> None:
    found = stats.saving(taken(PLAN), "custom_2pass", "native_1pass", seed=0)
    assert found is not None
    # 2.5 s instead of 3.5 s.
    assert found.median_pct == pytest.approx(100 * (1 - 2.5 / 3.5))
    assert (found.pairs, found.faster_in) == (4, 4)
    assert found.ci_low_pct == pytest.approx(28.5714, abs=1e-4)
    assert found.ci_high_pct == pytest.approx(28.5714, abs=1e-4)


def test_a_slow_first_step_is_in_the_file_and_not_in_the_saving() -> None:
    client = FakeClient(FakeTime(), {"forward": 1.0, "forward_backward": iter([60.0] + [2.0] * 99), "optim_step": 0.5})
    records = taken(PLAN, client)
    assert records[0].step_s == pytest.approx(60.5)
    assert not records[0].counted
    assert stats.counted_times(records, "native_1pass") == pytest.approx([2.5] * 4)


def test_a_drifting_machine_does_not_bias_the_paired_saving() -> None:
    def drifting() -> FakeClient:
        # Each gradient is 1 % slower than the one before; forward takes half of a gradient.
        client = FakeClient(FakeTime())
        slower = (2.0 * 1.01**index for index in count())
        client.seconds = {"forward": 0.0, "forward_backward": slower, "optim_step": 0.0}
        return client

    plan = replace(PLAN, rounds=8, max_rounds=8, warmup=0)
    paired = stats.savings_pct(taken(plan, drifting()), "custom_2pass", "native_1pass")
    blocked = stats.savings_pct(taken(replace(plan, order="blocked"), drifting()), "custom_2pass", "native_1pass")
    # The paths cost the same here: pairs see +-1 % that cancels, blocks see eight steps of drift.
    assert sum(paired) / len(paired) == pytest.approx(0.0, abs=0.02)
    assert min(blocked) == pytest.approx(100 * (1 - 1.01**-8))


def test_a_pause_of_at_most_three_polls_comes_before_each_step_and_is_recorded() -> None:
    client = FakeClient(FakeTime())
    records = taken(PLAN, client)
    assert client.time.pauses == [entry.pause_s for entry in records]
    assert all(0.0 <= pause <= MAX_PAUSE_S for pause in client.time.pauses)
    assert len(set(client.time.pauses)) == len(records)


def test_the_same_seed_pauses_alike_and_another_seed_does_not() -> None:
    first, again, other = ([entry.pause_s for entry in taken(plan)] for plan in (PLAN, PLAN, replace(PLAN, seed=1)))
    assert first == again != other


def test_a_step_is_dated_by_the_wall_clock_after_its_pause() -> None:
    client = FakeClient(FakeTime())
    first = taken(PLAN, client)[0]
    # Unix second 1,800,001,000 is 08:16:40 on 15 January 2027.
    assert first.started_at.startswith("2027-01-15T08:16:40.")
    assert first.started_at.endswith("+00:00")


def test_the_control_takes_its_turns_like_any_arm() -> None:
    plan = replace(PLAN, arms=(*PAIR, (CONTROL, Native())), rounds=6, max_rounds=6)
    records = taken(plan)
    assert letters(records, counted=False) == "NTC"
    places = Counter((entry.path, entry.position) for entry in records if entry.counted)
    assert set(places.values()) == {2}
    found = stats.saving(records, "native_1pass", CONTROL, seed=0)
    assert found is not None
    assert found.median_pct == pytest.approx(0.0)


def test_a_target_ends_the_run_at_the_first_even_round_that_is_enough() -> None:
    asked: list[int] = []

    def enough(records: list[StepRecord]) -> bool:
        asked.append(sum(entry.counted for entry in records) // 2)
        return asked[-1] >= 7

    records = taken(replace(PLAN, rounds=3, max_rounds=20, enough=enough))
    assert asked == [4, 6, 8]
    assert sum(entry.counted for entry in records) == 16


def test_a_target_that_is_never_met_ends_at_the_most_steps() -> None:
    records = taken(replace(PLAN, rounds=2, max_rounds=5, enough=lambda records: False))
    assert sum(entry.counted for entry in records) == 10


def test_an_odd_number_of_steps_is_taken_as_asked() -> None:
    assert letters(taken(replace(PLAN, rounds=3, max_rounds=3))) == "NTTNTN"


def test_every_round_is_offered_for_saving_with_all_steps_so_far() -> None:
    seen: list[int] = []
    client = FakeClient(FakeTime())
    measure(setup_of(client), PLAN, lambda record: None, lambda records: seen.append(len(records)), client.time.clock())
    assert seen == [4, 6, 8, 10]


def test_a_failure_keeps_what_was_taken_before_it() -> None:
    client = FakeClient(FakeTime(), fail_at={5: BenchError("the server failed")})
    kept: list[Any] = []
    with pytest.raises(BenchError, match="the server failed"):
        measure(setup_of(client), PLAN, kept.append, lambda records: None, client.time.clock())
    # Gradients 1 and 2 are the warm-ups, 3 and 4 the first pair.
    assert letters(kept) == "NT"
    assert letters(kept, counted=False) == "NT"


@dataclass
class ScriptedObserver:
    """Sees a failed request in the steps of these indices."""

    failing: set[int]
    steps: int = 0

    def start(self) -> None:
        pass

    def finish(self, outcome: StepOutcome) -> Observation:
        self.steps += 1
        return Observation(None, {"requests": 4, "failed_requests": int(self.steps - 1 in self.failing)})


def test_a_step_in_which_a_request_was_sent_again_is_kept_and_not_counted_and_its_round_is_no_pair() -> None:
    plan = replace(PLAN, rounds=4)
    client = FakeClient(FakeTime())
    # Two warm-ups, then rounds of two: step 0 is a warm-up, step 5 the second of round 1.
    observer: Any = ScriptedObserver({0, 5})
    records = measure(setup_of(client), plan, lambda record: None, lambda records: None, client.time.clock(), observer)
    assert len(records) == 2 + 2 * 4
    assert [(entry.index, entry.counted) for entry in records if entry.reason == "repeated_requests"] == [(5, False)]
    assert records[0].reason is None and not records[0].counted
    found = stats.saving(records, "custom_2pass", "native_1pass", seed=0)
    assert found is not None and found.pairs == 3
