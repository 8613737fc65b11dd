"""When a wait is told of."""

from bench.telling import Telling


def told(looks: list[float], **settings: float) -> list[float]:
    telling = Telling(**settings)
    return [waited_s for waited_s in looks if telling.due(waited_s)]


def test_a_wait_is_told_of_after_five_seconds_then_when_it_has_doubled_and_each_minute_at_last() -> None:
    assert told([float(second) for second in range(300)]) == [5, 10, 20, 40, 80, 140, 200, 260]


def test_looks_that_come_late_count_from_when_they_told() -> None:
    assert told([4.9, 7.0, 13.9, 14.1, 28.3, 100.0, 159.0, 161.0]) == [7.0, 14.1, 28.3, 100.0, 161.0]


def test_a_wait_may_be_told_of_from_its_first_look() -> None:
    assert told([1.0, 1.9, 7.0, 13.0, 19.0, 29.0], first_s=0.0) == [1.0, 7.0, 19.0]
