"""GSPO's arithmetic against values worked out by hand, and its gradient against a difference quotient."""

import math

import numpy as np
import pytest

from bench.errors import InputError
from bench.gspo import Clip, gives_no_gradient, is_clipped, sequence_log_ratio, sequence_loss, sequence_ratio, surrogate_advantage

WIDE = Clip(0.8, 1.2)
PAPER = Clip(0.9997, 1.0004)


def arrays(log_ratios: list[float], mask: list[float] | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """New logprobs, old logprobs (all -2) and mask, such that new - old is `log_ratios`."""
    old_T = np.full(len(log_ratios), -2.0)
    return old_T + np.array(log_ratios), old_T, np.array(mask if mask is not None else [1.0] * len(log_ratios))


def test_the_ratio_is_of_the_sequence_and_not_of_its_tokens() -> None:
    tokens = arrays([3.0, -3.0, 0.6])  # mean 0.2
    assert sequence_ratio(*tokens) == pytest.approx(1.221403, abs=1e-6)
    assert sequence_loss(*tokens, 1.0, WIDE) / 3 == pytest.approx(-1.2)
    assert surrogate_advantage(*tokens, 1.0, WIDE) == 0.0


def test_masked_tokens_do_not_leak_into_the_ratio() -> None:
    assert sequence_ratio(*arrays([0.1, 0.2, 7.0, -9.0], [1, 1, 0, 0])) == pytest.approx(1.161834, abs=1e-6)
    assert sequence_ratio(*arrays([0.02, 5.0, 0.04], [1, 0, 1])) == pytest.approx(1.030455, abs=1e-6)


def test_masked_tokens_may_hold_anything_at_all() -> None:
    new_T, old_T, mask_T = arrays([0.1, float("nan"), float("inf")], [1, 0, 0])
    assert sequence_log_ratio(new_T, old_T, mask_T) == pytest.approx(0.1)


def test_an_empty_mask_gives_ratio_one_and_loss_zero() -> None:
    tokens = arrays([0.5, 0.5], [0, 0])
    assert sequence_ratio(*tokens) == 1.0
    assert sequence_loss(*tokens, 1.0, WIDE) == 0.0


def test_the_loss_is_summed_over_tokens_so_long_sequences_weigh_more() -> None:
    short, long = arrays([0.0] * 2), arrays([0.0] * 4)
    assert sequence_loss(*short, 1.0, WIDE) + sequence_loss(*long, -1.0, WIDE) == pytest.approx(2.0)
    # Advantages divided by the sequences' number and length give the paper's mean, which is 0 here.
    assert sequence_loss(*short, 0.25, WIDE) + sequence_loss(*long, -0.125, WIDE) == pytest.approx(0.0)


def test_the_log_ratio_is_a_mean_over_300_tokens_and_not_a_sum() -> None:
    assert sequence_ratio(*arrays([0.005] * 300)) == pytest.approx(1.0050125, abs=1e-7)


def test_on_policy_the_surrogate_is_the_advantage_itself() -> None:
    assert surrogate_advantage(*arrays([0.0, 0.0]), 0.7, PAPER) == pytest.approx(0.7)
    assert surrogate_advantage(*arrays([0.0, 0.0]), -0.7, PAPER) == pytest.approx(-0.7)


def test_a_shift_of_a_thousandth_clips_with_the_papers_range_on_one_side_only() -> None:
    up, down = arrays([0.001] * 3), arrays([-0.001] * 3)
    assert surrogate_advantage(*up, 1.0, PAPER) == 0.0
    assert surrogate_advantage(*up, -1.0, PAPER) == pytest.approx(-1.0010005, abs=1e-7)
    assert surrogate_advantage(*down, -1.0, PAPER) == 0.0
    assert surrogate_advantage(*down, 1.0, PAPER) == pytest.approx(0.9990005, abs=1e-7)


@pytest.mark.parametrize(
    ("log_ratio", "advantage", "flat"),
    [
        (0.3, 1.0, True),  # 1.35 above 1.2
        (0.3, -1.0, False),
        (-0.3, -1.0, True),  # 0.74 below 0.8
        (-0.3, 1.0, False),
        (0.1, 1.0, False),
        (-0.1, -1.0, False),
        (0.3, 0.0, False),
        (11.0, -1.0, True),  # beyond upstream's clamp of the log ratio
    ],
)
def test_the_gradient_vanishes_exactly_beyond_the_clip_on_the_advantages_side(log_ratio: float, advantage: float, flat: bool) -> None:
    assert gives_no_gradient(log_ratio, advantage, WIDE) is flat
    if advantage:
        assert is_clipped(*arrays([log_ratio]), advantage, WIDE) is (flat and log_ratio < 10)


@pytest.mark.parametrize("advantage", [1.3, -0.8])
@pytest.mark.parametrize("shift", [-0.5, -0.1, 0.0, 0.1, 0.5, 10.5])
def test_the_surrogate_is_minus_the_gradient_of_the_loss(shift: float, advantage: float) -> None:
    waves = [0.1 * math.sin(position) for position in range(6)]
    mask = [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    mean = sum(waves[2:]) / 4
    new_T, old_T, mask_T = arrays([wave - mean + shift for wave in waves], mask)
    step = 1e-5
    gradient_T = []
    for position in range(6):
        nudge_T = np.zeros(6)
        nudge_T[position] = step
        up = sequence_loss(new_T + nudge_T, old_T, mask_T, advantage, WIDE)
        down = sequence_loss(new_T - nudge_T, old_T, mask_T, advantage, WIDE)
        gradient_T.append((up - down) / (2 * step))
    expected_T = -surrogate_advantage(new_T, old_T, mask_T, advantage, WIDE) * mask_T
    np.testing.assert_allclose(gradient_T, expected_T, atol=1e-6)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0003, 0.0004), (0.0, 1.2), (-0.2, 1.2), (1.1, 1.2), (0.8, 0.9), (float("nan"), 1.2), (0.8, float("nan")), (0.8, float("inf"))],
)
def test_clip_thresholds_that_are_not_ratios_around_one_are_refused(low: float, high: float) -> None:
    with pytest.raises(InputError, match="ratios around 1"):
        Clip(low, high)


def test_the_clip_goes_over_the_wire_as_the_server_names_it() -> None:
    assert PAPER.as_loss_fn_config() == {"clip_low_threshold": 0.9997, "clip_high_threshold": 1.0004}


def test_huge_log_ratios_do_not_overflow() -> None:
    tokens = arrays([1e6, 1e6])
    assert sequence_ratio(*tokens) == pytest.approx(math.exp(10.0))
    assert math.isfinite(sequence_loss(*tokens, -1.0, WIDE))
    assert surrogate_advantage(*tokens, -1.0, WIDE) == 0.0
    assert sequence_ratio(*arrays([-1e6])) == 0.0
