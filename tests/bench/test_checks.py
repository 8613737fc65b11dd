"""The verdicts of `bench verify` on servers that are right, and on one for each way of being wrong."""

from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
import tinker

from bench import synthetic
from bench.batch import Sequence
from bench.checks import (
    Outcome,
    accumulation_check,
    beyond_clip,
    equivalence_check,
    expected_loss,
    loss_of,
    mask_check,
    order_check,
)
from bench.gspo import Clip

Rows = list[npt.NDArray[np.float32]]

MADE = synthetic.sequences(seed=0)
CLIP = Clip(0.8, 1.2)


def rows_of(seed: int) -> Rows:
    random = np.random.default_rng(seed)
    return [random.uniform(-5.0, -0.5, sequence.target_count).astype(np.float32) for sequence in MADE]


ALONE = rows_of(1)


def noisy(rows: Rows, size: float) -> Rows:
    random = np.random.default_rng(9)
    return [(row + random.uniform(-size, size, len(row))).astype(np.float32) for row in rows]


def test_rows_in_order_pass_with_the_noise_of_bf16() -> None:
    assert order_check(ALONE, noisy(ALONE, 0.03), MADE).outcome is Outcome.PASS


def test_two_rows_of_equal_length_that_changed_places_are_found_and_named() -> None:
    # Datums 0 and 8 have equal prompts' and responses' lengths, so only the values tell.
    together = noisy(ALONE, 0.03)
    together[0], together[8] = together[8], together[0]
    check = order_check(ALONE, together, MADE)
    assert check.outcome is Outcome.FAIL
    assert check.text == "the row of datum 0 is datum 8's: outputs are not in input order"


def test_rows_sliced_from_the_wrong_end_fail_though_their_length_is_right() -> None:
    shifted = [np.roll(row, 2) for row in ALONE]
    assert order_check(ALONE, shifted, MADE).outcome is Outcome.FAIL


def test_what_stands_on_the_prompt_does_not_matter_for_the_order() -> None:
    together = [row.copy() for row in ALONE]
    for row, sequence in zip(together, MADE, strict=True):
        row[: len(sequence.prompt_tokens) - 1] = 0.0
    assert order_check(ALONE, together, MADE).outcome is Outcome.PASS


# One sequence inside the clip and one above it: log ratios 0 and 0.3, advantage +1, two and three response tokens.
TWO = (Sequence((1, 2), (3, 4), (-1.0, -1.0), 1.0), Sequence((1, 2), (3, 4, 5), (-1.3, -1.3, -1.3), 1.0))
NEW = [np.array(row, dtype=np.float32) for row in ([-9.0, -1.0, -1.0], [-9.0, -1.0, -1.0, -1.0])]
# -1 on two tokens, and -1.2 on three.
LOSS = -2.0 - 3.6


def test_the_expected_loss_and_clip_are_those_of_the_response_alone() -> None:
    losses = [expected_loss(sequence, row, CLIP) for sequence, row in zip(TWO, NEW, strict=True)]
    assert losses == pytest.approx([-2.0, -3.6])
    assert [beyond_clip(sequence, row, CLIP) for sequence, row in zip(TWO, NEW, strict=True)] == [False, True]


@pytest.mark.parametrize(
    ("loss", "beyond", "within", "outcome"),
    [
        (LOSS, 1.0, 0.0, Outcome.PASS),
        (LOSS * 1.01, 1.0, 0.0, Outcome.PASS),
        (LOSS, None, None, Outcome.PASS),
        (LOSS * 1.05, 1.0, 0.0, Outcome.FAIL),
        (-LOSS, 1.0, 0.0, Outcome.FAIL),
        (LOSS, 0.0, 0.0, Outcome.FAIL),
        (LOSS, 1.0, 0.25, Outcome.FAIL),
        (None, 1.0, 0.0, Outcome.CANNOT_TELL),
    ],
)
def test_the_mask_is_judged_by_the_loss_and_the_clip_fractions(
    loss: float | None, beyond: float | None, within: float | None, outcome: Outcome
) -> None:
    assert mask_check(loss, LOSS, abs(LOSS), beyond, within).outcome is outcome


