"""The verdict says what the interval supports, in one sentence."""

import pytest

from bench.stats import Saving
from bench.verdict import verdict


def headline(median: float, low: float | None, high: float | None, faster: int, pairs: int = 8) -> Saving:
    return Saving("custom_2pass", "native_1pass", median, low, high, faster, (median,) * pairs)


@pytest.mark.parametrize(
    ("saving", "sentence"),
    [
        (
            headline(23.04, 21.0, 25.06, 8),
            "The fused path saves 23.0 % of the two-pass step (median over pairs, 95 % interval 21.0 to 25.1 %); "
            "the fused step was faster in 8 of 8 pairs.",
        ),
        (
            headline(-5.0, -6.0, -4.0, 0),
            "The fused path costs 5.0 % of the two-pass step (median over pairs, 95 % interval -6.0 to -4.0 %); "
            "the fused step was faster in 0 of 8 pairs.",
        ),
        (
            headline(1.0, -2.0, 4.0, 5),
            "No saving that 8 pairs can show: median 1.0 %, 95 % interval -2.0 to 4.0 %; the fused step was faster in 5 of 8 pairs.",
        ),
        (
            headline(0.0, 0.0, 0.0, 0),
            "No saving that 8 pairs can show: median 0.0 %, 95 % interval 0.0 to 0.0 %; the fused step was faster in 0 of 8 pairs.",
        ),
        (
            headline(20.0, None, None, 2, pairs=2),
            "The fused path saves 20.0 % of the two-pass step (median; too few pairs for an interval; "
            "the fused step was faster in 2 of 2 pairs).",
        ),
        (
            headline(20.0, None, None, 1, pairs=1),
            "The fused path saves 20.0 % of the two-pass step (median; too few pairs for an interval; "
            "the fused step was faster in 1 of 1 pair).",
        ),
    ],
    ids=["saves", "costs", "cannot tell", "equal", "too few", "one"],
)
def test_the_sentence(saving: Saving, sentence: str) -> None:
    assert verdict([saving]) == sentence


def test_other_comparisons_are_no_headline() -> None:
    control = Saving("native_1pass", "native_1pass_control", 0.0, -1.0, 1.0, 4, (0.0,) * 8)
    without = "No pair of a fused and a two-pass step was measured, so there is no saving to report."
    assert verdict([]) == verdict([control]) == without
    assert verdict([control, headline(20.0, 19.0, 21.0, 8)]).startswith("The fused path saves 20.0 %")
