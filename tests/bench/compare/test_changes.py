"""What may be compared, each path's change, the saving's change, and what counts as a regression; by hand."""

from typing import Any

import pytest

from bench.compare import changes, words
from bench.compare.changes import path_changes, refusals, regressions, saving_changes
from bench.compare.samples import Estimate
from bench.result_file import of_document
from tests.bench.documents import PUBLISHED, SCHEMA1, document, result, with_value

EIGHT = [1.00, 1.01, 0.99, 1.02, 0.98, 1.00, 1.01, 0.99]
SLOWER = [1.1 * time_s for time_s in EIGHT]


def test_a_file_against_itself_may_be_compared_and_shows_no_difference() -> None:
    both = of_document(SCHEMA1, "a.json")
    assert refusals(both, both) == []
    found = path_changes(both, both)
    assert [entry.path for entry in found] == ["native_1pass", "native_1pass_control", "custom_2pass", "sdk_custom"]
    assert all(words.of_path(entry).startswith("no difference that 8 steps can show: 0.0 %, 95 % interval -") for entry in found)
    assert all(words.of_saving(entry).startswith("no difference that 8 pairs can show: 0.0 points") for entry in saving_changes(both, both))


@pytest.mark.parametrize(
    ("where", "value", "why"),
    [
        (("summary", "model"), "other", "another model (tiny-qwen3; other)"),
        (("batch", "sha256"), "f" * 64, "another batch (sha256 "),
    ],
)
def test_another_model_or_batch_is_refused(where: tuple[str, ...], value: str, why: str) -> None:
    found = refusals(of_document(SCHEMA1, "a"), of_document(with_value(SCHEMA1, where, value), "b"))
    assert len(found) == 1 and found[0].startswith(why)


def test_the_same_tokens_sampled_again_may_be_compared_though_their_logprobs_differ_in_the_last_digits() -> None:
    told = with_value(SCHEMA1, ("batch", "tokens_sha256"), "c" * 64)
    again = with_value(told, ("batch", "sha256"), "f" * 64)
    other = with_value(again, ("batch", "tokens_sha256"), "d" * 64)
    assert refusals(of_document(told, "a"), of_document(again, "b")) == []
    assert refusals(of_document(told, "a"), of_document(other, "b")) == [f"another batch (tokens_sha256 {'c' * 12}; {'d' * 12})"]
    # An older file tells only the hash of all.
    assert len(refusals(of_document(SCHEMA1, "a"), of_document(again, "b"))) == 1


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("Qwen/Qwen3-0.6B", "/models/Qwen3-0.6B", True),
        ("/models/m/", "models/here/m", True),
        ("Qwen/Qwen3-0.6B", "mine/Qwen3-0.6B", False),
        ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-4B", False),
    ],
)
def test_a_folder_with_the_models_name_is_the_same_model(a: str, b: str, same: bool) -> None:
    ours, theirs = (of_document(with_value(SCHEMA1, ("summary", "model"), name), name) for name in (a, b))
    assert (refusals(ours, theirs) == []) is same


def test_without_hashes_the_sizes_decide_and_the_doubt_is_told() -> None:
    published = of_document(PUBLISHED, "p.json")
    assert refusals(published, published) == []
    larger = of_document(with_value(PUBLISHED, ("summary", "total_tokens_per_step"), 7570), "q.json")
    assert refusals(published, larger) == ["another batch (7,569 and 7,570 target tokens a step)"]
    assert "Whether both took the same batch is not told; only sizes can be compared." in words.notes(published, published, (), ())


def test_no_common_path_is_refused_and_a_partial_file_without_steps_has_none() -> None:
    fused, empty = result(EIGHT), result([], status="partial", reason="the server died")
    assert refusals(fused, empty) == refusals(empty, empty) == ["no path with timed steps in both"]
    assert path_changes(fused, empty) == saving_changes(fused, empty) == []


def test_the_change_is_of_the_medians_in_percent_of_the_baseline() -> None:
    entry = path_changes(result([1.0, 2.0, 9.0]), result([3.0]))[0]
    assert (entry.a_median_s, entry.b_median_s, entry.a_steps, entry.b_steps) == (2.0, 3.0, 3, 1)
    assert entry.estimate.value == pytest.approx(50.0)
    expected = "50.0 % slower by the medians; too few steps for an interval (3 and 1; 4 on each side are needed)"
    assert words.of_path(entry) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([2.0] * 5, [2.0] * 5, "no difference that 5 steps can show: 0.0 %, 95 % interval 0.0 to 0.0 %"),
        ([2.0] * 5, [2.5] * 4, "25.0 % slower, 95 % interval 25.0 to 25.0 %"),
        ([2.0] * 4, [1.5] * 4, "25.0 % faster, 95 % interval 25.0 to 25.0 %"),
        ([15.0] * 4, [1.0] * 4, "93.3 % faster (15.0 times as fast), 95 % interval 93.3 to 93.3 %"),
        ([2.0], [2.0], "equal medians; too few steps for an interval (1; 4 on each side are needed)"),
        ([1.0] * 4, [2.5] * 4, "150.0 % slower (2.50 times as long), 95 % interval 150.0 to 150.0 %"),
        ([1e-9] * 4, [1e9] * 4, "1.00e+20 % slower (1.00e+18 times as long), 95 % interval 1.00e+20 to 1.00e+20 %"),
    ],
)
def test_changes_in_words(a: list[float], b: list[float], expected: str) -> None:
    said = words.of_path(path_changes(result(a), result(b))[0])
    assert said == expected


