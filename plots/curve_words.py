"""What the picture of learning runs says in words: all of it from the runs' own records."""

from collections.abc import Callable, Sequence

from plots import words
from plots.learning_run import LearningRun
from plots.numbers import clipped, day_and_time, percent, plural
from plots.smoothing import FEWEST_STEPS, smoothed, window
from plots.weights import WEIGHTS

TASKS = {"gsm8k": "GSM8K", "arithmetic": "arithmetic problems"}
PATHS = {"native_1pass": "fused GSPO", "custom_2pass": "GSPO by two passes"}


ENDS_HEADING = f"accuracy in training, mean of the first two steps to mean of the last two (fewer than {FEWEST_STEPS} steps: first to last)"


def title(runs: Sequence[LearningRun]) -> str:
    """Say how far the run got, or of several how far each, in a dozen words."""
    if len(runs) > 1:
        return f"{plural(len(runs), 'learning run')}{_common_task(runs)}"
    (run,) = runs
    who = clipped(run.model.rstrip("/").rsplit("/", 1)[-1], 40) if run.model else None
    loss = PATHS.get(run.path or "") if run.loss in (None, "gspo") else run.loss
    what = ", ".join(part for part in (who, task(run) if run.task else None, clipped(loss, 40) if loss else None) if part)
    return f"{what or 'Accuracy'}: {_climb(run)}"


def partial(runs: Sequence[LearningRun]) -> str | None:
    """Say which runs did not finish, and why."""
    told = []
    for run in runs:
        if run.status in (None, "complete"):
            continue
        name = f"{clipped(run.folder, 60)}: " if len(runs) > 1 else ""
        taken = f"{run.taken:,} of {plural(run.steps, 'step')}" if run.steps else plural(run.taken, "step")
        if run.status == "running":
            told.append(f"{name}{taken}, still running or killed")
        else:
            told.append(f"{name}PARTIAL RUN after {taken}" + (f": {clipped(run.reason, 150)}" if run.reason else ""))
    return "; ".join(told) or None


def verdict(runs: Sequence[LearningRun], names: Sequence[str]) -> str | None:
    """Say what the held-out problems show; of several runs, what each reached."""
    if len(runs) > 1:
        told = "; ".join(f"{name}: {_end(run)}" for name, run in list(zip(names, runs, strict=True))[:4])
        return f"At the end: {told}{f'; and {len(runs) - 4} more' if len(runs) > 4 else ''}."
    points = [point for point in runs[0].points if point.held_out is not None]
    if not points:
        return None
    first, last = points[0], points[-1]
    of = f" of {plural(last.held_out_count, 'problem')}" if last.held_out_count else ""
    if first is last:
        return f"Held-out accuracy at step {last.step:,}: {percent(100 * (last.held_out or 0))}{of}."
    rise = 100 * ((last.held_out or 0) - (first.held_out or 0))
    return (
        f"Held-out accuracy{of}: {percent(100 * (first.held_out or 0))} at step {first.step:,}, {percent(100 * (last.held_out or 0))} "
        f"at step {last.step:,} ({abs(rise):.1f} points {'up' if rise >= 0 else 'down'})."
    )


def where(runs: Sequence[LearningRun]) -> list[str]:
    """Say what the runs have in common: two lines, those that the records can tell."""
    what = _same(
        runs,
        _model,
        lambda run: words.machine(run.machine) if run.status else None,
    )
    how = _same(
        runs,
        lambda run: f"{plural(run.groups, 'group')} of {run.group_size:,} a step" if run.groups and run.group_size else None,
        lambda run: f"{plural(run.updates_per_batch, 'update')} a batch" if run.updates_per_batch else None,
        lambda run: f"learning rate {run.learning_rate:g}" if run.learning_rate is not None else None,
        clip,
        lambda run: f"seed {run.seed}" if run.seed is not None else None,
    )
    return [words.SEPARATOR.join(parts) for parts in (what, how) if parts]


def _model(run: LearningRun) -> str | None:
    if not run.model:
        return None
    trained = WEIGHTS.get(run.weights, f"{clipped(run.weights, 30)} weights") if run.weights else None
    return ", ".join(part for part in (clipped(run.model, 90), trained) if part)


