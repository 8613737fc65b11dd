"""The command line's errors, one or two lines without the usage above them, and the types of its values."""

import argparse
import reprlib
from collections.abc import Callable
from typing import NoReturn

LONGEST = 400  # of an error, which quotes what was given


class Parser(argparse.ArgumentParser):
    """argparse's own, with short errors."""

    def error(self, message: str) -> NoReturn:
        text = " ".join(message.split())
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
        self.exit(2, f"error: {text.rstrip('.')}.\nSee {self.prog} --help.\n")


def whole(low: int, high: int | None = None, otherwise: str = "") -> Callable[[str], int]:
    """A type for add_argument: whole numbers from `low` to `high`; `otherwise` says what else may be given."""
    limits = f"{low}" if high is None else f"{low} to {high}"

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:  # also: thousands of digits
            number = low - 1
        if number < low or (high is not None and number > high):
            raise argparse.ArgumentTypeError(f"{reprlib.repr(text)} is none: give a whole number from {limits}{otherwise}")
        return number

    return convert
