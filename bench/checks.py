"""The checks of `bench verify`: each a function of what the server returned, so that their verdicts can be tested without one.

Arrays: `logprobs` are lists of [T] arrays, one for each sequence, in order.
"""

import enum
from collections.abc import Sequence as Sequences
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bench import datums, gspo
from bench.batch import Sequence
from bench.gspo import Clip

Logprobs = Sequences[npt.NDArray[np.float32]]

# bf16 logprobs of one datum alone and in a batch were seen 0.03 apart at most, 0.007 on average.
ORDER_TOLERANCE = 0.05
LOSS_TOLERANCE = 0.02
CLIP_TOLERANCE = 0.01
# Two ways of one gradient may differ by rounding: this share of what a step moves, beside twice the noise of two equal runs.
STEP_TOLERANCE = 0.1
NOISE_FACTOR = 2.0
MIN_SIGNAL = 5.0
# Summing halves instead of the whole in bf16 was seen to change the norm by less than this share.
NORM_TOLERANCE = 0.01


class Outcome(enum.Enum):
    """What a check found."""

    PASS = "pass"
    FAIL = "fail"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Check:
    """One line of the report: the outcome, what was found in words, and the numbers behind it."""

    name: str
    outcome: Outcome
    text: str
    numbers: dict[str, float | None]


def order_check(alone: Logprobs, together: Logprobs, sequences: Sequences[Sequence]) -> Check:
    """(a) Each row of a batch is its own datum's: nearest to that datum sent alone, among all rows of its length."""
    gaps = [_gap(alone[index], together[index], sequence) for index, sequence in enumerate(sequences)]
    numbers: dict[str, float | None] = {"largest_mean_gap": max(gaps)}
    for index, sequence in enumerate(sequences):
        rivals = [
            other
            for other, row in enumerate(together)
            if other != index
            and len(row) == len(together[index])
            and len(sequences[other].response_tokens) == len(sequence.response_tokens)
        ]
        nearest = min(rivals, key=lambda other: _gap(alone[index], together[other], sequence), default=None)
        if nearest is not None and _gap(alone[index], together[nearest], sequence) < gaps[index]:
            text = f"the row of datum {index} is datum {nearest}'s: outputs are not in input order"
            return Check("order", Outcome.FAIL, text, numbers | {"datum": index, "row": nearest})
    if max(gaps) > ORDER_TOLERANCE:
        worst = int(np.argmax(gaps))
        text = f"datum {worst} has logprobs {gaps[worst]:.4f} apart on average alone and in a batch (at most {ORDER_TOLERANCE:g} expected)"
        return Check("order", Outcome.FAIL, text, numbers | {"datum": worst})
    text = f"a batch's logprobs are each datum's own, at most {max(gaps):.4f} apart on average"
    return Check("order", Outcome.PASS, text, numbers)


def mask_check(result: Any, metrics: dict[str, float | None], new: Logprobs, sequences: Sequences[Sequence], clip: Clip) -> Check:
    """(b) The server's GSPO loss and clip fraction with response-only weights are those computed here from the logprobs."""
    losses, clipped = [], []
    for sequence, new_T in zip(sequences, new, strict=True):
        arrays = (new_T.astype(np.float64), datums.old_logprobs_T(sequence).astype(np.float64), datums.mask_T(sequence).astype(np.float64))
        losses.append(gspo.sequence_loss(*arrays, sequence.advantage, clip))
        clipped.append(gspo.is_clipped(*arrays, sequence.advantage, clip))
    expected_loss, scale, expected_clip = sum(losses), sum(abs(loss) for loss in losses), float(np.mean(clipped))
    loss, fraction = metrics.get("pg_loss:sum"), metrics.get("clip_ratio:mean")
    if loss is None:
        loss = _elementwise_sum(result)
    numbers = {"loss": loss, "expected_loss": expected_loss, "clip_fraction": fraction, "expected_clip_fraction": expected_clip}
    if loss is None:
        return Check("mask", Outcome.CANNOT_TELL, "the server returns neither pg_loss:sum nor token losses for gspo", numbers)
    if not abs(loss - expected_loss) <= LOSS_TOLERANCE * scale:
        text = (
            f"the server's gspo loss is {loss:.4f} and the response tokens give {expected_loss:.4f}: "
            "its ratio is not the mean over the response, as when weights are ignored"
        )
        return Check("mask", Outcome.FAIL, text, numbers)
    if fraction is None:
        text = f"the loss {loss:.4f} is the one computed here ({expected_loss:.4f}); this server reports no clip fraction"
        return Check("mask", Outcome.PASS, text, numbers)
    if abs(fraction - expected_clip) > CLIP_TOLERANCE:
        text = f"the server clips {100 * fraction:.1f} % of the sequences and {100 * expected_clip:.1f} % lie beyond the clip"
        return Check("mask", Outcome.FAIL, text, numbers)
    text = f"loss {loss:.4f} and clip fraction {fraction:.3f} are those computed here ({expected_loss:.4f}, {expected_clip:.3f})"
    return Check("mask", Outcome.PASS, text, numbers)


