"""A learning run's folder: run.json says what it is, metrics.jsonl has a line a step, checkpoint.json says where it can go on."""

import json
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bench import image, results
from bench.errors import InputError
from bench.files import read_json, write_json, write_text
from bench.json_object import shown
from bench.learn.metrics import Row

SCHEMA = 1
KIND = "gspo-bench-learn"
LAST = "last_learn.json"
MAX_BYTES = 64 * 1024 * 1024
LONGEST_S = 1e12


@dataclass(frozen=True)
class Checkpoint:
    """The state on the server from which step `next_step` follows, after `elapsed_s` seconds of work."""

    next_step: int
    state: str
    elapsed_s: float


@dataclass(frozen=True)
class RunFolder:
    """The files of one run. All are whole at any moment but for the last line of metrics.jsonl, which a crash may tear."""

    path: Path

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    def write_run(self, document: dict[str, Any]) -> None:
        write_json(self.path / "run.json", document)

    def read_run(self) -> dict[str, Any]:
        """Raises InputError: it is missing, or the record of something else."""
        path = self.path / "run.json"
        document = read_json(path, MAX_BYTES, "run's record")
        if not isinstance(document, dict) or document.get("kind") != KIND:
            raise InputError(f"{path} is not the record of a learning run: give the folder that bench learn made.")
        if document.get("schema") != SCHEMA:
            raise InputError(f"{path} has schema {shown(document.get('schema'))}; this version reads {SCHEMA}.")
        return document

    def append(self, row: Row) -> None:
        """Adds a row; it is on the disk when this returns.

        Raises:
            InputError: it cannot be written.
        """
        try:
            with self.metrics.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, allow_nan=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(
                f"cannot write {self.metrics}: {error.strerror}. Free space on its disk, then go on with {image.learn_on()}."
            ) from error

    def rows(self) -> list[dict[str, Any]]:
        """All whole rows, in order; a torn last line is left out.

        Raises:
            InputError: any other line is no object with a `step`.
        """
        if not self.metrics.exists():
            return []
        try:
            if (size := self.metrics.stat().st_size) > MAX_BYTES:
                raise InputError(f"{self.metrics} has {size:,} bytes; a run's metrics have at most {MAX_BYTES:,}.")
            lines = self.metrics.read_bytes().split(b"\n")
        except OSError as error:
            raise InputError(f"cannot read {self.metrics}: {error.strerror}.") from error
        # What follows the last line end was never finished.
        return [self._row(line, number) for number, line in enumerate(lines[:-1], start=1)]

    def _row(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            row = json.loads(line)
            json.dumps(row, allow_nan=False)  # it is written again: NaN and what reads as infinite is no number there
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or type(row.get("step")) is not int:
            raise InputError(f"{self.metrics}, line {number}: no row with a step; the file was changed and the run cannot be resumed.")
        return row

    def cut(self, next_step: int) -> list[dict[str, Any]]:
        """Keeps the rows before `next_step` and returns them.

        Raises:
            InputError: they are not the steps 0, 1, ... one by one.
        """
        rows = [row for row in self.rows() if row["step"] < next_step]
        if len(rows) != next_step or any(row["step"] != step for step, row in enumerate(rows)):
            raise InputError(f"{self.metrics} does not hold steps 0 to {next_step - 1} one by one: the run cannot be resumed.")
        write_text(self.metrics, "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows))
        return rows

    def write_checkpoint(self, checkpoint: Checkpoint) -> None:
        write_json(self.path / "checkpoint.json", {"schema": SCHEMA, **checkpoint.__dict__})

    def read_checkpoint(self) -> Checkpoint | None:
        """The last checkpoint; None where none was reached.

        Raises:
            InputError: the file was changed.
        """
        path = self.path / "checkpoint.json"
        if not path.exists():
            return None
        found = read_json(path, MAX_BYTES, "checkpoint's record")
        entry = found if isinstance(found, dict) else {}
        step, state, elapsed_s = (entry.get(name) for name in ("next_step", "state", "elapsed_s"))
        # Compared before it is converted: an integer of hundreds of digits is no float at all.
        told = isinstance(elapsed_s, int | float) and not isinstance(elapsed_s, bool) and 0 <= elapsed_s <= LONGEST_S
        if type(step) is not int or step < 0 or not isinstance(state, str) or not told:
            raise InputError(f"{path} was changed: it needs next_step, state and elapsed_s. Without it the run starts anew.")
        return Checkpoint(step, state, float(elapsed_s or 0.0))


def new_folder(parent: Path, created_at: datetime, model: str, path_name: str) -> RunFolder:
    """A new folder under `parent`/runs, and `parent`'s pointer to the newest run set to it.

    Raises:
        InputError: it cannot be made.
    """
    name = results.run_name(created_at, f"learn-{results.short_name(model)}", None).removesuffix("-unknown.json")
    for count in range(1000):
        folder = parent / "runs" / (f"{name}-{path_name}" + (f"-{count}" if count else ""))
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise InputError(f"cannot make {folder}: {error.strerror}.") from error
        point_to(parent, folder)
        return RunFolder(folder)
    raise InputError(f"{parent / 'runs'} holds a thousand runs of this second: name another folder with --results.")


def point_to(parent: Path, folder: Path) -> None:
    """Sets `parent`'s pointer to the newest run."""
    write_json(parent / LAST, {"schema": SCHEMA, "kind": KIND, "run": folder.relative_to(parent).as_posix()})


def find(parent: Path, given: str) -> RunFolder:
    """The run that `--resume` names: "last", or a folder, by its path or below `parent`.

    Raises:
        InputError: there is none.
    """
    if given != "last":
        places = [Path(given), parent / given, parent / "runs" / given]
        found = next((place for place in places if (place / "run.json").is_file()), None)
        if found is None:
            raise InputError(f"there is no run {given}: give a folder with a run.json, such as one of {parent / 'runs'}.")
        return RunFolder(found)
    pointer = parent / LAST
    if not pointer.exists():
        raise InputError(f"there is no run to resume: {pointer} is not there.\nStart one without --resume, or name it: --resume FOLDER.")
    document = read_json(pointer, MAX_BYTES, "pointer to the last run")
    run = document.get("run") if isinstance(document, dict) else None
    if not isinstance(run, str):
        raise InputError(f"{pointer} names no run: name it with --resume FOLDER.")
    return RunFolder(parent / run)
