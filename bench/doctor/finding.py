"""What a check says."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """One line of the report. A `fail` stops `make bench`, a `warn` may; `action` is what to type or do, one step a line."""

    name: str
    status: Status
    seen: str
    action: str = ""


def ok(name: str, seen: str) -> Finding:
    return Finding(name, "ok", seen)


def warn(name: str, seen: str, action: str) -> Finding:
    return Finding(name, "warn", seen, action)


def fail(name: str, seen: str, action: str) -> Finding:
    return Finding(name, "fail", seen, action)