def upstream_clip_fraction(flags: list[bool], lengths: list[int], micro_batch: int) -> float:
    """SkyRL's clip_ratio:mean as its code has it: over the tokens of a micro-batch, then over micro-batches."""
    starts = range(0, len(flags), micro_batch)
    parts = [list(zip(flags, lengths, strict=True))[start : start + micro_batch] for start in starts]
    return float(np.mean([sum(n for flag, n in part if flag) / sum(n for _, n in part) for part in parts]))


def test_a_mixed_call_has_another_clip_fraction_for_each_micro_batch_and_a_pure_call_has_not() -> None:
    new = [np.full(sequence.target_count, -2.0, dtype=np.float32) for sequence in MADE]
    shifted = synthetic.off_policy(MADE, new)
    flags = [beyond_clip(sequence, row, CLIP) for sequence, row in zip(shifted, new, strict=True)]
    lengths = [len(sequence.response_tokens) for sequence in shifted]
    # What an H200 reported for these sequences at the l4 preset's micro-batch of 3.
    assert upstream_clip_fraction(flags, lengths, 3) == pytest.approx(0.1837472766637802)
    assert upstream_clip_fraction(flags, lengths, 16) == pytest.approx(54 / 242)
    beyond = [length for flag, length in zip(flags, lengths, strict=True) if flag]
    for micro_batch in range(1, 17):
        assert upstream_clip_fraction([True] * len(beyond), beyond, micro_batch) == 1.0


@pytest.mark.parametrize(("third", "loss"), [(-1.2, LOSS), (float("nan"), None)])
def test_token_losses_stand_in_for_a_loss_that_is_not_reported(third: float, loss: float | None) -> None:
    rows = ([0.0, -1.0, -1.0], [0.0, -1.2, -1.2, third])
    outputs = [{"elementwise_loss": tinker.TensorData.from_numpy(np.array(row, dtype=np.float32))} for row in rows]
    found = loss_of(SimpleNamespace(loss_fn_outputs=outputs), {})
    assert found is None if loss is None else found == pytest.approx(loss)


def test_the_metric_of_the_loss_goes_before_the_token_losses() -> None:
    assert loss_of(SimpleNamespace(loss_fn_outputs=[]), {"pg_loss:sum": -3.0}) == -3.0
    assert loss_of(SimpleNamespace(loss_fn_outputs=[]), {}) is None


@pytest.mark.parametrize(
    ("norms", "outcome"),
    [
        ((100.0, 100.0, 100.5), Outcome.PASS),
        ((100.0, 100.0, 102.0), Outcome.FAIL),
        ((100.0, 101.5, 102.0), Outcome.PASS),  # two equal calls are 1.5 apart: 3 is allowed
        ((100.0, 100.0, 50.0), Outcome.FAIL),  # a server that keeps only the last chunk
        ((0.0, 0.0, 0.0), Outcome.CANNOT_TELL),
        ((None, 1.0, 1.0), Outcome.CANNOT_TELL),
        ((1.0, 1.0, None), Outcome.CANNOT_TELL),
    ],
)
def test_gradients_of_two_halves_must_sum_to_the_whole(norms: tuple[float | None, float | None, float | None], outcome: Outcome) -> None:
    assert accumulation_check(*norms).outcome is outcome


@pytest.mark.parametrize(
    ("native", "again", "two_pass", "outcome"),
    [
        (0.1, 0.1, 0.1, Outcome.PASS),
        (0.1, 0.101, 0.102, Outcome.PASS),
        (0.1, 0.1, 0.2, Outcome.FAIL),
        (0.1, 0.1, 0.0, Outcome.FAIL),  # two passes that took no step
        (0.1, 0.1, -0.1, Outcome.FAIL),
        (0.0, 0.0, 0.0, Outcome.CANNOT_TELL),  # nothing moved
        (0.1, 0.2, 0.1, Outcome.CANNOT_TELL),  # two equal steps differ by as much as a step moves
    ],
)
def test_steps_are_equal_within_the_noise_of_two_native_ones(native: float, again: float, two_pass: float, outcome: Outcome) -> None:
    start, *after = ([np.full(4, -1.0 + moved, dtype=np.float32)] for moved in (0.0, native, again, two_pass))
    assert equivalence_check(start, *after).outcome is outcome
