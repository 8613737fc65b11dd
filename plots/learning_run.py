"""A learning run's folder, or its metrics file alone, as the pictures need it."""

from dataclasses import dataclass
from pathlib import Path

from plots.checked import Section, first, read_object, read_objects
from plots.errors import NothingToDraw, PlotInputError
from plots.machine import Machine, read_machine

KIND = "gspo-bench-learn"
NEWEST_SCHEMA = 1
RECORD, METRICS = "run.json", "metrics.jsonl"


@dataclass(frozen=True)
class Point:
    """One step; None where the metrics do not tell.

    elapsed_s: of work since the run began; correct and held_out: shares from 0 to 1, the latter of `held_out_count` problems.
    """

    step: int
    elapsed_s: float | None
    correct: float | None
    held_out: float | None
    held_out_count: int | None


@dataclass(frozen=True)
class LearningRun:
    """One run: what it was, as its own record says (None or empty where it does not), and its steps in order.

    clip: the ratios between which a sequence counts, both or neither; resumed: the step that each resumption began with.
    """

    folder: str
    status: str | None
    reason: str | None
    created_at: str | None
    model: str | None
    weights: str | None
    task: str | None
    path: str | None
    loss: str | None
    clip: tuple[float, float] | None
    seed: int | None
    groups: int | None
    group_size: int | None
    updates_per_batch: int | None
    learning_rate: float | None
    steps: int | None
    resumed: tuple[int, ...]
    machine: Machine
    points: tuple[Point, ...]

    @property
    def taken(self) -> int:
        """How many training steps the points are of: a test is none."""
        return sum(point.correct is not None for point in self.points)


def read_runs(*paths: Path) -> tuple[LearningRun, ...]:
    """Read runs by their folders, records or metrics files, or by results/last_learn.json; raises PlotInputError."""
    return tuple(read_run(named_run(path) or path) for path in paths)


def named_run(path: Path) -> Path | None:
    """Return the folder that a last_learn.json names, or None where the path is something else; raises PlotInputError."""
    if path.suffix != ".json" or path.name == RECORD:
        return None
    root = read_object(path)
    root.choice("kind", [KIND])
    run = root.text("run")
    if not run:
        root.fail("run", "the folder of a run")
    if Path(run).is_absolute() or ".." in Path(run).parts:
        root.fail("run", "a folder below this file's own")
    return path.parent / run


def read_run(path: Path) -> LearningRun:
    """Read a run's folder, its run.json, or a metrics file with or without a run.json beside it; raises PlotInputError."""
    if path.is_dir():
        folder, metrics = path, path / METRICS
    else:
        folder, metrics = path.parent, path if path.suffix == ".jsonl" else path.with_name(METRICS)
    record = folder / RECORD
    has_record = record.is_file() and metrics.name == METRICS
    root = read_object(record) if has_record else Section(str(metrics), "", {})
    root.choice("kind", [KIND])
    if (schema := root.whole("schema") or 1) > NEWEST_SCHEMA:
        raise PlotInputError(f"{root.file} has schema {schema}, this program reads up to {NEWEST_SCHEMA}; draw it with a newer gspo-bench")
    # The test after the last step stands in the record, for it is no step.
    points = _points((*read_objects(metrics), root.section("final")))
    if not any(point.correct is not None or point.held_out is not None for point in points):
        raise NothingToDraw(f"{metrics.parent.name}/{metrics.name} has no step with env/all/correct yet")
    loss = root.section("loss")
    low, high = (loss.number(key, 0) for key in ("clip_low_threshold", "clip_high_threshold"))
    resumed = (made.whole("next_step") for made in root.sections("resumed"))
    return LearningRun(
        folder=folder.resolve().name if has_record else path.name,
        status=root.choice("status", ["running", "complete", "partial"]),
        reason=root.text("reason"),
        created_at=root.text("created_at"),
        model=root.text("model"),
        weights=root.text("weights"),
        task=root.text("task"),
        path=root.text("path"),
        loss=loss.text("name"),
        clip=None if low is None or high is None else (low, high),
        seed=root.whole("seed"),
        groups=root.whole("groups"),
        group_size=root.whole("group_size"),
        updates_per_batch=root.whole("updates_per_batch"),
        learning_rate=root.number("learning_rate", 0),
        steps=root.whole("steps"),
        resumed=tuple(step for step in resumed if step is not None),
        machine=read_machine(root.section("environment").section("server")),
        points=points,
    )


def _points(lines: tuple[Section, ...]) -> tuple[Point, ...]:
    """Return the steps in order, each once: a later line of the same step goes before an earlier one."""
    by_step: dict[int, Point] = {}
    total_s = 0.0
    for line in lines:
        step = line.whole("step")
        if step is None:
            continue
        total_s += line.number("time/total", 0) or 0.0
        elapsed_s = line.number("time/elapsed", 0)
        if elapsed_s is None and "time/total" in line.values:
            elapsed_s = total_s
        known = by_step.get(step, Point(step, None, None, None, None))
        by_step[step] = Point(
            step=step,
            elapsed_s=first(elapsed_s, known.elapsed_s),
            correct=first(line.number("env/all/correct", 0, 1), known.correct),
            held_out=first(line.number("test/env/all/correct", 0, 1), known.held_out),
            held_out_count=first(line.whole("test/env/all/count"), known.held_out_count),
        )
    return tuple(by_step[step] for step in sorted(by_step))
