"""The order of the arms within rounds."""

from collections import Counter
from itertools import islice, permutations

import pytest

from bench.order import interleaved


def test_two_arms_go_ab_ba_ba_ab() -> None:
    rounds = ["".join(names) for names in islice(interleaved("AB"), 6)]
    assert rounds == ["AB", "BA", "BA", "AB", "AB", "BA"]


def test_three_arms_take_every_order_once_in_six_rounds() -> None:
    rounds = list(islice(interleaved("ABC"), 6))
    assert sorted(map(tuple, rounds)) == sorted(permutations("ABC"))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_arm_takes_every_place_equally_often(count: int) -> None:
    names = "ABCD"[:count]
    places = Counter((name, place) for row in islice(interleaved(names), 2 * count) for place, name in enumerate(row))
    assert set(places.values()) == {2}
    assert len(places) == count * count


@pytest.mark.parametrize("count", [2, 3, 4])
def test_each_of_two_arms_goes_first_equally_often_after_every_second_round(count: int) -> None:
    names = "ABCD"[:count]
    before = Counter()
    for index, row in enumerate(islice(interleaved(names), 12), start=1):
        before["AB" if row.index("A") < row.index("B") else "BA"] += 1
        if index % 2 == 0:
            assert before["AB"] == before["BA"] == index / 2
