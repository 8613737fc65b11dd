"""GSPO's loss in torch, for the SDK's `forward_backward_custom`. Torch is an extra of the client, imported only here."""

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from bench import datums, gspo
from bench.batch import FrozenBatch
from bench.errors import InputError


def check_installed() -> None:
    """Raises InputError when torch is not there."""
    if importlib.util.find_spec("torch") is None:
        raise InputError(
            "the path sdk_custom needs torch on the client, and it is not installed.\n"
            "Install it (pip install torch) and run outside the container, or leave sdk_custom out of --paths."
        )


def for_batch(batch: FrozenBatch, clip: gspo.Clip) -> Callable[[list[Any], list[Any]], tuple[Any, dict[str, float]]]:
    """A loss `(datums, logprobs) -> (loss, metrics)` whose gradient with respect to the logprobs is GSPO's, one-sided clip and all.

    Each entry of `logprobs` is a tensor of shape [T] that requires a gradient.
    """
    import torch

    old = [torch.from_numpy(datums.old_logprobs_T(sequence)) for sequence in batch.sequences]
    masks = [torch.from_numpy(datums.mask_T(sequence)) for sequence in batch.sequences]

    def loss(_data: list[Any], logprobs: list[Any]) -> tuple[Any, dict[str, float]]:
        terms = []
        for sequence, new_T, old_T, mask_T in zip(batch.sequences, logprobs, old, masks, strict=True):
            advantage = gspo.surrogate_advantage(
                new_T.detach().numpy().astype(np.float64),
                old_T.numpy().astype(np.float64),
                mask_T.numpy().astype(np.float64),
                sequence.advantage,
                clip,
            )
            terms.append(-(new_T * mask_T).sum() * advantage)
        return torch.stack(terms).sum(), {}

    return loss
