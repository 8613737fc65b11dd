"""From answers to the batches that are trained on."""

import pytest

from bench.learn.groups import Group, Rollout, graded, minibatches
from bench.tasks.problem import Problem


def group(pattern: str, length: int = 2) -> Group:
    """A group of answers of `length` tokens: + right, - wrong, 0 an empty one."""
    rollouts = [
        Rollout((), (), False, False) if sign == "0" else Rollout((5,) * length, (-0.5,) * length, sign == "+", False) for sign in pattern
    ]
    return Group((1, 2, 3), tuple(rollouts))


def test_answers_are_graded_by_their_number() -> None:
    texts = {(1,): "It is 7.", (2,): "#### 8", (): ""}
    found = graded(Problem("?", "7"), (9,), [((1,), (-0.1,)), ((2,), (-0.2,)), ((), ())], lambda tokens: texts[tokens])
    assert [(rollout.correct, rollout.stated, rollout.reward) for rollout in found.rollouts] == [
        (True, False, 1.0),
        (False, True, 0.0),
        (False, False, 0.0),
    ]
    assert found.mixed


def test_groups_without_signal_are_not_sent() -> None:
    (batch,) = minibatches([group("++"), group("+-"), group("--")], updates=1, divide_by_stdev=False, backend="jax")
    assert [sequence.advantage for sequence in batch.sequences] == [0.5, -0.5]
    assert minibatches([group("++"), group("--")], updates=2, divide_by_stdev=False, backend="jax") == []


def test_for_a_server_that_sums_advantages_carry_length_and_count() -> None:
    (batch,) = minibatches([group("+-", length=2), group("+---", length=5)], 1, divide_by_stdev=False, backend="fsdp")
    # 6 sequences: 0.5 / (2 * 6), then 0.75 / (5 * 6) and -0.25 / (5 * 6).
    assert [sequence.advantage for sequence in batch.sequences] == pytest.approx(
        [0.5 / 12, -0.5 / 12, 0.75 / 30, -0.25 / 30, -0.25 / 30, -0.25 / 30]
    )


def test_several_updates_share_the_groups_out_whole() -> None:
    batches = minibatches([group("+-"), group("+--"), group("+---")], 2, divide_by_stdev=False, backend="jax")
    assert [len(batch.sequences) for batch in batches] == [2 + 4, 3]
    assert len(minibatches([group("+-")], 4, divide_by_stdev=False, backend="jax")) == 1


def test_an_empty_answer_counts_for_the_mean_and_is_not_trained_on() -> None:
    (batch,) = minibatches([group("+0-0")], 1, divide_by_stdev=False, backend="fsdp")
    assert [sequence.advantage for sequence in batch.sequences] == pytest.approx([0.75 / 4, -0.25 / 4])
