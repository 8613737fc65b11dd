"""Typed reading of a JSON object that anyone may have written or edited: a value of another type is named, never met as a traceback."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from bench.errors import InputError

# Past any time, count or rate of a training step; keeps every number that is worked out from these finite.
LARGEST = 1e15
LONGEST_TEXT = 2_000


@dataclass(frozen=True)
class JsonObject:
    """One object of a file and where in the file it stands. Getters give None (or nothing) for a key that is missing or null.

    All of them raise InputError where the value has another type, is not finite or is out of range.
    """

    file: str
    where: str
    values: dict[str, Any]

    def fail(self, key: str, expected: str) -> NoReturn:
        raise InputError(
            f"{self.file}: {self.where}{key} is {shown(self.values.get(key))}, not {expected}: it is no result that a run wrote."
        )

    def text(self, key: str) -> str | None:
        """A text, on one line."""
        value = self.values.get(key)
        if value is None:
            return None
        return one_line(value) if isinstance(value, str) else self.fail(key, "a text")

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, each on one line."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.fail(key, "a list of texts")
        return tuple(one_line(item) for item in value)

    def choice(self, key: str, allowed: Sequence[str]) -> str | None:
        """A text that is one of those allowed."""
        value = self.text(key)
        return value if value is None or value in allowed else self.fail(key, " or ".join(allowed))

    def flag(self, key: str) -> bool | None:
        value = self.values.get(key)
        return value if value is None or isinstance(value, bool) else self.fail(key, "true or false")

    def whole(self, key: str) -> int | None:
        """A count: a whole number from 0."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
            self.fail(key, "a whole number from 0")
        return value

    def number(self, key: str, low: float = -LARGEST, high: float = LARGEST) -> float | None:
        """A number within [low, high]."""
        value = self.values.get(key)
        return None if value is None else self._within(key, value, low, high)

    def numbers(self, key: str, low: float = -LARGEST, high: float = LARGEST) -> tuple[float, ...]:
        """A list of numbers within [low, high]."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.fail(key, "a list of numbers")
        return tuple(self._within(f"{key}[{index}]", item, low, high) for index, item in enumerate(value))

    def named_numbers(self, key: str) -> dict[str, float]:
        """An object of numbers, those that are null left out."""
        inner = self.object(key)
        return {one_line(name): inner._within(name, value, -LARGEST, LARGEST) for name, value in inner.values.items() if value is not None}

    def object(self, key: str) -> "JsonObject":
        """The object under a key, an empty one where there is none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, dict):
            self.fail(key, "an object")
        return JsonObject(self.file, f"{self.where}{one_line(key)}.", value or {})

    def objects(self, key: str) -> tuple["JsonObject", ...]:
        """The objects of a list."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fail(key, "a list of objects")
        return tuple(JsonObject(self.file, f"{self.where}{key}[{index}].", item) for index, item in enumerate(value))

    def _within(self, key: str, value: Any, low: float, high: float) -> float:
        # Compared before it is converted: an integer of hundreds of digits is no float at all.
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            where = f"{self.where}{one_line(key)}"
            raise InputError(
                f"{self.file}: {where} is {shown(value)}, not a number from {low:g} to {high:g}: it is no result that a run wrote."
            )
        return float(value)


def shown(value: Any) -> str:
    """A JSON value as it may stand in a message: on one line and short."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def one_line(text: str) -> str:
    """The text of bounded length with each run of white space, control or unpaired surrogate characters as one space."""
    return " ".join("".join(char if char.isprintable() else " " for char in text[:LONGEST_TEXT]).split())


def printable(text: str) -> str:
    """The text with its line breaks, and every other control or unpaired surrogate character as a space."""
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)
