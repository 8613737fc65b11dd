"""Reading and writing files so that nothing is half written and nothing unreadable gets past the reader."""

import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from bench import image
from bench.errors import InputError


def write_json(path: Path, document: Any, indent: int | None = 2) -> None:
    """Writes `document` to `path` whole or not at all, readable by all. NaN and infinities are refused: a caller turns them into null.

    Raises:
        InputError: the folder cannot be made or written to, or the disk is full.
    """
    write_text(path, json.dumps(document, indent=indent, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Writes `text` to `path` whole or not at all, readable by all.

    Raises:
        InputError: as `write_json`.
    """
    try:
        # A file is replaced whole, which a device, a pipe or a folder must not suffer.
        if path.exists() and not path.is_file():
            raise InputError(f"cannot write {path}: it is not a regular file.")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}.\n{_how_to_mend(path.parent)}") from error


def check_writable(folder: Path) -> None:
    """Fails before a run, not after it, when results could not be written.

    Raises:
        InputError: with the folder, its owner, who we are, and what to type.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}.\n{_how_to_mend(folder)}") from error


def read_json(path: Path, max_bytes: int, what: str) -> Any:
    """Reads a JSON file of bounded size.

    Raises:
        InputError: it is missing, unreadable, no regular file, too large, not UTF-8 or not JSON (NaN and infinities included).
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"cannot read the {what} {path}: it is not a regular file.")
        if found.st_size > max_bytes:
            raise InputError(f"{path} has {found.st_size:,} bytes; a {what} has at most {max_bytes:,}.")
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except OSError as error:
        there = image.mounted(path)
        hint = f"\nIn the image results/ is {image.RESULTS}: give {there}." if there else ""
        raise InputError(f"cannot read the {what} {path}: {error.strerror}.{hint}") from error
    except RecursionError as error:
        raise InputError(f"{path} is not a {what}: it is nested too deeply.") from error
    except ValueError as error:
        raise InputError(f"{path} is not a {what}: {_first_line(error)}.") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}, which JSON does not know")


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]


def _how_to_mend(folder: Path) -> str:
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    try:
        found, read_only = existing.stat(), bool(os.statvfs(existing).f_flag & os.ST_RDONLY)
    except OSError:
        return "Check the disk that holds it."
    if read_only:
        return "That file system is read-only: name a folder that can be written to (in a container of this project: /results)."
    owner, group = found.st_uid, found.st_gid
    if owner != os.getuid():
        return (
            f"{existing} belongs to uid {owner} and this runs as uid {os.getuid()}: chown it, name another folder, or run as its owner "
            f"(containers of this project: BENCH_UID={owner} BENCH_GID={group})."
        )
    return f"{existing} belongs to uid {owner}, which this runs as: make it writable, free space on its disk, or name another folder."
