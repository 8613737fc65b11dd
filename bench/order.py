"""In which order the arms take their steps."""

from collections.abc import Iterator, Sequence

ORDERS = ("interleaved", "blocked")


def interleaved(arms: Sequence[str]) -> Iterator[list[str]]:
    """Endless rounds, each with every arm once: rotated, then the same reversed, so that every arm takes every place equally often.

    Two arms: AB, BA, BA, AB, and again. Three: ABC, CBA, BCA, ACB, CAB, BAC, and again.
    """
    turn = 0
    while True:
        first = (turn // 2) % len(arms)
        rotated = [*arms[first:], *arms[:first]]
        yield rotated if turn % 2 == 0 else rotated[::-1]
        turn += 1
