"""Reading files with one JSON object a line, such as GSM8K's."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.errors import InputError

MAX_FILE_BYTES = 64 * 1024 * 1024


def read_objects(path: Path, what: str, hint: str) -> Iterator[tuple[str, Any]]:
    """Each line's value, in order, with where it stands for messages; blank lines are skipped. `hint` says what to give instead.

    Raises:
        InputError: an unreadable or too large file, or a line that is no JSON (named).
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"cannot read the {what} {path}: it is not a regular file. {hint}")
        if found.st_size > MAX_FILE_BYTES:
            raise InputError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes; a {what} has one JSON object a line.")
        # Not splitlines(): JSON strings may hold U+2028 and its like. Some editors put a byte order mark first.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"cannot read the {what} {path}: {error.strerror}. {hint}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: not JSON ({str(error).splitlines()[0]}).") from error
        yield where, value


def text_of(value: Any, key: str) -> str | None:
    """The text under `key` of an object; None where it is missing, blank, or no text that a tokenizer takes."""
    text = value.get(key) if isinstance(value, dict) else None
    return text if isinstance(text, str) and text.strip() and _is_text(text) else None


def _is_text(text: str) -> bool:
    """JSON can spell half of a surrogate pair, which no tokenizer takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
