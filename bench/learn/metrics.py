"""One row of metrics.jsonl, from what a step sampled and trained, under the keys that the field's recipes use."""

import math
from collections.abc import Sequence as Sequences
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench import datums, gspo
from bench.batch import Sequence
from bench.gspo import Clip
from bench.learn.groups import Group

Row = dict[str, float | int | None]


@dataclass(frozen=True)
class Trained:
    """A sequence as it was sent, with the trainer's logprobs of its targets, shape [T], from before the update that it was sent for."""

    sequence: Sequence
    new_logprobs: npt.NDArray[np.float32]


def of_rollouts(groups: Sequences[Group]) -> Row:
    """Accuracy, rewards, lengths, and how many groups all got right, all got wrong, or mixed; shares are of 1."""
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    count, mixed = len(rollouts), sum(group.mixed for group in groups)
    good = sum(all(rollout.correct for rollout in group.rollouts) for group in groups)
    response = sum(len(rollout.tokens) for rollout in rollouts)
    return {
        "env/all/correct": sum(rollout.correct for rollout in rollouts) / count,
        "env/all/reward/total": math.fsum(rollout.reward for rollout in rollouts) / count,
        "env/all/format": sum(rollout.stated for rollout in rollouts) / count,
        "env/all/ac_tokens_per_turn": response / count,
        "env/all/by_group/frac_all_good": good / len(groups),
        "env/all/by_group/frac_all_bad": (len(groups) - mixed - good) / len(groups),
        "env/all/by_group/frac_mixed": mixed / len(groups),
        "groups/skipped": len(groups) - mixed,
        "tokens/response": response,
        "tokens/total": response + sum(len(group.prompt_tokens) * len(group.rollouts) for group in groups),
        "optim/entropy": _mean([-value for rollout in rollouts for value in rollout.logprobs]),
    }


def of_training(trained: Sequences[Trained], clip: Clip) -> Row:
    """What the updates saw; every value None where no group had a signal and nothing was trained.

    `kl_sample_train_v1` and `_v2` are means over response tokens of d and of d^2 / 2, with d = sampler's logprob - trainer's.
    """
    if not trained:
        return dict.fromkeys(("loss/clip_fraction", "optim/kl_sample_train_v1", "optim/kl_sample_train_v2"))
    clipped, gaps = 0, []
    for entry in trained:
        sequence = entry.sequence
        new_T, old_T = entry.new_logprobs.astype(np.float64), datums.old_logprobs_T(sequence).astype(np.float64)
        mask_T = datums.mask_T(sequence).astype(np.float64)
        clipped += gspo.is_clipped(new_T, old_T, mask_T, sequence.advantage, clip)
        gaps.append((old_T - new_T)[mask_T > 0])
    gap = np.concatenate(gaps)
    return {
        "loss/clip_fraction": clipped / len(trained),
        "optim/kl_sample_train_v1": float(np.mean(gap)),
        "optim/kl_sample_train_v2": float(np.mean(gap**2)) / 2.0,
    }


def of_test(groups: Sequences[Group]) -> Row:
    """Held-out accuracy, one answer a problem."""
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    return {"test/env/all/correct": sum(rollout.correct for rollout in rollouts) / len(rollouts), "test/env/all/count": len(rollouts)}


def of_reference(groups: Sequences[Group], start_logprobs: Sequences[Sequences[float]]) -> float | None:
    """KL of the model to the one it started as, estimated on its own rollouts: the mean over tokens of exp(-d) - 1 + d, with
    d = logprob now - logprob at the start (Schulman's k3, never negative). `start_logprobs` are those of each group's first rollout.
    """
    terms = []
    for group, start in zip(groups, start_logprobs, strict=True):
        now = group.rollouts[0].logprobs
        differences = [new - old for new, old in zip(now, start, strict=True)]
        terms += [math.exp(min(-difference, gspo.MAX_LOG_RATIO)) - 1.0 + difference for difference in differences]
    return _mean(terms)


def _mean(values: Sequences[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
