"""What a page is made from: the files of a results folder, or one file."""

from dataclasses import dataclass
from pathlib import Path

from plots import learning_run, sweep_file
from plots.checked import Section, read_object
from plots.errors import NothingToDraw
from plots.learning_run import LearningRun, read_runs
from plots.repeat_file import KIND as REPEAT
from plots.repeat_file import Repeat, read_repeat
from plots.results import Result, read_result
from plots.sweep_file import Sweep, read_sweep

RESULT_FILE, SWEEP_FILE, LEARN_FILE, REPEAT_FILE = "last_gspo_bench.json", "last_sweep.json", "last_learn.json", "last_repeat.json"
FILES = (RESULT_FILE, SWEEP_FILE, LEARN_FILE, REPEAT_FILE)


@dataclass(frozen=True)
class Sources:
    """What was read; None or empty for what is not there. Those named `root` are a file as it is, of a learning run its record."""

    result: Result | None = None
    result_root: Section | None = None
    sweep: Sweep | None = None
    sweep_root: Section | None = None
    runs: tuple[LearningRun, ...] = ()
    run_root: Section | None = None
    repeat: Repeat | None = None


def of_folder(folder: Path) -> Sources:
    """Read all that a results folder has; raises PlotInputError."""
    result, sweep, learn, repeat = (path if (path := folder / name).exists() else None for name in FILES)
    return Sources(
        result=read_result(result) if result else None,
        result_root=read_object(result) if result else None,
        sweep=read_sweep(sweep) if sweep else None,
        sweep_root=read_object(sweep) if sweep else None,
        runs=_begun(learn) if learn else (),
        run_root=_record(learn) if learn else None,
        repeat=read_repeat(repeat) if repeat else None,
    )


def of_file(file: Path) -> Sources:
    """Read one file of whichever kind, or a learning run's folder; raises PlotInputError."""
    if file.is_dir() or file.suffix == ".jsonl":
        return Sources(runs=read_runs(file), run_root=_record(file))
    root = read_object(file)
    kind = root.text("kind")
    if kind == sweep_file.KIND:
        return Sources(sweep=read_sweep(file), sweep_root=root)
    if kind == learning_run.KIND:
        return Sources(runs=read_runs(file), run_root=_record(file))
    if kind == REPEAT:
        return Sources(repeat=read_repeat(file))
    return Sources(result=read_result(file), result_root=root)


def _begun(learn: Path) -> tuple[LearningRun, ...]:
    """Read the newest learning run; none where it has no step yet."""
    try:
        return read_runs(learn)
    except NothingToDraw:
        return ()


def _record(path: Path) -> Section | None:
    """Read the record of the run that a last_learn.json names, or whose folder or file this is; None where it has none."""
    folder = learning_run.named_run(path) or (path if path.is_dir() else path.parent)
    record = folder / learning_run.RECORD
    return read_object(record) if record.is_file() else None
