"""Each warning once where it belongs and once where it does not, by hand-made steps."""

from dataclasses import replace

import pytest

from bench import run_warnings, stats
from bench.measure import StepRecord
from bench.run_warnings import RunWarning
from bench.stats import Saving
from tests.bench.fakes import paired, record

NATIVE = ["native_1pass"]
EIGHT_ROUNDS = paired([100.0] * 8, [80.0] * 8)
STEADY = [1.00, 1.02, 0.98, 1.01, 0.99, 1.00, 1.01, 0.99]


def steps(times_s: list[float]) -> list[StepRecord]:
    return [record("native_1pass", index, time_s) for index, time_s in enumerate(times_s)]


def codes(found: list[RunWarning]) -> list[str]:
    return [warning.code for warning in found]


def of_times(times_s: list[float]) -> list[str]:
    return codes(run_warnings.of_steps(steps(times_s), NATIVE))


def saving_of(low: float | None, high: float | None, savings: tuple[float, ...] = (20.0,) * 8) -> Saving:
    return Saving("custom_2pass", "native_1pass", 20.0, low, high, len(savings), savings)


def test_steady_steps_warn_of_nothing() -> None:
    assert of_times(STEADY) == []


def test_a_slow_first_counted_step_is_named_with_its_time() -> None:
    found = run_warnings.of_steps(steps([1.6, *STEADY[1:]]), NATIVE)
    assert codes(found) == ["FIRST_STEP_SLOW", "OUTLIERS"]
    assert "1.600 s" in found[0].text
    assert found[0].unstable


def test_a_first_step_a_little_slower_is_not_named() -> None:
    assert "FIRST_STEP_SLOW" not in of_times([1.4, *STEADY[1:]])


def test_a_slow_warm_up_is_not_a_slow_first_step() -> None:
    records = [record("native_1pass", 0, 60.0, counted=False), *steps(STEADY)]
    assert run_warnings.of_steps(records, NATIVE) == []


def test_a_drift_between_the_halves_is_named_with_its_size() -> None:
    found = run_warnings.of_steps(steps([1.0, 1.0, 1.01, 1.0, 1.2, 1.21, 1.2, 1.2]), NATIVE)
    assert codes(found) == ["DRIFT"]
    assert "+20 %" in found[0].text


def test_a_lean_that_chance_gives_often_is_no_drift() -> None:
    # 11 % lower in the second half, yet 7 of the 28 pairs rise: Kendall's tau is -0.5, which 8 shuffled times reach one time in ten.
    assert "DRIFT" not in of_times([0.572, 0.592, 0.504, 0.560, 0.476, 0.535, 0.513, 0.496])


def test_noise_of_the_same_size_is_no_drift() -> None:
    # The halves' medians are 1.0 and 1.15, and steps spread by as much: 0.35.
    assert "DRIFT" not in of_times([0.6, 1.4, 1.0, 1.0, 1.5, 0.7, 1.3, 1.0])


def test_a_step_far_from_the_others_is_named_and_kept() -> None:
    records = steps([*STEADY[:5], 1.9, *STEADY[6:]])
    found = run_warnings.of_steps(records, NATIVE)
    assert codes(found) == ["OUTLIERS"]
    assert "1 of 8 fused steps" in found[0].text and "1.900" in found[0].text
    assert not found[0].unstable
    assert 1.9 in stats.counted_times(records, "native_1pass")


@pytest.mark.parametrize("times_s", [[], [1.0], [1.0, 9.0, 1.0, 1.0, 1.0]])
def test_fewer_than_six_steps_have_no_shape_to_warn_of(times_s: list[float]) -> None:
    assert of_times(times_s) == []


def test_steps_all_equal_or_nearly_so_do_not_divide_by_zero() -> None:
    assert of_times([1.0] * 8) == []
    # One odd step among equal ones: there is no scale to call it far by.
    assert of_times([1.0] * 7 + [5.0]) == []


def test_steps_with_a_repeated_request_are_told_of_with_their_number() -> None:
    records = [*steps(STEADY), replace(record("native_1pass", 8, 1.0, counted=False), reason="repeated_requests")]
    (found,) = run_warnings.of_repeats(records)
    assert found.code == "REPEATED_REQUESTS" and f"in 1 of {len(STEADY) + 1} steps" in found.text
    assert found.text.endswith("a request failed and was sent again: it is in the file and not counted")
    (only,) = run_warnings.of_repeats(records[-1:])
    assert only.text.startswith("in 1 of 1 step a request failed")
    assert not found.unstable
    assert run_warnings.of_repeats(records[:-1]) == []


