"""Numbers as people read them."""

import pytest

from plots.numbers import clipped, day_and_time, percent, plural, short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12.915, "12.92"),  # binary 12.9149999: rounded as the digits shown are
        (16.771, "16.77"),
        (586.0, "586.0"),
        (7569, "7,569"),
        (99.995, "100.00"),
        (0.184, "0.184"),
        (0.0012345, "0.00123"),
        (1.0, "1.000"),
        (0, "0"),
        (1234567.5, "1,234,568"),
        (3.3e8, "3.30e+08"),
        (2e-7, "2.00e-07"),
    ],
)
def test_a_number_keeps_the_digits_that_matter(value, text):
    assert short(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(23.0, "23.0 %"), (-1.25, "−1.3 %"), (0.04, "0.0 %"), (-0.04, "0.0 %"), (-99900.0, "−99,900 %"), (1e12, "1.00e+12 %")],
)
def test_a_percentage_has_one_digit_after_the_point_and_a_real_minus(value, text):
    assert percent(value) == text


def test_a_time_of_any_zone_is_written_in_utc():
    assert day_and_time("2026-11-30T09:00:00Z") == "2026-11-30 09:00 UTC"
    assert day_and_time("2026-11-30T01:30:00+02:00") == "2026-11-29 23:30 UTC"
    assert day_and_time("2026-11-30T09:00:00") == "2026-11-30 09:00"
    assert day_and_time("yesterday") == "yesterday"
    assert day_and_time("0001-01-01T00:00:00+14:00") == "0001-01-01T00:00:00+14:00"  # before any year


def test_one_is_singular():
    assert (plural(1, "pair"), plural(8, "pair"), plural(7569, "target token")) == ("1 pair", "8 pairs", "7,569 target tokens")


def test_a_clipped_text_keeps_both_its_ends():
    assert clipped("abcdefghij", 10) == "abcdefghij"
    assert clipped("abcdefghijk", 10) == "abcdef…ijk"