def names(runs: Sequence[LearningRun]) -> list[str]:
    """Return a name for each run: by what it differs in from the others, and where that is nothing, by its folder."""
    told: list[Callable[[LearningRun], str | None]] = [
        lambda run: clipped(run.model.rstrip("/").rsplit("/", 1)[-1], 30) if run.model else None,
        lambda run: task(run) if run.task else None,
        lambda run: PATHS.get(run.path or "", run.path),
        lambda run: f"{plural(run.groups, 'group')} of {run.group_size:,}" if run.groups and run.group_size else None,
        lambda run: plural(run.updates_per_batch, "update") + " a batch" if run.updates_per_batch else None,
        lambda run: f"learning rate {run.learning_rate:g}" if run.learning_rate is not None else None,
        clip,
        lambda run: f"seed {run.seed}" if run.seed is not None else None,
        resumed,
    ]
    differing = [tell for tell in told if len({tell(run) for run in runs}) > 1]
    made = [", ".join(part for tell in differing if (part := tell(run))) for run in runs]
    return [
        name if name and made.count(name) == 1 else ", ".join(filter(None, (name, clipped(run.folder, 50))))
        for name, run in zip(made, runs, strict=True)
    ]


def small_print(runs: Sequence[LearningRun], timed: bool) -> list[str]:
    """Say how to read the picture, and where it comes from."""
    windows = sorted({window(run) for run in runs})
    over = " to ".join(dict.fromkeys((f"{windows[0]:,}", f"{windows[-1]:,}")))
    lines = ["Accuracy: the share of a step's rollouts with the right answer."]
    if windows[-1] > 1:
        lines[0] += f" Thin: each step; thick: the mean over {over} steps around it, over fewer towards the ends and over two at each."
        lines[0] += " The accuracy above is the thick line's ends: the means of the first two steps and of the last two."
    elif any(run.taken > 1 for run in runs):
        lines[0] += " The accuracy above is of the first step and of the last."
    if any(point.held_out is not None for run in runs for point in run.points):
        lines[0] += " Diamonds: tests on held-out problems."
    if timed:
        apart = next((f" ({told})" for run in runs if (told := resumed(run))), "") if len(runs) == 1 else ""
        lines.append(f"Time of work: without what a run lay dead between being killed and resumed{apart}.")
    else:
        lines.append("The metrics have no times: no panel for them.")
    if any(run.status is None for run in runs):
        lines.append("No run.json beside the metrics: they do not tell what ran.")
    source = "; ".join(_source(run) for run in runs[:4]) + (f"; and {len(runs) - 4} more" if len(runs) > 4 else "")
    return [*lines, f"From {source}."]


def ends_of(run: LearningRun) -> tuple[float, float]:
    """Return the smoothed line's ends, from 0 to 1, as `small_print` says of them; of the held-out points where there is no other."""
    line = smoothed([point.correct for point in run.points if point.correct is not None], window(run))
    line = line or [point.held_out for point in run.points if point.held_out is not None]
    return line[0], line[-1]


def task(run: LearningRun) -> str:
    """Name the run's task."""
    return TASKS.get(run.task or "") or clipped(run.task or "", 30)


def clip(run: LearningRun) -> str | None:
    """Say between which ratios a sequence counts, where the record tells."""
    return f"clip {run.clip[0]:g} to {run.clip[1]:g}" if run.clip else None


def resumed(run: LearningRun) -> str | None:
    """Say at which steps the run was gone on with, at most three of them; None for a run of one piece."""
    if not run.resumed:
        return None
    shown = [f"{step:,}" for step in run.resumed[:3]]
    more = len(run.resumed) - len(shown)
    return f"resumed at {'step' if len(run.resumed) == 1 else 'steps'} {', '.join(shown)}" + (f" and {more:,} more" if more else "")


def _climb(run: LearningRun) -> str:
    first, last = ends_of(run)
    steps = plural(run.taken, "step")
    if run.taken <= 1:
        return f"{percent(100 * last)} after {steps}"
    return f"{percent(100 * first)} to {percent(100 * last)} in {steps}"


def _end(run: LearningRun) -> str:
    held_out = [point.held_out for point in run.points if point.held_out is not None]
    return percent(100 * ends_of(run)[1]) + (f" (held out {percent(100 * held_out[-1])})" if held_out else "")


def _common_task(runs: Sequence[LearningRun]) -> str:
    tasks = {task(run) for run in runs if run.task}
    return f" on {tasks.pop()}" if len(tasks) == 1 and all(run.task for run in runs) else ""


def _same(runs: Sequence[LearningRun], *tells: Callable[[LearningRun], str | None]) -> list[str]:
    """Return what every run tells alike."""
    found = [{tell(run) for run in runs} for tell in tells]
    return [told for values in found if len(values) == 1 and (told := values.pop())]


def _source(run: LearningRun) -> str:
    return clipped(run.folder, 80) + (f", begun {clipped(day_and_time(run.created_at), 40)}" if run.created_at else "")
