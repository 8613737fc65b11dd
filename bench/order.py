"""In which order the arms take their steps."""

from collections.abc import Iterator, Sequence

ORDERS = ("interleaved", "blocked")


def interleaved(arms: Sequence[str]) -> Iterator[list[str]]:
    """Endless rounds, each with every arm once, so that over 2n rounds of n arms each has taken every place equally often.

    Two arms: AB, BA, AB, ... Three: ABC, ACB, BCA, BAC, CAB, CBA, ...: rotate, then the same reversed behind its first.
    """
    count = len(arms)
    turn = 0
    while True:
        first = (turn // 2) % count
        rotated = [*arms[first:], *arms[:first]]
        if count == 2:
            rotated = [*arms]
            yield rotated if turn % 2 == 0 else rotated[::-1]
        else:
            yield rotated if turn % 2 == 0 else [rotated[0], *rotated[:0:-1]]
        turn += 1


def schedule(order: str, arms: Sequence[str], rounds: int) -> Iterator[tuple[int, list[str]]]:
    """Pairs of (round, arms in order). `blocked` takes all steps of one arm, then all of the next, as published."""
    if order == "blocked":
        for arm in arms:
            for index in range(rounds):
                yield index, [arm]
        return
    for index, names in zip(range(rounds), interleaved(arms), strict=False):
        yield index, names