def accumulation_check(whole: float | None, again: float | None, halves: float | None) -> Check:
    """(d) The gradient norm over two forward_backward calls is that of one call with all the datums, within two equal calls' noise."""
    numbers = {"norm": whole, "norm_again": again, "norm_of_halves": halves}
    if whole is None or again is None or halves is None:
        return Check("accumulation", Outcome.CANNOT_TELL, "the server reports no gradient norm", numbers)
    if whole == 0.0:
        return Check("accumulation", Outcome.CANNOT_TELL, "the gradient is zero", numbers)
    allowed = max(NOISE_FACTOR * abs(whole - again), NORM_TOLERANCE * whole)
    text = f"gradient norm {halves:.6g} over two calls, {whole:.6g} and {again:.6g} over one"
    return Check("accumulation", Outcome.PASS if abs(halves - whole) <= allowed else Outcome.FAIL, text, numbers)


def equivalence_check(start: Logprobs, native: Logprobs, again: Logprobs, two_pass: Logprobs) -> Check:
    """(c) A native and a two-pass step from equal state leave equal logprobs, within the noise of two native steps.

    `again` and `two_pass` both start from the loaded state, `native` from the live one that was saved.
    """
    moved, noise, apart = _mean_gap(start, native), _mean_gap(native, again), _mean_gap(again, two_pass)
    numbers: dict[str, float | None] = {"step_moves": moved, "noise": noise, "apart": apart}
    compared = f"{apart:.2e} apart, where a step moves logprobs by {moved:.2e} and two native steps differ by {noise:.2e}"
    if moved < MIN_SIGNAL * noise or moved == 0.0:
        return Check("equivalence", Outcome.CANNOT_TELL, f"too little signal: {compared}", numbers)
    if apart > max(NOISE_FACTOR * noise, STEP_TOLERANCE * moved):
        return Check("equivalence", Outcome.FAIL, f"native and two passes leave other logprobs: {compared}", numbers)
    return Check("equivalence", Outcome.PASS, f"native and two passes leave the same logprobs: {compared}", numbers)


def _gap(first_T: npt.NDArray[np.float32], second_T: npt.NDArray[np.float32], sequence: Sequence) -> float:
    count = len(sequence.response_tokens)
    return float(np.mean(np.abs(first_T[-count:] - second_T[-count:])))


def _mean_gap(first: Logprobs, second: Logprobs) -> float:
    gaps = [np.abs(one.astype(np.float64) - other) for one, other in zip(first, second, strict=True)]
    return float(np.mean(np.concatenate(gaps)))


def _elementwise_sum(result: Any) -> float | None:
    rows = [row.get("elementwise_loss") for row in result.loss_fn_outputs]
    if not rows or any(row is None for row in rows):
        return None
    total = float(sum(np.asarray(row.to_numpy(), dtype=np.float64).sum() for row in rows))
    return total if np.isfinite(total) else None
