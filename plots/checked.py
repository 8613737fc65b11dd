"""Typed reading of JSON that anyone may have written or edited."""

import contextlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Never

from plots.errors import PlotInputError

LARGEST_FILE_BYTES = 64 * 2**20
LARGEST_NUMBER = 1e15  # past any time, count or rate of a training step; keeps every derived number finite
LONGEST_TEXT = 2000  # characters kept of a text; pictures shorten further


@dataclass(frozen=True)
class Section:
    """One JSON object of a file, and where in the file it stands.

    Every getter returns None (or an empty value) where the key is missing or null, and raises PlotInputError
    where the value is of another type, not finite, or out of its range.
    """

    file: str
    where: str
    values: dict[str, Any]

    def __bool__(self) -> bool:
        return bool(self.values)

    def fail(self, key: str, expected: str) -> Never:
        """Raise PlotInputError that names the key, its value and what was expected."""
        value = shown(self.values.get(key))
        raise PlotInputError(f"{self.file}: {self.where}{one_line(key)} is {value}, expected {expected}; mend it, or run again")

    def text(self, key: str) -> str | None:
        """Return a text on one line, without characters that cannot be drawn."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self.fail(key, "a text")
        return one_line(value)

    def choice(self, key: str, allowed: Sequence[str]) -> str | None:
        """Return a text that is one of those allowed."""
        value = self.text(key)
        if value is not None and value not in allowed:
            self.fail(key, " or ".join(allowed))
        return value

    def flag(self, key: str) -> bool | None:
        """Return true or false."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            self.fail(key, "true or false")
        return value

    def number(self, key: str, low: float = -LARGEST_NUMBER, high: float = LARGEST_NUMBER) -> float | None:
        """Return a finite number within [low, high]."""
        value = self.values.get(key)
        return None if value is None else self._within(key, value, low, high)

    def whole(self, key: str) -> int | None:
        """Return a count: a whole number from 0."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_NUMBER:
            self.fail(key, "a whole number from 0")
        return value

    def numbers(self, key: str, low: float, high: float) -> tuple[float, ...]:
        """Return a list of finite numbers within [low, high], empty where there is none."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.fail(key, "a list of numbers")
        return tuple(self._within(key, item, low, high) for item in value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, each on one line; empty where there is none."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.fail(key, "a list of texts")
        return tuple(one_line(item) for item in value)

    def section(self, key: str) -> "Section":
        """Return the object under a key; an empty section where there is none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, dict):
            self.fail(key, "an object")
        return Section(self.file, f"{self.where}{one_line(key)}.", value or {})

    def sections(self, key: str) -> tuple["Section", ...]:
        """Return the objects of a list, empty where there is none."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fail(key, "a list of objects")
        return tuple(Section(self.file, f"{self.where}{key}[{i}].", item) for i, item in enumerate(value))

    def _within(self, key: str, value: Any, low: float, high: float) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            where = f"{self.where}{one_line(key)}"
            raise PlotInputError(
                f"{self.file}: {where} holds {shown(value)}, expected a number from {low:g} to {high:g}; mend it, or run again"
            )
        return float(value)


def read_object(path: Path) -> Section:
    """Read a file that holds one JSON object; raises PlotInputError for anything else."""
    name = one_line(str(path))
    return _object(name, "", _content(path, name))


def read_objects(path: Path) -> tuple[Section, ...]:
    """Read a file that holds one JSON object a line; a last line without its end, as a killed run leaves it, is left out."""
    name = one_line(str(path))
    *lines, last = _content(path, name).split(b"\n")
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    found = [_object(name, f"line {number}: ", line) for number, line in numbered]
    if last.strip():
        with contextlib.suppress(PlotInputError):  # torn
            found.append(_object(name, f"line {len(lines) + 1}: ", last))
    return tuple(found)


def _content(path: Path, name: str) -> bytes:
    try:
        if not path.is_file():
            what = "is not a regular file" if path.exists() else "does not exist"
            raise PlotInputError(f"{name} {what}; give a result file that the benchmark wrote")
        size = path.stat().st_size
        if size > LARGEST_FILE_BYTES:
            raise PlotInputError(f"{name} has {size:,} bytes, no result file has more than {LARGEST_FILE_BYTES:,}")
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = getattr(error, "strerror", None) or str(error)
        raise PlotInputError(f"{name} cannot be read ({reason}); check its owner and permissions") from None


def _object(name: str, where: str, content: bytes) -> Section:
    stands = f"{name}: {where.rstrip(': ')}" if where else name
    try:
        value = json.loads(content.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:  # also: not UTF-8, NaN, too many digits, nested too deep
        reason = "nested too deep" if isinstance(error, RecursionError) else one_line(str(error))[:150]
        raise PlotInputError(f"{stands} is not JSON ({reason}); give a result file, or run the benchmark again") from None
    if not isinstance(value, dict):
        raise PlotInputError(f"{stands} holds {shown(value)}, not an object; give a result file that the benchmark wrote")
    return Section(name, where, value)


def shown(value: Any) -> str:
    """Return a JSON value as it may stand in a message: on one line and short."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, float) and not math.isfinite(value):
        return "infinite"
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def one_line(text: str) -> str:
    """Return the text with every run of white space, control or unpaired surrogate characters as one space."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:LONGEST_TEXT]).split())


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not a number")


def first[T](*values: T | None) -> T | None:
    """Return the first value that is there."""
    return next((value for value in values if value is not None), None)
