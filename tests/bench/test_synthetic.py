"""Sequences made without a sampler: for checking a server, and for timing one."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import batch as batches
from bench import datums, gspo, synthetic, synthetic_batch
from bench.errors import InputError
from bench.gspo import Clip


def test_the_checks_sequences_are_sixteen_different_ones_and_the_same_every_time() -> None:
    made = synthetic.sequences(seed=4)
    assert made == synthetic.sequences(seed=4) != synthetic.sequences(seed=5)
    assert len({sequence.response_tokens for sequence in made}) == 16
    lengths = [(len(sequence.prompt_tokens), len(sequence.response_tokens)) for sequence in made]
    # Equal ones among them, so that an exchange of rows is seen only in the values.
    assert len(set(lengths)) < 16


def test_their_old_logprobs_give_each_case_of_the_clip() -> None:
    made = synthetic.sequences(seed=4)
    random = np.random.default_rng(0)
    new = [random.uniform(-4.0, -1.0, sequence.target_count).astype(np.float32) for sequence in made]
    shifted = synthetic.off_policy(made, new)
    log_ratios, flat = [], []
    for sequence, new_T in zip(shifted, new, strict=True):
        log_ratio = gspo.sequence_log_ratio(new_T.astype(np.float64), datums.old_logprobs_T(sequence), datums.mask_T(sequence))
        log_ratios.append(log_ratio)
        flat.append(gspo.gives_no_gradient(log_ratio, sequence.advantage, Clip(0.8, 1.2)))
    assert log_ratios == pytest.approx([0.0, 0.3, -0.3, 0.1, 0.3, -0.3, -0.1, 0.05] * 2, abs=1e-5)
    # Above with advantage +1, and below with -1.
    assert [index for index, is_flat in enumerate(flat) if is_flat] == [1, 5, 9, 13]
    # Token by token the shift differs, else a token-level ratio would give the same loss.
    assert len({round(float(new) - old, 4) for new, old in zip(new[0][-3:], shifted[0].response_logprobs[-3:], strict=True)}) == 3


@settings(max_examples=60, deadline=None)
@given(count=st.integers(1, 40), prompt=st.integers(1, 50), extra=st.integers(0, 5_000), seed=st.integers(0, 1_000))
def test_a_synthetic_batch_has_just_the_target_tokens_that_were_asked_for(count: int, prompt: int, extra: int, seed: int) -> None:
    wanted = count * (prompt + 1) + extra
    made = synthetic_batch.make(count, prompt, wanted, 300, seed)
    assert made.target_tokens == wanted
    assert len(made.sequences) == count
    assert all(len(sequence.prompt_tokens) == prompt and sequence.response_tokens for sequence in made.sequences)
    assert all(10 <= token < 300 for sequence in made.sequences for token in sequence.prompt_tokens + sequence.response_tokens)


def test_too_few_target_tokens_are_refused_with_the_fewest_that_do() -> None:
    synthetic_batch.make(4, 10, 44, 300, 0)
    with pytest.raises(InputError, match=r"--target-tokens 43 .*at least 44"):
        synthetic_batch.make(4, 10, 43, 300, 0)


def test_it_is_read_again_as_a_batch_with_the_logprob_of_a_uniform_choice(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    made = synthetic_batch.make(2, 3, 20, 300, 0)
    batches.save(made, path)
    assert batches.load(path) == made
    assert {value for sequence in made.sequences for value in sequence.response_logprobs} == {-math.log(300)}
    assert [sequence.advantage for sequence in made.sequences] == [1.0, -1.0]
