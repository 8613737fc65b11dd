"""Reading and writing files so that nothing is half written and nothing unreadable gets past the reader."""

import contextlib
import fcntl
import itertools
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
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


def write_new_json(path: Path, document: Any) -> Path:
    """The same to a file that was not there, for what no other may take the place of; returns its path.

    Where another has the name, -2, -3 ... stand behind it: two runs may begin in one second.

    Raises:
        InputError: as `write_json`.
    """
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    for count in itertools.count(1):
        own = path if count == 1 else path.with_name(f"{path.stem}-{count}{path.suffix}")
        with contextlib.suppress(_TakenError):
            _write(own, text, _claim)
            break
    return own


def write_text(path: Path, text: str) -> None:
    """Writes `text` to `path` whole or not at all, readable by all.

    Raises:
        InputError: as `write_json`.
    """
    _write(path, text, lambda temporary, path: temporary.replace(path))


def _claim(temporary: Path, path: Path) -> None:
    """Gives a file its name, or raises _TakenError where another has it."""
    try:
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            path.open("x").close()
            temporary.replace(path)
        else:
            temporary.unlink()
    except FileExistsError as error:
        raise _TakenError from error


class _TakenError(Exception):
    pass


def _write(path: Path, text: str, put: Callable[[Path, Path], object]) -> None:
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
            put(Path(temporary), path)
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


@contextlib.contextmanager
def alone_in(folder: Path, what: str) -> Iterator[None]:
    """Keeps a second one of `what` out of the folder, where both would write the same files. Who is killed leaves no lock behind.

    Raises:
        InputError: there is one.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(f"another {what} writes to {folder}.\nWait for its end, or name another folder with --results.") from None
        yield
    finally:
        os.close(handle)


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
