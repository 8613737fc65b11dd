"""Where the randomness of each step comes from: the run's seed and the step alone, so that a resumed run draws what it would have drawn."""

import hashlib

SEEDS = 2**31


def sampling_seed(seed: int, purpose: str, step: int, group: int, group_size: int) -> int:
    """The seed of a group's first rollout; the server counts up from it for the others."""
    digest = hashlib.sha256(f"{seed}/{purpose}/{step}/{group}".encode()).digest()
    return int.from_bytes(digest[:8]) % (SEEDS - group_size)
