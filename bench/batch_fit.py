"""Whether a batch can be the model's: a server may train on something else, silently, for a token id beyond the model's vocabulary."""

from typing import Any

from bench.batch import FrozenBatch
from bench.errors import InputError

OF_ANOTHER = "It is another model's batch: sample one with a run without --batch."


def check_fits(batch: FrozenBatch, server: dict[str, Any] | None) -> None:
    """Compares the batch with the model's config, as far as the server tells it.

    Raises:
        InputError: with the sequence, its token or length, and the model's limit.
    """
    told = (server or {}).get("model_config")
    config = told if isinstance(told, dict) else {}
    vocabulary, context = (_limit(config.get(name)) for name in ("vocab_size", "max_position_embeddings"))
    for index, sequence in enumerate(batch.sequences):
        largest = max(*sequence.prompt_tokens, *sequence.response_tokens)
        if vocabulary is not None and largest >= vocabulary:
            raise InputError(
                f"sequence {index} of the batch holds token {largest} and the model's vocabulary has {vocabulary:,}.\n{OF_ANOTHER}"
            )
        length = sequence.target_count + 1
        if context is not None and length > context:
            raise InputError(f"sequence {index} of the batch has {length:,} tokens and the model's context is {context:,}.\n{OF_ANOTHER}")


def _limit(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
