"""GSPO's arithmetic (Group Sequence Policy Optimization, arXiv:2507.18071) in numpy, one sequence at a time.

It matches SkyRL 0.4.0's `gspo_policy_loss` (`skyrl.backends.skyrl_train.utils.ppo_utils`) as the Tinker API reaches it: equations 14
and 15 of the paper (GSPO-token), summed over a sequence's response tokens and over sequences.

Arrays: `logprobs_T` has one entry for each target token; `mask_T` is 1 on response tokens and 0 on the prompt.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.errors import InputError

Floats = npt.NDArray[np.float64]

# Upstream clamps the log ratio here so that exp() cannot overflow; beyond it the clamp's gradient is zero.
MAX_LOG_RATIO = 10.0


@dataclass(frozen=True)
class Clip:
    """The range of importance ratios that still give a gradient: ratios around 1, as the Tinker API takes them.

    Raises:
        InputError: unless `0 < low <= 1 <= high` and both are finite.
    """

    low: float = 0.8
    high: float = 1.2

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and 0 < self.low <= 1 <= self.high):
            raise InputError(
                f"the clip range {self.low:g} to {self.high:g} is wrong: thresholds are ratios around 1 (0 < low <= 1 <= high).\n"
                "Give 0.8 and 1.2 as published, or 0.9997 and 1.0004 for the paper's 3e-4 and 4e-4."
            )

    def as_loss_fn_config(self) -> dict[str, float]:
        """The `loss_fn_config` that the server takes for `gspo`."""
        return {"clip_low_threshold": self.low, "clip_high_threshold": self.high}


def sequence_log_ratio(new_logprobs_T: Floats, old_logprobs_T: Floats, mask_T: Floats) -> float:
    """log s, the mean over response tokens of log(new / old): equation 7 of the paper. 0 for an empty mask, as upstream."""
    in_mask = mask_T > 0
    if not in_mask.any():
        return 0.0
    return float(np.mean(new_logprobs_T[in_mask] - old_logprobs_T[in_mask]))


def sequence_ratio(new_logprobs_T: Floats, old_logprobs_T: Floats, mask_T: Floats) -> float:
    """s = exp(log s), the sequence's importance ratio, its logarithm at most `MAX_LOG_RATIO`."""
    return math.exp(min(sequence_log_ratio(new_logprobs_T, old_logprobs_T, mask_T), MAX_LOG_RATIO))


def gives_no_gradient(log_ratio: float, advantage: float, clip: Clip) -> bool:
    """Whether `min(s A, clip(s) A)` is flat at this s.

    The clip is one-sided: flat when A > 0 and s > high, or A < 0 and s < low; and beyond upstream's clamp of log s, on either side of A.
    """
    if log_ratio > MAX_LOG_RATIO:
        return True
    ratio = math.exp(log_ratio)
    return (advantage > 0 and ratio > clip.high) or (advantage < 0 and ratio < clip.low)


def surrogate_advantage(new_logprobs_T: Floats, old_logprobs_T: Floats, mask_T: Floats, advantage: float, clip: Clip) -> float:
    """The advantage with which `importance_sampling`, sent with `new_logprobs_T`, has GSPO's gradient: s A, or 0 where clipped.

    The gradient of GSPO's loss with respect to a response token's logprob is -s A (s detached), that of importance sampling
    is -exp(new - sent) A' = -A' when the logprobs sent are the new ones.
    """
    log_ratio = sequence_log_ratio(new_logprobs_T, old_logprobs_T, mask_T)
    if gives_no_gradient(log_ratio, advantage, clip):
        return 0.0
    return math.exp(log_ratio) * advantage


def sequence_loss(new_logprobs_T: Floats, old_logprobs_T: Floats, mask_T: Floats, advantage: float, clip: Clip) -> float:
    """A sequence's part of the server's `pg_loss:sum`: -min(s A, clip(s) A) for each response token, summed."""
    ratio = sequence_ratio(new_logprobs_T, old_logprobs_T, mask_T)
    clipped = min(max(ratio, clip.low), clip.high)
    return -min(ratio * advantage, clipped * advantage) * float(np.count_nonzero(mask_T))


def is_clipped(new_logprobs_T: Floats, old_logprobs_T: Floats, mask_T: Floats, advantage: float, clip: Clip) -> bool:
    """Whether the sequence counts in the server's `clip_ratio:mean`: the clipped surrogate is the smaller one."""
    ratio = sequence_ratio(new_logprobs_T, old_logprobs_T, mask_T)
    return min(max(ratio, clip.low), clip.high) * advantage < ratio * advantage
