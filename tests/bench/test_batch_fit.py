"""A batch against the limits that a server tells of its model."""

from typing import Any

import pytest

from bench.batch import FrozenBatch, Sequence
from bench.batch_fit import check_fits
from bench.errors import InputError

BATCH = FrozenBatch((Sequence((1, 2), (3,), (-1.0,), 1.0), Sequence((1, 511), (4, 5), (-1.0, -1.0), 1.0)), "m", "s")


def server(**config: Any) -> dict[str, Any]:
    return {"model_config": config}


@pytest.mark.parametrize(
    "told",
    [
        None,
        {},
        {"model_config": None},
        {"model_config": [1]},
        server(),
        server(vocab_size="x", max_position_embeddings=True),
        server(vocab_size=512, max_position_embeddings=4),
    ],
)
def test_a_batch_within_what_is_told_fits(told: Any) -> None:
    check_fits(BATCH, told)


def test_a_token_beyond_the_vocabulary_is_named_with_its_sequence() -> None:
    with pytest.raises(
        InputError, match=r"sequence 1 of the batch holds token 511 and the model's vocabulary has 511\.\n.*without --batch"
    ):
        check_fits(BATCH, server(vocab_size=511))


def test_a_sequence_longer_than_the_context_is_named_with_its_length() -> None:
    with pytest.raises(InputError, match=r"sequence 1 of the batch has 4 tokens and the model's context is 3\."):
        check_fits(BATCH, server(max_position_embeddings=3))
