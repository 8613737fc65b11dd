"""The number that an answer ends on, read as people and models write it, and compared exactly.

In order: the last of `\\boxed{...}`, `#### 18` and "the answer is 18"; without any of them, the last number of the text.
"""

import re
from fractions import Fraction

# A number of more digits than this is none that a problem asks for (and Python would refuse to read thousands of them).
MAX_DIGITS = 60

_SIGN = r"[-+−]"
_CURRENCY = r"(?:\\?\$|[€£¥₹])"
_PLAIN = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]{1,3}(?:\.[0-9]{3}){2,}(?![0-9])|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+"
# Not within a word or another number: x2 and 1.2.3 are names. A sign stands right before its number and after no operand: 5-3 is 5 and 3.
_NUMBER = re.compile(
    rf"(?:(?<![0-9A-Za-z_)}}\].%])(?P<sign>{_SIGN}))?"
    rf"(?:{_CURRENCY}\s?(?P<inner>{_SIGN})?)?"
    rf"(?:(?P<whole_tex>(?<![0-9A-Za-z_.,/])[0-9]+)?[ ]?\\[dt]?frac\s?\{{\s?(?P<top>[0-9]+)\s?\}}\s?\{{\s?(?P<bottom>[0-9]+)\s?\}}"
    rf"|(?:(?P<whole>(?<![0-9A-Za-z_.,/])[0-9]+)[ ])?(?<![0-9A-Za-z_/.])(?P<over>[0-9]+)[ ]?/[ ]?(?P<under>[0-9]+)(?![0-9./])"
    rf"|(?<![0-9A-Za-z_])(?P<plain>{_PLAIN}))"
)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_HASHES = re.compile(r"####[ \t]*")
_SAYS = re.compile(r"\banswer\b\**\s*(?:is\b|equals\b|:|=)[:\s]*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")
_MARKUP = r"[*_`(\[\s]*(?:\\[(\[])?\s*"
_TEX = re.compile(r"\\(?:text|mathrm|mathbf|textbf)\s*\{([^{}]*)\}")


def read(text: str) -> Fraction | None:
    """The number that `text` ends on; None where it states none, or a thought or a box is left open. Never raises."""
    text = _after_thought(text)
    marked = max(_boxed(text), _after_hashes(text), _said(text), key=lambda found: found[0])
    return marked[1] if marked[0] >= 0 else _last_number(text)


def states_answer(text: str) -> bool:
    """Whether the answer is marked as such, by a box, `####` or words."""
    text = _after_thought(text)
    return max(_boxed(text)[0], _after_hashes(text)[0], _said(text)[0]) >= 0


def is_right(text: str, answer: str) -> bool:
    """Whether `text` ends on the number that `answer` writes; a whole text is read as `read` does, 29.00 equals 29."""
    found = read(text)
    return found is not None and found == number(answer)


def number(text: str) -> Fraction | None:
    """`text` as one number, with nothing else but spaces and a unit of currency around it; None where it is more or less than that."""
    match = _NUMBER.fullmatch(_plain_tex(text).strip())
    return _value(match) if match else None


def _after_thought(text: str) -> str:
    """What follows the model's thought; nothing where the thought does not end."""
    _, closed, rest = text.rpartition("</think>")
    if closed:
        return rest
    return "" if "<think>" in text else text


def _boxed(text: str) -> tuple[int, Fraction | None]:
    """Where the last box starts, -1 without one, and the last number in it; none in a box that is left open."""
    start, found = -1, None
    for match in _BOX.finditer(text):
        inside = _inside(text, match.end())
        start, found = match.start(), None if inside is None else _last_number(inside)
    return start, found


def _inside(text: str, start: int) -> str | None:
    """The text up to the brace that closes the one before `start`."""
    depth = 1
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return text[start:index]
    return None


def _after_hashes(text: str) -> tuple[int, Fraction | None]:
    """The last `####` that a number follows at once; before words it is a heading."""
    start, found = -1, None
    for match in _HASHES.finditer(text):
        rest = _plain_tex(text[match.end() :].split("\n", 1)[0])
        if led := re.match(rf"{_MARKUP}(?={_SIGN}|{_CURRENCY}|[0-9.]|\\[dt]?frac)", rest):
            value = _first_number(rest[led.end() :])
            start, found = (match.start(), value) if value is not None else (start, found)
    return start, found


def _said(text: str) -> tuple[int, Fraction | None]:
    """The last "answer is ..." or "Answer: ...": its sentence's first number, or what an equation in it comes to."""
    start, found = -1, None
    for match in _SAYS.finditer(text):
        end = _SENTENCE_END.search(text, match.end())
        sentence = text[match.end() : end.start() if end else len(text)]
        value = _last_number(sentence.rpartition("=")[2]) if "=" in sentence else _first_number(_plain_tex(sentence))
        start, found = (match.start(), value) if value is not None else (start, found)
    return start, found


def _first_number(text: str) -> Fraction | None:
    return next((value for match in _NUMBER.finditer(text) if (value := _value(match)) is not None), None)


def _last_number(text: str) -> Fraction | None:
    values = [_value(match) for match in _NUMBER.finditer(_plain_tex(text))]
    return values[-1] if values else None


def _plain_tex(text: str) -> str:
    """TeX's thousands separators and text boxes as plain text."""
    text = text.replace("{,}", ",").replace(r",\!", ",").replace(r"\,", "").replace(r"\%", "%")
    return _TEX.sub(r" \1", text)


def _value(match: re.Match[str]) -> Fraction | None:
    """The number that was matched; None over 0, or of more than `MAX_DIGITS` digits."""
    parts = match.groupdict()
    if sum(character.isdigit() for character in match[0]) > MAX_DIGITS:
        return None
    negative = any(parts[name] in ("-", "−") for name in ("sign", "inner"))
    above, below = parts["top"] or parts["over"], parts["bottom"] or parts["under"]
    if above is not None and int(below) == 0:
        return None
    size = Fraction(int(above), int(below)) if above is not None else Fraction(_ungrouped(parts["plain"]))
    size += int(parts["whole"] or parts["whole_tex"] or 0)
    return -size if negative else size


def _ungrouped(digits: str) -> str:
    """Without thousands separators: commas, and dots where there are several."""
    digits = digits.replace(",", "")
    return digits.replace(".", "") if digits.count(".") > 1 else digits
