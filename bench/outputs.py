"""Reading what a forward pass returned, without trusting its order or its numbers."""

import sys
from collections.abc import Sequence as Sequences
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.batch import Sequence
from bench.errors import BenchError
from bench.json_object import one_line
from bench.numbers import plural


def logprobs_of(result: Any, sequences: Sequences[Sequence], stage: str) -> list[npt.NDArray[np.float32]]:
    """The logprobs of each sequence's targets, shape [T] each, in input order.

    Raises:
        BenchError: not one row for each datum, a row of another length (outputs out of order), or a number that is not finite.
    """
    rows = result.loss_fn_outputs
    if len(rows) != len(sequences):
        raise BenchError(
            f"{stage}: the server returned {plural(len(rows), 'row')} for {plural(len(sequences), 'datum')}; its outputs cannot be trusted."
        )
    logprobs = []
    for index, (row, sequence) in enumerate(zip(rows, sequences, strict=True)):
        if "logprobs" not in row:
            raise BenchError(f"{stage}: the server returned no logprobs for datum {index}, but {sorted(row)}.")
        with np.errstate(over="ignore"):  # beyond float32 is infinite, and found as that
            row_T = np.asarray(row["logprobs"].to_numpy(), dtype=np.float32).reshape(-1)
        if len(row_T) != sequence.target_count:
            raise BenchError(
                f"{stage}: datum {index} has {plural(sequence.target_count, 'target')} and the server returned "
                f"{plural(len(row_T), 'logprob')}.\n"
                "Its outputs are out of order or cut, as with packed micro-batches or data-parallel Megatron: use another server setting."
            )
        response_T = row_T[-len(sequence.response_tokens) :]
        if not np.isfinite(response_T).all():
            raise BenchError(f"{stage}: the server returned a logprob that is not finite for datum {index}; the model has diverged.")
        logprobs.append(row_T)
    return logprobs


def finite_metrics(result: Any) -> dict[str, float | None]:
    """The server's own metrics of a call; what is not a finite number becomes None."""
    metrics = getattr(result, "metrics", None) or {}
    return {one_line(str(name)): _finite(value) for name, value in metrics.items()}


def _finite(value: Any) -> float | None:
    # Compared before it is converted: an integer of hundreds of digits is no float at all. NaN compares false.
    return float(value) if isinstance(value, int | float) and abs(value) <= sys.float_info.max else None
