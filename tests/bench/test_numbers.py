"""Numbers as the console writes them."""

import pytest

from bench.numbers import brief, duration, memory, percent, plural, share, short, signed


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (short(12.915), "12.92"),  # binary 12.9149999: rounded as the digits shown are
        (short(7569), "7,569"),
        (brief(13.6953), "13.7"),
        (brief(1.034), "1.03"),
        (percent(31.25), "31.3 %"),  # a half goes up
        (percent(-0.04), "0.0 %"),
        (percent(1e20), "1.00e+20 %"),
        (signed(0.44), "+0.4"),
        (signed(-0.44), "-0.4"),
        (signed(0.04), "0.0"),
        (share(0.0004), "< 0.1 %"),
        (share(0.951), "95.1 %"),
        (duration(0.5144), "0.514 s"),
        (duration(0.04014), "40.14 ms"),
        (duration(0.0), "0 s"),
        (memory(48.2e9), "44.9 GiB"),
        (memory(3 * 2**26), "192 MiB"),
    ],
)
def test_a_number_has_the_digits_that_matter(written: str, text: str) -> None:
    assert written == text


def test_a_count_stands_with_its_noun() -> None:
    assert [plural(count, "pair") for count in (0, 1, 2, 7569)] == ["0 pairs", "1 pair", "2 pairs", "7,569 pairs"]