def test_a_wide_interval_is_named_with_its_width() -> None:
    found = run_warnings.of_saving(saving_of(12.0, 22.5), "interleaved", EIGHT_ROUNDS)
    assert codes(found) == ["WIDE_INTERVAL"]
    assert "10.5 points" in found[0].text
    # Four times its eight pairs: an interval is about half as wide then.
    assert found[0].action == "Take more steps on a quieter machine: the same with --steps 32, or --target-ci-pct 5."


def test_a_narrow_interval_is_not_named() -> None:
    assert run_warnings.of_saving(saving_of(15.0, 25.0), "interleaved", EIGHT_ROUNDS) == []


def test_too_few_pairs_for_an_interval_are_named_with_their_number() -> None:
    found = run_warnings.of_saving(saving_of(None, None, (20.0, 21.0)), "interleaved", EIGHT_ROUNDS[:4])
    assert codes(found) == ["TOO_FEW_PAIRS"]
    assert found[0].text == "2 pairs are too few for an interval"
    (alone,) = run_warnings.of_saving(saving_of(None, None, (20.0,)), "interleaved", EIGHT_ROUNDS[:2])
    assert alone.text == "1 pair is too few for an interval"


def test_blocked_order_is_named_and_interleaved_is_not() -> None:
    assert codes(run_warnings.of_saving(saving_of(19.0, 21.0), "blocked", [])) == ["BLOCKED_ORDER"]
    assert run_warnings.of_saving(saving_of(19.0, 21.0), "interleaved", EIGHT_ROUNDS) == []


def test_without_a_headline_comparison_nothing_is_said_of_it() -> None:
    assert run_warnings.of_saving(None, "blocked", []) == []


def order_of(first_pct: float, second_pct: float, rounds: int = 12) -> list[str]:
    """Warnings of rounds whose saving depends on whether the fused step went first (even rounds do, see `paired`)."""
    savings = [(first_pct if index % 2 == 0 else second_pct) + 0.01 * index for index in range(rounds)]
    records = paired([100.0] * rounds, [100.0 - value for value in savings])
    found = stats.saving(records, "custom_2pass", "native_1pass", seed=0)
    return codes(run_warnings.of_saving(found, "interleaved", records))


def test_a_saving_that_depends_on_who_goes_first_is_named() -> None:
    assert "ORDER_EFFECT" in order_of(29.0, 21.0)
    assert "ORDER_EFFECT" in order_of(21.0, 29.0)


def test_a_saving_that_does_not_depend_on_who_goes_first_is_not_named() -> None:
    assert order_of(25.0, 25.0) == []
    assert "ORDER_EFFECT" not in order_of(27.0, 24.0)
    assert "ORDER_EFFECT" not in order_of(29.0, 21.0, rounds=8)  # four of each are too few to tell


def test_the_order_effect_says_which_way_it_goes() -> None:
    rounds = 12
    records = paired([100.0] * rounds, [80.0 + index % 2 * 10 for index in range(rounds)])
    found = stats.saving(records, "custom_2pass", "native_1pass", seed=0)
    texts = [warning.text for warning in run_warnings.of_saving(found, "interleaved", records) if warning.code == "ORDER_EFFECT"]
    # Fused first saves 20 %, fused second 10 %.
    assert texts == ["the saving is +10.0 points larger when the fused step goes first"]


def test_a_control_whose_interval_excludes_zero_is_named() -> None:
    control = Saving("native_1pass", "native_1pass_control", 2.0, 0.5, 3.0, 8, (2.0,) * 8)
    found = run_warnings.of_control(control)
    assert codes(found) == ["CONTROL_EXCLUDES_ZERO"]
    assert "+2.0 %" in found[0].text and found[0].unstable


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.0, 2.0), (-2.0, 0.0), (None, None)])
def test_a_control_whose_interval_holds_zero_is_not_named(low: float | None, high: float | None) -> None:
    assert run_warnings.of_control(Saving("native_1pass", "native_1pass_control", 0.1, low, high, 4, (0.1,) * 8)) == []
    assert run_warnings.of_control(None) == []


def test_a_step_that_is_mostly_polling_is_named_with_its_share() -> None:
    found = run_warnings.of_floor({"native_1pass": 0.6, "custom_2pass": 0.4}, {"native_1pass": 1.0, "custom_2pass": 1.0})
    assert codes(found) == ["POLLING_FLOOR"]
    assert found[0].text.startswith("60 % of the fused step") and found[0].text.endswith("0.600 s")
    assert not found[0].unstable


def test_a_floor_below_half_or_of_a_path_without_steps_is_not_named() -> None:
    assert run_warnings.of_floor({"native_1pass": 0.5}, {"native_1pass": 1.0}) == []
    assert run_warnings.of_floor({"native_1pass": 0.9}, {}) == []
    assert run_warnings.of_floor({}, {"native_1pass": 1.0}) == []
