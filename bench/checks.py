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


def expected_loss(sequence: Sequence, new_T: npt.NDArray[np.float32], clip: Clip) -> float:
    """The sequence's part of GSPO's loss, computed here from the logprobs [T] that the server returned."""
    return gspo.sequence_loss(*_arrays(sequence, new_T), sequence.advantage, clip)


def beyond_clip(sequence: Sequence, new_T: npt.NDArray[np.float32], clip: Clip) -> bool:
    """Whether the sequence counts as clipped, by the logprobs [T] that the server returned."""
    return gspo.is_clipped(*_arrays(sequence, new_T), sequence.advantage, clip)


def loss_of(result: Any, metrics: dict[str, float | None]) -> float | None:
    """The loss that the server reports for a gspo call: its metric, or the sum of its token losses; None where it has neither."""
    loss = metrics.get("pg_loss:sum")
    return _elementwise_sum(result) if loss is None else loss


def mask_check(
    loss: float | None, expected: float, scale: float, clip_fraction_beyond: float | None, clip_fraction_within: float | None
) -> Check:
    """(b) The server's GSPO loss and clip fractions with response-only weights are those computed here from the logprobs.

    `expected` is the sum of the sequences' losses and `scale` the sum of their sizes. The two fractions are the server's for a call with
    only the sequences beyond the clip, which must be 1, and with only the others, which must be 0: for a mixed call SkyRL averages
    over tokens within a micro-batch and then over micro-batches, so that the number depends on how it cuts them.
    """
    numbers = {
        "loss": loss,
        "expected_loss": expected,
        "clip_fraction_beyond": clip_fraction_beyond,
        "clip_fraction_within": clip_fraction_within,
    }
    if loss is None:
        return Check("mask", Outcome.CANNOT_TELL, "the server returns neither pg_loss:sum nor token losses for gspo", numbers)
    if not abs(loss - expected) <= LOSS_TOLERANCE * scale:
        text = (
            f"the server's gspo loss is {loss:.4f} and the response tokens give {expected:.4f}: "
            "its ratio is not the mean over the response, as when weights are ignored"
        )
        return Check("mask", Outcome.FAIL, text, numbers)
    if clip_fraction_beyond is None or clip_fraction_within is None:
        text = f"the loss {loss:.4f} is the one computed here ({expected:.4f}); this server reports no clip fraction"
        return Check("mask", Outcome.PASS, text, numbers)
    found = (
        f"it clips {100 * clip_fraction_beyond:.1f} % of the sequences beyond the clip and {100 * clip_fraction_within:.1f} % of the others"
    )
    if abs(clip_fraction_beyond - 1.0) > CLIP_TOLERANCE or abs(clip_fraction_within) > CLIP_TOLERANCE:
        return Check("mask", Outcome.FAIL, f"the server's loss is right and its clip is not: {found}", numbers)
    text = f"the loss {loss:.4f} is the one computed here ({expected:.4f}), and {found}"
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


def _arrays(sequence: Sequence, new_T: npt.NDArray[np.float32]) -> tuple[gspo.Floats, gspo.Floats, gspo.Floats]:
    old_T, mask_T = datums.old_logprobs_T(sequence), datums.mask_T(sequence)
    return new_T.astype(np.float64), old_T.astype(np.float64), mask_T.astype(np.float64)


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
