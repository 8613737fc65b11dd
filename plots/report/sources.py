"""What a page is made from: the files of a results folder, or one file."""

from dataclasses import dataclass, replace
from pathlib import Path

from plots import learning_run, scaling_file, sweep_file
from plots.checked import Section, read_object
from plots.errors import NothingToDraw, PlotInputError
from plots.learning_run import LearningRun, read_runs
from plots.repeat_file import KIND as REPEAT
from plots.repeat_file import Repeat, read_repeat
from plots.results import Result, read_result
from plots.scaling_file import Scaling, read_scaling
from plots.sweep_file import Sweep, read_sweep

RESULT_FILE, SWEEP_FILE, LEARN_FILE, REPEAT_FILE = "last_gspo_bench.json", "last_sweep.json", "last_learn.json", "last_repeat.json"
SCALE_FILE = "last_scale.json"
FILES = (RESULT_FILE, SWEEP_FILE, LEARN_FILE, REPEAT_FILE, SCALE_FILE)


@dataclass(frozen=True)
class Sources:
    """What was read; None or empty for what is not there. Those named `root` are a file as it is, of a learning run its record.

    wrong: what cannot be read, in words.
    """

    result: Result | None = None
    result_root: Section | None = None
    sweep: Sweep | None = None
    sweep_root: Section | None = None
    runs: tuple[LearningRun, ...] = ()
    run_root: Section | None = None
    repeat: Repeat | None = None
    scaling: Scaling | None = None
    scaling_root: Section | None = None
    wrong: tuple[str, ...] = ()


def of_folder(folder: Path) -> Sources:
    """Read all that a results folder has; a file that cannot be read is left out and named. Raises PlotInputError where none can."""
    wrong: list[str] = []
    read = Sources()
    for name, reader in zip(FILES, (_result, _sweep, _learn, _repeat, _scaling), strict=True):
        path = folder / name
        if not path.exists():
            continue
        try:
            read = reader(path, read)
        except NothingToDraw:
            continue  # a learning run before its first step
        except PlotInputError as error:
            wrong.append(str(error))
    if wrong and read == Sources():
        raise PlotInputError(wrong[0])
    return replace(read, wrong=tuple(wrong))


def _result(path: Path, read: Sources) -> Sources:
    return replace(read, result=read_result(path), result_root=read_object(path))


def _sweep(path: Path, read: Sources) -> Sources:
    return replace(read, sweep=read_sweep(path), sweep_root=read_object(path))


def _learn(path: Path, read: Sources) -> Sources:
    return replace(read, runs=read_runs(path), run_root=_record(path))


def _repeat(path: Path, read: Sources) -> Sources:
    return replace(read, repeat=read_repeat(path))


def _scaling(path: Path, read: Sources) -> Sources:
    return replace(read, scaling=read_scaling(path), scaling_root=read_object(path))


def of_file(file: Path) -> Sources:
    """Read one file of whichever kind, or a learning run's folder; raises PlotInputError."""
    if file.is_dir() or file.suffix == ".jsonl":
        return _learn(file, Sources())
    readers = {sweep_file.KIND: _sweep, learning_run.KIND: _learn, REPEAT: _repeat, scaling_file.KIND: _scaling}
    return readers.get(read_object(file).text("kind") or "", _result)(file, Sources())


def _record(path: Path) -> Section | None:
    """Read the record of the run that a last_learn.json names, or whose folder or file this is; None where it has none."""
    folder = learning_run.named_run(path) or (path if path.is_dir() else path.parent)
    record = folder / learning_run.RECORD
    return read_object(record) if record.is_file() else None
