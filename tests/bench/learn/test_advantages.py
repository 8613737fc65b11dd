"""Advantages and their scale, from numbers worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.learn.advantages import centred, reduction_words, share_of_mean


def test_one_right_answer_of_four_centred() -> None:
    assert centred([1, 0, 0, 0], divide_by_stdev=False) == [0.75, -0.25, -0.25, -0.25]


def test_one_right_answer_of_four_over_the_population_standard_deviation() -> None:
    # sqrt(3)/4 is the standard deviation: 0.75 / 0.4330127 = sqrt(3).
    found = centred([1, 0, 0, 0], divide_by_stdev=True)
    assert found == pytest.approx([math.sqrt(3), -1 / math.sqrt(3), -1 / math.sqrt(3), -1 / math.sqrt(3)])


@pytest.mark.parametrize("reward", [0.0, 1.0, 0.1])
@pytest.mark.parametrize("divide", [True, False])
def test_equal_rewards_have_no_advantage_either_way(reward: float, divide: bool) -> None:
    assert centred([reward] * 7, divide) == [0.0] * 7


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=32), st.booleans())
def test_advantages_of_a_group_sum_to_zero(rewards: list[float], divide: bool) -> None:
    assert math.fsum(centred(rewards, divide)) == pytest.approx(0.0, abs=1e-9)


def test_a_server_that_sums_is_sent_each_token_share_of_the_mean() -> None:
    # Two sequences of 2 and 4 tokens: +1 / (2 * 2) and -1 / (4 * 2) a token, which sum to +0.5 and -0.5.
    assert share_of_mean(1.0, 2, 2, "fsdp") == 0.25
    assert share_of_mean(-1.0, 4, 2, "fsdp") == -0.125
    assert share_of_mean(1.0, 2, 2, None) == 0.25


def test_the_jax_backend_takes_the_means_itself() -> None:
    assert share_of_mean(0.75, 2, 2, "jax") == 0.75
    assert "by the server" in reduction_words("jax")
    assert "the server sums" in reduction_words("fsdp")
