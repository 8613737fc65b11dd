"""From rewards to advantages: what makes a rollout better than the others of its problem, and by how much."""

import math
from collections.abc import Sequence

# Below it a group's rewards count as equal: what is left is rounding.
LEAST_STDEV = 1e-8


def centred(rewards: Sequence[float], divide_by_stdev: bool) -> list[float]:
    """Each reward less the group's mean; with `divide_by_stdev` over the group's population standard deviation (GSPO, equation 6).

    All 0 where all rewards are equal, either way.
    """
    mean = math.fsum(rewards) / len(rewards)
    stdev = math.sqrt(math.fsum((reward - mean) ** 2 for reward in rewards) / len(rewards))
    if stdev < LEAST_STDEV:
        return [0.0] * len(rewards)
    return [(reward - mean) / (stdev if divide_by_stdev else 1.0) for reward in rewards]


def share_of_mean(advantage: float, response_tokens: int, sequences: int, backend: str | None) -> float:
    """The advantage to send so that the server's reduction gives GSPO's: the mean over a sequence's tokens, then over the sequences.

    The Tinker API's losses are summed over tokens and sequences, so it is A / (|y| n); SkyRL's JAX backend takes both means itself.
    """
    return advantage if backend == "jax" else advantage / (response_tokens * sequences)


def reduction_words(backend: str | None) -> str:
    """What a run's record says of it."""
    how = "by the server" if backend == "jax" else "by advantages / (response tokens * sequences), for the server sums"
    return f"mean over tokens, then over sequences: {how}"
