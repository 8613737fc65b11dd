"""A batch that grows with the GPUs, so that each of them keeps the work that one had."""

from dataclasses import replace

from bench.batch import FrozenBatch, Sequence


def grown(batch: FrozenBatch, times: int) -> FrozenBatch:
    """The batch `times` over, copy after copy, each copy's prompts turned by one token more.

    Servers cut a batch into equal parts, in order: each device gets sequences of the same lengths as the batch alone has, and no two
    copies are the same sequence where prompts are not one token repeated. Responses, their logprobs and advantages stay as they are.
    """
    copies = [_turned(sequence, turn) for turn in range(times) for sequence in batch.sequences]
    return batch if times == 1 else FrozenBatch(tuple(copies), batch.model, f"{times} times {batch.source}")


def _turned(sequence: Sequence, turn: int) -> Sequence:
    start = turn % len(sequence.prompt_tokens)
    return replace(sequence, prompt_tokens=sequence.prompt_tokens[start:] + sequence.prompt_tokens[:start])