def test_overlapping_steps_of_unequal_counts_show_no_difference() -> None:
    said = words.of_path(path_changes(result(EIGHT), result([1.0, 0.99, 1.02, 1.01]))[0])
    assert said.startswith("no difference that 8 and 4 steps can show: +0.5 %, 95 % interval -")


def test_a_tenth_more_time_with_a_percent_of_noise_is_slower() -> None:
    said = words.of_path(path_changes(result(EIGHT), result(SLOWER))[0])
    assert said.startswith("10.0 % slower, 95 % interval ") and "no difference" not in said


def test_the_savings_change_is_of_the_medians_over_each_runs_own_pairs() -> None:
    # Savings of 50, 50, 25 and 0 %, and of 75 % four times: medians 37.5 and 75.
    a, b = result([1.0, 1.0, 1.5, 2.0], [2.0] * 4), result([1.0] * 4, [4.0] * 4)
    found = saving_changes(a, b)[0]
    assert (found.a_pct, found.b_pct, found.a_count, found.b_count, found.paired) == (37.5, 75.0, 4, 4, True)
    assert found.estimate.value == pytest.approx(37.5)
    # The extremes of four savings: 75 less 50, 75 less 0.
    assert (found.estimate.ci_low, found.estimate.ci_high) == (pytest.approx(25.0), pytest.approx(75.0))
    assert words.of_saving(found) == "37.5 points more, 95 % interval 25.0 to 75.0 points"


def test_where_a_file_tells_no_pairs_both_savings_come_from_the_paths_medians() -> None:
    published = of_document(PUBLISHED, "p.json")
    ours = of_document(document([6.0] * 8, [10.0] * 8), "r.json")
    found = saving_changes(published, ours)[0]
    # By hand: the published medians are (12.792 + 12.859) / 2 and (16.595 + 16.691) / 2.
    assert found.a_pct == pytest.approx(100 * (1 - 12.8255 / 16.643))
    assert (found.b_pct, found.paired) == (pytest.approx(40.0), False)
    assert words.of_saving(found).endswith("points (from the paths' medians: a file tells no pairs)")


def test_one_pair_has_a_saving_and_no_interval() -> None:
    said = words.of_saving(saving_changes(result([1.0], [2.0]), result(EIGHT, SLOWER))[0])
    assert said == "40.9 points less by the medians; too few pairs for an interval (1 and 8; 4 on each side are needed)"


def judged(a: Any, b: Any, max_pct: float) -> tuple[list[str], list[str]]:
    slower, unjudged = regressions(a, path_changes(a, b), max_pct)
    return [entry.path for entry in slower], unjudged


def test_a_regression_is_slower_by_more_than_allowed_with_its_interval_above_0() -> None:
    a = result(EIGHT)
    assert judged(a, result(SLOWER), 5.0) == (["native_1pass"], [])
    assert judged(a, result(SLOWER), 11.0) == ([], [])
    # Faster is none; nor is slower by the median with an interval that holds 0.
    assert judged(result(SLOWER), a, 0.0) == ([], [])
    assert judged(a, result([0.9, 0.9, 1.2, 1.3, 1.3, 0.9, 1.2, 1.2]), 5.0) == ([], [])


def test_what_cannot_be_judged_is_named_and_the_control_is_not_asked_for() -> None:
    both = result(EIGHT, SLOWER)
    assert judged(both, result(EIGHT), 5.0) == ([], ["custom_2pass"])
    assert judged(both, result(SLOWER[:3], SLOWER), 5.0) == ([], ["native_1pass"])
    assert judged(result(EIGHT), both, 5.0) == ([], [])
    with_control = of_document(SCHEMA1, "a.json")
    without = of_document({key: value for key, value in SCHEMA1.items() if key != "native_1pass_control"}, "b.json")
    assert judged(with_control, without, 5.0) == ([], [])
    slow_control = with_value(SCHEMA1, ("native_1pass_control", "times"), [9.0] * 8)
    assert judged(with_control, of_document(slow_control, "b.json"), 5.0) == ([], [])


def test_a_run_against_itself_is_no_regression_in_nearly_all_of_a_hundred_runs() -> None:
    import numpy as np

    random = np.random.default_rng(5)
    found = 0
    for _ in range(100):
        a, b = (result(random.lognormal(0.0, 0.05, count).tolist()) for count in (8, 6))
        found += bool(changes.regressions(a, path_changes(a, b), 0.0)[0])
    assert found <= 5


def test_what_an_interval_reaches_beyond_is_not_ruled_out_but_of_the_control() -> None:
    reaching = [
        changes.PathChange(path, 1.0, 1.0, 8, 8, Estimate(1.2, low, high))
        for path, low, high in (
            ("native_1pass", -7.9, 12.9),
            ("custom_2pass", -2.0, 5.0),
            ("native_1pass_control", -7.9, 12.9),
            ("sdk_custom", None, None),
        )
    ]
    assert [entry.path for entry in changes.not_ruled_out(reaching, 5.0)] == ["native_1pass"]
    assert changes.not_ruled_out(reaching, 12.9) == []
