"""Sequences for checking a server: made here, so that neither a tokenizer nor a sampler is needed."""

import math
import random
from collections.abc import Sequence as Sequences
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bench.batch import Sequence

# Ids that every vocabulary has, above the usual special tokens of small ones.
TOKEN_IDS = range(3, 250)
# Equal lengths among them: outputs in another order are then only found by their values.
PROMPT_LENGTHS = (12, 5, 9, 12, 7, 5, 12, 9)
RESPONSE_LENGTHS = (24, 24, 7, 16, 16, 3, 24, 7)
# One for each case of the clip 0.8 to 1.2: inside, above and below it, with either sign of the advantage.
LOG_RATIOS = (0.0, 0.3, -0.3, 0.1, 0.3, -0.3, -0.1, 0.05)
ADVANTAGES = (1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0)
# SkyRL pads a batch to its number of GPUs; 16 sequences divide by up to 16 of them.
COPIES = 2


def sequences(seed: int) -> tuple[Sequence, ...]:
    """Sixteen different sequences of random tokens, with advantages and no logprobs yet (zeros)."""
    source = random.Random(seed)
    made = []
    for _ in range(COPIES):
        for prompt_length, response_length, advantage in zip(PROMPT_LENGTHS, RESPONSE_LENGTHS, ADVANTAGES, strict=True):
            prompt = tuple(source.choice(TOKEN_IDS) for _ in range(prompt_length))
            response = tuple(source.choice(TOKEN_IDS) for _ in range(response_length))
            made.append(Sequence(prompt, response, (0.0,) * response_length, advantage))
    return tuple(made)


def off_policy(made: Sequences[Sequence], new_logprobs: Sequences[npt.NDArray[np.float32]]) -> tuple[Sequence, ...]:
    """The sequences with old logprobs chosen so that sequence i's log ratio is `LOG_RATIOS[i % 8]` under logprobs of shape [T] each.

    The shift differs from token to token and has the wanted mean, so that a token-level ratio gives another loss.
    """
    shifted = []
    for index, (sequence, new_T) in enumerate(zip(made, new_logprobs, strict=True)):
        wanted = LOG_RATIOS[index % len(LOG_RATIOS)]
        count = len(sequence.response_tokens)
        waves = [0.2 * math.sin(position + 1.0) for position in range(count)]
        mean = sum(waves) / count
        old = [float(new) - wanted - (wave - mean) for new, wave in zip(new_T[-count:], waves, strict=True)]
        shifted.append(replace(sequence, response_logprobs=tuple(old)))
    return tuple(shifted)
