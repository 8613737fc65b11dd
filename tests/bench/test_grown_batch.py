"""The batch that grows with the GPUs: each part of it is the work of the batch that it grew from."""

from bench.batch import FrozenBatch, Sequence
from bench.grown_batch import grown
from tests.bench.fakes import SMALL_BATCH


def test_each_copy_has_the_same_lengths_in_the_same_order_and_other_prompts() -> None:
    larger = grown(SMALL_BATCH, 3)
    # Prompts (3, 4, 5) and (3, 4), turned by none, by one and by two tokens.
    assert [sequence.prompt_tokens for sequence in larger.sequences] == [(3, 4, 5), (3, 4), (4, 5, 3), (4, 3), (5, 3, 4), (3, 4)]
    assert [sequence.response_tokens for sequence in larger.sequences] == [(6, 7), (8, 9, 10)] * 3
    assert [sequence.advantage for sequence in larger.sequences] == [1.0, -1.0] * 3
    assert larger.target_tokens == 3 * SMALL_BATCH.target_tokens
    assert larger.source == "3 times by hand"
    assert larger.sha256 != SMALL_BATCH.sha256


def test_once_is_the_batch_itself() -> None:
    assert grown(SMALL_BATCH, 1) is SMALL_BATCH


def test_real_prompts_make_no_two_sequences_the_same() -> None:
    prompts = [tuple(range(start, start + 20)) for start in range(16)]
    batch = FrozenBatch(tuple(Sequence(prompt, (1,), (-0.5,), 1.0) for prompt in prompts), "m", "s")
    sequences = grown(batch, 8).sequences
    assert len(sequences) == len(set(sequences)) == 128
