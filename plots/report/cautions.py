"""The run's warnings in plain words, each with what to do; those that speak against its numbers first."""

from collections.abc import Sequence
from dataclasses import dataclass

from plots.numbers import clipped, plural
from plots.results import Result

MOST = 20


@dataclass(frozen=True)
class Warned:
    """One warning as it stands on the page. `unstable`: it speaks against the numbers themselves."""

    code: str
    text: str
    action: str
    unstable: bool


def warned(result: Result) -> tuple[Warned, ...]:
    """Return the file's warnings."""
    ordered = sorted(result.cautions, key=lambda made: not made.unstable)
    found = [
        Warned(clipped(made.code, 40), _sentence(clipped(made.text, 400)), _sentence(clipped(made.action, 400)), made.unstable)
        for made in ordered[:MOST]
    ]
    if left := ordered[MOST:]:
        found.append(Warned("", f"{plural(len(left), 'more warning')} in the file.", "", left[0].unstable))
    return tuple(found)


def left_out(wrong: Sequence[str]) -> tuple[Warned, ...]:
    """Return a warning for each file that could not be read."""
    return tuple(Warned("", f"Not on this page: {clipped(text, 400)}.", "", False) for text in wrong)


def _sentence(text: str) -> str:
    text = text.rstrip(".")
    return text and f"{text[0].upper()}{text[1:]}."
