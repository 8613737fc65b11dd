"""The frozen batch: the rollouts that every timed step trains on, saved so that the same ones run again on another server."""

import hashlib
import json
import reprlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.errors import InputError
from bench.files import read_json, write_json

BATCH_SCHEMA = 1
MAX_BATCH_BYTES = 256 * 1024 * 1024
# Numbers cross the wire as float32: what is larger would arrive as infinity.
MAX_FLOAT32 = 3.4028234663852886e38


@dataclass(frozen=True)
class Sequence:
    """One rollout: `prompt_tokens` then `response_tokens`, the sampler's logprob of each response token, and one advantage."""

    prompt_tokens: tuple[int, ...]
    response_tokens: tuple[int, ...]
    response_logprobs: tuple[float, ...]
    advantage: float

    @property
    def target_count(self) -> int:
        """Targets that a training step sees: every token but the first."""
        return len(self.prompt_tokens) + len(self.response_tokens) - 1


@dataclass(frozen=True)
class FrozenBatch:
    """The sequences of one training step, in order, with what a reader needs to know where they came from."""

    sequences: tuple[Sequence, ...]
    model: str
    source: str

    @property
    def target_tokens(self) -> int:
        return sum(sequence.target_count for sequence in self.sequences)

    @property
    def sha256(self) -> str:
        """Hash of what is trained on: tokens, logprobs (as float64 text) and advantages, in order; not of where they came from."""
        content = json.dumps([asdict(sequence) for sequence in self.sequences], sort_keys=True, allow_nan=False)
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def tokens_sha256(self) -> str:
        """Hash of the tokens alone, which are what a step's time depends on: sampled again, their logprobs differ in the last digits."""
        content = json.dumps([[sequence.prompt_tokens, sequence.response_tokens] for sequence in self.sequences])
        return hashlib.sha256(content.encode()).hexdigest()

    def facts(self) -> dict[str, Any]:
        """The result file's `batch` object, without the file's name."""
        return {
            "sha256": self.sha256,
            "tokens_sha256": self.tokens_sha256,
            "sequences": len(self.sequences),
            "prompt_tokens": sum(len(sequence.prompt_tokens) for sequence in self.sequences),
            "response_tokens": sum(len(sequence.response_tokens) for sequence in self.sequences),
            "target_tokens": self.target_tokens,
            "response_lengths": [len(sequence.response_tokens) for sequence in self.sequences],
            "sampled_from": self.model,
            "source": self.source,
        }


def alternating_advantages(count: int) -> list[float]:
    """Synthetic advantages +1, -1, +1, ... as published: their size does not change a step's time."""
    return [1.0 if index % 2 == 0 else -1.0 for index in range(count)]


def tiny(count: int) -> FrozenBatch:
    """Sequences of one prompt and one response token with advantage 0: a step without arithmetic, nor any effect on the weights."""
    return FrozenBatch((Sequence((1,), (1,), (0.0,), 0.0),) * count, "", "near-empty")


def save(batch: FrozenBatch, path: Path) -> None:
    """Writes the batch whole or not at all."""
    document = {
        "schema": BATCH_SCHEMA,
        "kind": "gspo-bench-batch",
        "model": batch.model,
        "source": batch.source,
        "sha256": batch.sha256,
        "sequences": [asdict(sequence) for sequence in batch.sequences],
    }
    write_json(path, document, indent=None)


def load(path: Path) -> FrozenBatch:
    """Reads a batch that `save` wrote.

    Raises:
        InputError: names the file, the sequence and the value that is wrong.
    """
    document = read_json(path, max_bytes=MAX_BATCH_BYTES, what="batch file")
    if not isinstance(document, dict) or document.get("kind") != "gspo-bench-batch":
        raise InputError(f"{path} is not a batch file: give one that a run saved under results/batches/.")
    if document.get("schema") != BATCH_SCHEMA:
        raise InputError(f"{path} has batch schema {reprlib.repr(document.get('schema'))}; this version reads {BATCH_SCHEMA}.")
    entries = document.get("sequences")
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{path} holds no sequences: sample a batch again with a run without --batch.")
    sequences = tuple(_sequence(entry, f"{path}, sequence {index}") for index, entry in enumerate(entries))
    batch = FrozenBatch(sequences, str(document.get("model", "")), str(document.get("source", "")))
    if batch.sha256 != document.get("sha256"):
        raise InputError(f"{path} was changed after it was saved (its sha256 does not match): take the original file.")
    return batch


def _sequence(entry: Any, where: str) -> Sequence:
    if not isinstance(entry, dict):
        raise InputError(f"{where} is not an object.")
    prompt = _tokens(entry.get("prompt_tokens"), f"{where}: prompt_tokens")
    response = _tokens(entry.get("response_tokens"), f"{where}: response_tokens")
    logprobs = entry.get("response_logprobs")
    if not isinstance(logprobs, list) or len(logprobs) != len(response):
        raise InputError(f"{where}: response_logprobs must be a list as long as response_tokens ({len(response)}).")
    values = [_finite(value, f"{where}: response_logprobs[{index}]") for index, value in enumerate(logprobs)]
    return Sequence(prompt, response, tuple(values), _finite(entry.get("advantage"), f"{where}: advantage"))


def _tokens(value: Any, where: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise InputError(f"{where} must be a list of at least one token id.")
    for token in value:
        if type(token) is not int or not 0 <= token < 2**31:
            raise InputError(f"{where} holds {reprlib.repr(token)}, which is no token id.")
    return tuple(value)


def _finite(value: Any, where: str) -> float:
    # Compared before it is converted: an integer of hundreds of digits is no float at all. NaN compares false.
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_FLOAT32:
        raise InputError(f"{where} is {reprlib.repr(value)}; it must be a finite number.")
    return float(value)
