"""Reading what a forward pass returned, without trusting its order or its numbers."""

from collections.abc import Sequence as Sequences
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.batch import Sequence
from bench.errors import BenchError


def logprobs_of(result: Any, sequences: Sequences[Sequence], stage: str) -> list[npt.NDArray[np.float32]]:
    """The logprobs of each sequence's targets, shape [T] each, in input order.

    Raises:
        BenchError: not one row for each datum, a row of another length (outputs out of order), or a number that is not finite.
    """
    rows = result.loss_fn_outputs
    if len(rows) != len(sequences):
        raise BenchError(f"{stage}: the server returned {len(rows)} rows for {len(sequences)} datums; its outputs cannot be trusted.")
    logprobs = []
    for index, (row, sequence) in enumerate(zip(rows, sequences, strict=True)):
        if "logprobs" not in row:
            raise BenchError(f"{stage}: the server returned no logprobs for datum {index}, but {sorted(row)}.")
        row_T = np.asarray(row["logprobs"].to_numpy(), dtype=np.float32).reshape(-1)
        if len(row_T) != sequence.target_count:
            raise BenchError(
                f"{stage}: datum {index} has {sequence.target_count} targets and the server returned {len(row_T)} logprobs.\n"
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
    return {str(name): float(value) if _is_finite(value) else None for name, value in metrics.items()}


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and bool(np.isfinite(value))
