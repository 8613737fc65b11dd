"""Labels moved apart: against places worked out by hand, and what must hold for any."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plots.spread import spread

pytestmark = pytest.mark.slow


def test_labels_with_room_stay_where_they_are():
    assert spread([1.0, 5.0, 9.0], [2.0, 2.0, 2.0], 0, 10) == [1.0, 5.0, 9.0]


def test_two_that_touch_share_the_way():
    # Both wish for 5: of width 2 each, they end at 4 and 6.
    assert spread([5.0, 5.0], [2.0, 2.0], 0, 10) == [4.0, 6.0]
    assert spread([5.0, 5.0], [2.0, 2.0], 0, 10, gap=1) == [3.5, 6.5]


def test_the_ends_hold_and_push_the_neighbours():
    assert spread([0.0, 0.0, 9.0], [2.0, 2.0, 2.0], 0, 10) == [1.0, 3.0, 9.0]
    assert spread([4.0, 10.0, 10.0], [4.0, 2.0, 2.0], 0, 10) == [4.0, 7.0, 9.0]


def test_none_is_none():
    assert spread([], [], 0, 1) == []


@given(st.lists(st.tuples(st.floats(-5, 15), st.floats(0.1, 2)), max_size=8), st.floats(0, 0.2))
def test_none_overlaps_another_or_leaves_the_room_where_all_fit(labels, gap):
    wished = sorted(middle for middle, _ in labels)
    widths = [width for _, width in labels]
    room = max(10.0, sum(widths) + gap * len(widths))
    places = spread(wished, widths, 0, room, gap)
    ends = [(middle - width / 2, middle + width / 2) for middle, width in zip(places, widths, strict=True)]
    for (_, right), (left, _) in itertools.pairwise(ends):
        assert left - right >= gap - 1e-9
    assert all(left >= -1e-9 and right <= room + 1e-9 for left, right in ends)


def test_the_middle_one_of_three_at_one_place_stays():
    assert spread([5.0, 5.0, 5.0], [2.0, 2.0, 2.0], 0, 10) == pytest.approx([3.0, 5.0, 7.0])
