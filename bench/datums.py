"""From frozen sequences to what goes over the wire: one function for each loss that a path sends.

Every array of a datum has T entries, one for each target token: the sequence's tokens but the first. `weights` is 1 on response tokens
and 0 on the prompt; without it the server would take 1 everywhere, and GSPO's ratio would average over the prompt.
"""

from collections.abc import Sequence as Sequences

import numpy as np
import numpy.typing as npt
import tinker

from bench.batch import Sequence

Floats32 = npt.NDArray[np.float32]


def mask_T(sequence: Sequence) -> Floats32:
    """1 on response tokens, 0 on the prompt."""
    mask = np.zeros(sequence.target_count, dtype=np.float32)
    mask[-len(sequence.response_tokens) :] = 1.0
    return mask


def on_response_T(sequence: Sequence, values: Sequences[float] | float) -> Floats32:
    """`values` on the response tokens, 0 on the prompt."""
    row = np.zeros(sequence.target_count, dtype=np.float32)
    row[-len(sequence.response_tokens) :] = values
    return row


def old_logprobs_T(sequence: Sequence) -> Floats32:
    """The sampler's logprobs, 0 on the prompt."""
    return on_response_T(sequence, sequence.response_logprobs)


def gspo_datum(sequence: Sequence) -> tinker.Datum:
    """For `forward_backward(loss_fn="gspo")`."""
    return _datum(
        sequence,
        weights=mask_T(sequence),
        logprobs=old_logprobs_T(sequence),
        advantages=on_response_T(sequence, sequence.advantage),
    )


def forward_datum(sequence: Sequence) -> tinker.Datum:
    """For `forward(loss_fn="cross_entropy")`, which only fetches logprobs."""
    return _datum(sequence, weights=mask_T(sequence))


def importance_sampling_datum(sequence: Sequence, new_logprobs_T: Floats32, surrogate_advantage: float) -> tinker.Datum:
    """For `forward_backward(loss_fn="importance_sampling")`, with the logprobs that the forward pass returned."""
    return _datum(
        sequence,
        weights=mask_T(sequence),
        logprobs=new_logprobs_T,
        advantages=on_response_T(sequence, surrogate_advantage),
    )


def _datum(sequence: Sequence, **inputs_T: Floats32) -> tinker.Datum:
    tokens = np.asarray(sequence.prompt_tokens + sequence.response_tokens, dtype=np.int64)
    inputs = {name: tinker.TensorData.from_numpy(array) for name, array in inputs_T.items()}
    return tinker.Datum(
        model_input=tinker.ModelInput.from_ints(tokens[:-1].tolist()),
        loss_fn_inputs={"target_tokens": tinker.TensorData.from_numpy(tokens[1:]), **inputs},
    )
