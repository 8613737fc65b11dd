"""The answer reader: every case's number worked out by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.tasks import answers

CASES = [
    # As GSM8K writes it, and as models vary it.
    ("#### 18", 18),
    ("#### 18.", 18),
    ("#### $18", 18),
    ("####18", 18),
    ("#### 18 dollars", 18),
    ("#### **18**", 18),
    ("#### -3", -3),
    ("#### +7", 7),
    ("#### -3.0", -3),
    ("#### 70,000.00", 70_000),
    ("#### 1,000,000", 1_000_000),
    ("#### 18\n\n#### 20", 20),
    ("2+40=42\n#### 42\n" + 8 * " and the reasoning above confirms this result is consistent.", 42),
    ("#### Step 2: add 3 and 4\nSo it is 7.", 7),
    # Currency, thousands, units, full stops.
    ("She has to pay $29.00.", 29),
    ("The total is **$70,000**", 70_000),
    ("It costs £1,234.50 a year.", "1234.5"),
    ("That makes 1.000.000 people.", 1_000_000),
    ("He needs 12 km.", 12),
    ("He needs 12km", 12),
    ("She saves 20%.", 20),
    ("It takes 3.", 3),
    ("It takes .5 hours", "0.5"),
    (r"That is \$1{,}200.", 1200),
    (r"That is 1,\!200 in all.", 1200),
    # Signs.
    ("The change is -5", -5),
    ("The change is −5 degrees.", -5),
    ("The balance is -$40.", -40),
    ("The balance is $-40.", -40),
    ("So x=-2", -2),
    ("10-3", 3),
    ("- 18", 18),
    ("(5+2)-4", 4),
    # Fractions and decimals.
    ("He ate 3/4", "3/4"),
    ("He ate 2 1/2 pies", "5/2"),
    ("3 / 4 of them", "3/4"),
    ("It is 0.1", "1/10"),
    (r"\boxed{\frac{3}{4}}", "3/4"),
    (r"\boxed{\dfrac{1}{3}}", "1/3"),
    (r"\boxed{2\frac{1}{2}}", "5/2"),
    (r"\boxed{-\frac{1}{2}}", "-1/2"),
    ("48/2 = 24", 24),
    ("It was on 3/4/2024", 2024),
    # Several numbers: the last one, or the marked one.
    ("She has 5 apples and 3 pears, 8 in all", 8),
    ("5 + 3 = 8 apples. That is 8 of 20 apples.", 20),
    ("The answer is 8, of 20 apples.", 8),
    ("The answer is 5 * 4 = 20.", 20),
    ("The answer is: 7. I used 2 steps.", 7),
    ("Answer: 12 eggs\nChecked 3 times", 12),
    ("**Answer:** 12", 12),
    ("The final answer is $1,250.50. Done in 3 steps.", "1250.5"),
    # Boxes.
    (r"\boxed{18}", 18),
    (r"So $\boxed{18}$ of 20.", 18),
    (r"\boxed{\$18}", 18),
    (r"\boxed{18 \text{ dollars}}", 18),
    (r"\boxed{x = 18}", 18),
    (r"\boxed{1,234}", 1234),
    (r"\boxed{10\%}", 10),
    (r"\boxed{-3}", -3),
    (r"\boxed{3} is wrong, it is \boxed{4}", 4),
    (r"The answer is 5. \boxed{6}", 6),
    (r"\boxed{6} #### 7", 7),
    (r"\boxed{\text{none}} of the 5", None),
    (r"12 apples, so \boxed{1", None),
    # Thoughts.
    ("<think>maybe 5</think>It is 6", 6),
    ("<think>\n\n</think>\n\n6", 6),
    ("It is 6 <think>or 7", None),
    # None at all.
    ("", None),
    ("I do not know.", None),
    ("####", None),
    (r"\boxed{}", None),
    ("x2 and H2O", None),
    ("3/0 is none", None),
    ("9" * 5_000, None),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_the_number_that_a_text_ends_on(text: str, expected: object) -> None:
    assert answers.read(text) == (None if expected is None else Fraction(str(expected)))


@pytest.mark.parametrize(
    ("text", "answer", "right"),
    [
        ("It is $29.00.", "29", True),
        ("-3", "3", False),
        ("#### 70,000", "70000", True),
        ("#### 1000000", "1,000,000", True),
        ("It is 0.3", "0.30", True),
        ("It is 0.1 + 0.2 = 0.30000000000000004", "0.3", False),
        ("1/3", "0.3333333333333333", False),
        ("no number", "0", False),
        ("12", "not a number", False),
    ],
)
def test_right_means_equal_to_the_last_digit(text: str, answer: str, right: bool) -> None:
    assert answers.is_right(text, answer) is right


@pytest.mark.parametrize(
    ("text", "expected"),
    [("72", 72), (" 1,250 ", 1250), ("-3.50", Fraction(-7, 2)), ("$5", 5), ("5 apples", None), ("", None), ("5 6", None)],
)
def test_a_right_answer_is_a_number_alone(text: str, expected: object) -> None:
    assert answers.number(text) == expected


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (r"\boxed{5}", True),
        ("#### 5", True),
        ("The answer is 5.", True),
        ("It is 5.", False),
        ("<think>The answer is 5.</think>It is 5", False),
        ("#### Step 1", False),
    ],
)
def test_whether_an_answer_is_marked(text: str, stated: bool) -> None:
    assert answers.states_answer(text) is stated


@given(st.text(alphabet="0123456789.,/-+$ %#\\{}boxedfracanswer is:=\n", max_size=80))
def test_any_text_is_read_without_an_error(text: str) -> None:
    answers.read(text)
    answers.states_answer(text)


@given(st.integers(-(10**12), 10**12))
def test_a_whole_number_is_read_back_however_it_is_grouped(value: int) -> None:
    assert answers.read(f"So that makes {value:,} in all.") == value
    assert answers.read(f"\\boxed{{{value}}}") == value
