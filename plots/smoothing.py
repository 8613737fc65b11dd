"""Smoothing of a learning run's accuracy."""

from collections.abc import Sequence

from plots.learning_run import LearningRun

FEWEST_STEPS = 8  # fewer are drawn as they are


def window(run: LearningRun) -> int:
    """Return over how many steps to take the mean: an odd number, about a tenth of the run's."""
    count = sum(point.correct is not None for point in run.points)
    return 1 if count < FEWEST_STEPS else max(3, 2 * round(count / 20) + 1)


def smoothed(values: Sequence[float], over: int) -> list[float]:
    """Return the mean over `over` (odd) values around each, near the ends over as many on both sides as there are."""
    half = over // 2
    result = []
    for place in range(len(values)):
        reach = min(half, place, len(values) - 1 - place) or (min(1, half) if len(values) > 1 else 0)
        near = values[max(0, place - reach) : place + reach + 1]
        result.append(sum(near) / len(near))
    return result
