"""Whether rows fail at start-up for a reason that is none of their settings', so that the rows after them would fail too."""

import re
from collections.abc import Sequence
from typing import Any

from bench.sweep.outcome import CRASHED, OK, TIMED_OUT, was_killed
from bench.sweep.take import Ending

# What differs from one start to the next: addresses, identifiers, numbers.
_CHANGING = re.compile(r"0x[0-9a-fA-F]+|\b(?=[a-f]*\d)[0-9a-f]{8,}\b|\d+")
UNSET = object()


def failed_starting(row: dict[str, Any], ending: Ending) -> bool:
    """Whether a row ended before its first timed step, and not by what its own setting asks for: memory, or one that the server refuses.

    A row that timed out counts where its model never was ready: a ready one may be as slow as its setting makes it.
    """
    if row["native_times"] or row["custom_2pass_times"] or was_killed(ending):
        return False
    return row["status"] == CRASHED or (row["status"] == TIMED_OUT and row["ready_s"] is None)


def alike(first: dict[str, Any], second: dict[str, Any], rows: Sequence[dict[str, Any]]) -> bool:
    """Whether two rows that failed starting did so for one reason that the settings of `rows`, all there are, do not explain.

    They do where both have a value that none of the rows that went well has.
    """
    if _bare(first["reason"]) != _bare(second["reason"]) or first["backend_config"] == second["backend_config"]:
        return False
    good = [row["backend_config"] for row in rows if row["status"] == OK]
    return not (good and _share_what_is_new(first["backend_config"], second["backend_config"], good))


def _share_what_is_new(first: dict[str, Any], second: dict[str, Any], good: Sequence[dict[str, Any]]) -> bool:
    values = {name: first.get(name, UNSET) for name in {*first, *second} if first.get(name, UNSET) == second.get(name, UNSET)}
    values |= {name: UNSET for config in good for name in config if name not in first and name not in second}
    return any(all(config.get(name, UNSET) != value for config in good) for name, value in values.items())


def _bare(reason: str | None) -> str:
    return _CHANGING.sub("", reason or "")
