"""Where labels go that would lie over each other: moved apart, each as near to its own place as that allows."""

from collections.abc import Sequence


def spread(wished: Sequence[float], widths: Sequence[float], low: float, high: float, gap: float = 0.0) -> list[float]:
    """Return the labels' middles, in the order given, which is from left to right.

    wished: middles, ascending; widths: of the labels; low, high: the ends that no label passes as long as they fit together;
    gap: the least room between two. Neighbours that touch share their displacement evenly (least squares).
    """
    blocks: list[tuple[float, float, int]] = []  # left edge, width, number of labels of those moved together
    for middle, width in zip(wished, widths, strict=True):
        block = (middle - width / 2, width, 1)
        while blocks and blocks[-1][0] + blocks[-1][1] + gap > block[0]:
            left, before, count = blocks.pop()
            # The mean of what each of the two would want, weighted by their labels.
            edge = (count * left + block[2] * (block[0] - before - gap)) / (count + block[2])
            block = (edge, before + gap + block[1], count + block[2])
        blocks.append(block)
    lefts: list[float] = []
    for edge, width, _ in blocks:
        lefts.append(max(low, min(edge, high - width)))
    # Pushing in from the ends can make blocks touch again: once from the left, once from the right.
    for i in range(1, len(blocks)):
        lefts[i] = max(lefts[i], lefts[i - 1] + blocks[i - 1][1] + gap)
    if blocks:
        lefts[-1] = max(low, min(lefts[-1], high - blocks[-1][1]))
    for i in range(len(blocks) - 2, -1, -1):
        lefts[i] = min(lefts[i], lefts[i + 1] - gap - blocks[i][1])
    middles: list[float] = []
    place = 0
    for left, (_, _, count) in zip(lefts, blocks, strict=True):
        edge = left
        for width in widths[place : place + count]:
            middles.append(edge + width / 2)
            edge += width + gap
        place += count
    return middles
