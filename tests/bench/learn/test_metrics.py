"""Rows of metrics.jsonl, from numbers worked out by hand."""

import math

import numpy as np
import pytest

from bench.batch import Sequence
from bench.gspo import Clip
from bench.learn import metrics
from bench.learn.groups import Group, Rollout
from bench.learn.metrics import Trained
from tests.bench.learn.test_groups import group


def test_rewards_lengths_and_groups() -> None:
    row = metrics.of_rollouts([group("++", 2), group("+-", 4), group("--", 6), group("--", 6)])
    assert row["env/all/correct"] == row["env/all/reward/total"] == 3 / 8
    assert row["env/all/ac_tokens_per_turn"] == (2 + 2 + 4 + 4 + 6 * 4) / 8
    assert row["env/all/by_group/frac_all_good"] == 0.25
    assert row["env/all/by_group/frac_all_bad"] == 0.5
    assert row["env/all/by_group/frac_mixed"] == 0.25
    assert row["groups/skipped"] == 3
    assert row["tokens/response"] == 36
    assert row["tokens/total"] == 36 + 8 * 3
    assert row["env/all/format"] == 0.0
    assert row["optim/entropy"] == 0.5


def test_answers_without_a_token_have_no_entropy() -> None:
    assert metrics.of_rollouts([group("00")])["optim/entropy"] is None


def test_the_gap_between_sampler_and_trainer_and_the_share_clipped() -> None:
    # Response logprobs -1.0, -1.0 by the sampler; by the trainer 0.1 more for the first sequence, 0.2 less for the second.
    first = Trained(Sequence((1, 2), (3, 4), (-1.0, -1.0), 1.0), np.array([-9.0, -0.9, -0.9], np.float32))
    second = Trained(Sequence((1,), (3, 4), (-1.0, -1.0), 1.0), np.array([-1.2, -1.2], np.float32))
    row = metrics.of_training([first, second], Clip(0.9997, 1.0004))
    assert row["optim/kl_sample_train_v1"] == pytest.approx((-0.1 - 0.1 + 0.2 + 0.2) / 4, abs=1e-6)
    assert row["optim/kl_sample_train_v2"] == pytest.approx((0.01 + 0.01 + 0.04 + 0.04) / 8, abs=1e-6)
    # exp(0.1) is beyond 1.0004 with a positive advantage; exp(-0.2) is below, where a positive one is not clipped.
    assert row["loss/clip_fraction"] == 0.5


def test_nothing_trained_is_null_not_zero() -> None:
    assert set(metrics.of_training([], Clip()).values()) == {None}


def test_held_out_accuracy_counts_problems() -> None:
    assert metrics.of_test([group("+"), group("-"), group("-"), group("+")]) == {"test/env/all/correct": 0.5, "test/env/all/count": 4}


def test_kl_to_the_start_is_schulmans_third_estimate() -> None:
    moved = Group((1,), (Rollout((5, 6), (-0.5, -1.0), True, False),))
    still = Group((1,), (Rollout((5,), (-0.5,), True, False),))
    # d = 0.5 and 0 and 0: exp(-0.5) - 1 + 0.5, then 0, 0.
    found = metrics.of_reference([moved, still], [[-1.0, -1.0], [-0.5]])
    assert found == pytest.approx((math.exp(-0.5) - 0.5) / 3)
