"""Rollouts that come with the program, for a verdict on a server that does not sample: nothing has to be started for it but the trainer.

GSPO needs token ids, lengths, advantages and old logprobs. The texts are in `data/rollouts.jsonl`: answers to the word problems beside it,
half of them right (+1) and half wrong (-1). A token is one byte of the text, by the ids that byte-level BPE vocabularies such as Qwen3's
begin with, so that they fit every such vocabulary. The old logprobs are the server's own, from a forward pass before the first step.
"""

from dataclasses import replace
from pathlib import Path

import tinker

from bench import datums
from bench.batch import FrozenBatch, Sequence
from bench.errors import InputError
from bench.json_lines import read_objects
from bench.outputs import logprobs_of
from bench.wait import ResultWaiter

SAMPLED, SHIPPED = "sampled", "shipped"
TEXTS = Path(__file__).parent / "data" / "rollouts.jsonl"
SOURCE = "shipped with gspo-bench"
OLD_LOGPROBS = "the server's own forward, before the first step"

# GPT-2's table of bytes, which Qwen's vocabularies begin with: those that print come first, in their order, then the others.
_PRINTABLE = (*range(33, 127), *range(161, 173), *range(174, 256))
_ORDER = (*_PRINTABLE, *(byte for byte in range(256) if byte not in _PRINTABLE))
_ID_OF_BYTE = {byte: token for token, byte in enumerate(_ORDER)}


def byte_tokens(text: str) -> tuple[int, ...]:
    """The ids of the text's UTF-8 bytes, each below 256."""
    return tuple(_ID_OF_BYTE[byte] for byte in text.encode())


def rollouts() -> FrozenBatch:
    """The shipped sequences, their logprobs still 0."""
    made = []
    for _, entry in read_objects(TEXTS, "shipped rollouts", "Install the program again."):
        response = byte_tokens(entry["response"])
        made.append(Sequence(byte_tokens(f"{entry['question']}\n"), response, (0.0,) * len(response), entry["advantage"]))
    return FrozenBatch(tuple(made), "no model: texts", SOURCE)


def with_old_logprobs(batch: FrozenBatch, client: tinker.TrainingClient, wait: ResultWaiter) -> FrozenBatch:
    """The batch with the logprobs that the model has for it now: the importance ratio of the first step is 1.

    Raises:
        BenchError: the server's answer is not one finite logprob for each token.
    """
    stage = "forward (old logprobs of the shipped rollouts)"
    result = wait(client.forward([datums.forward_datum(sequence) for sequence in batch.sequences], "cross_entropy"), stage)
    rows = logprobs_of(result, batch.sequences, stage)
    taken = tuple(
        replace(sequence, response_logprobs=tuple(float(value) for value in row_T[-len(sequence.response_tokens) :]))
        for sequence, row_T in zip(batch.sequences, rows, strict=True)
    )
    return FrozenBatch(taken, batch.model, f"{SOURCE}; old logprobs: {OLD_LOGPROBS}")


def check_asked(rollouts_from: str, batch: Path | None) -> None:
    """Raises InputError where two batches are asked for."""
    if rollouts_from == SHIPPED and batch is not None:
        raise InputError(f"--rollouts {SHIPPED} and --batch {batch} are two batches: leave one of them out.")
