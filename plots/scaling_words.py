"""What the picture of a scaling run says in words."""

from plots.numbers import brief, clipped, day_and_time, percent, plural
from plots.scaling_file import Row, Scaling
from plots.sweep_words import STATUS
from plots.weights import WEIGHTS
from plots.words import BACKENDS, SEPARATOR, machine

PANELS = {"same": "The same batch", "grown": "A batch that grows with the {noun}s"}

KINDS = {"same": "same batch", "grown": "growing batch"}


def noun(scaling: Scaling) -> str:
    """Return what is counted: GPUs, or what XLA makes of a processor."""
    return "GPU" if scaling.on_gpus else "device"


def counted(scaling: Scaling, gpus: int) -> str:
    """Write a number of them: 1 GPU, 8 GPUs."""
    return plural(gpus, noun(scaling))


def title(scaling: Scaling) -> str:
    """Say what the most GPUs gain, with either batch."""
    found = {batch: [row for row in scaling.of(batch) if scaling.pace(row) is not None] for batch in PANELS}
    most = max((row.gpus for rows in found.values() for row in rows), default=0)
    first = scaling.reference
    if first is None or most == first.gpus:
        return f"The same step on {counted(scaling, max(row.gpus for row in scaling.rows))}: nothing to compare yet"
    paces = {batch: next((scaling.pace(row) for row in rows if row.gpus == most), None) for batch, rows in found.items()}
    than = counted(scaling, first.gpus)
    told = [f"{brief(pace)} times as fast as {than}" for pace in (paces["same"],) if pace is not None]
    told += [f"{brief(pace)} times with a batch that grows" for pace in (paces["grown"],) if pace is not None]
    return f"{counted(scaling, most)}: {', '.join(told)}"


def hint(scaling: Scaling) -> str:
    """Say what the bars count."""
    if scaling.reference is None:
        return ""
    return f"tokens a second by the median step, {counted(scaling, scaling.reference.gpus)} = 1 \N{MULTIPLICATION SIGN}"


def verdict(scaling: Scaling) -> str | None:
    """Say what is left of each GPU, and what the fused path saves there; on a CPU, what this does not show."""
    if not scaling.on_gpus:
        return "These devices are XLA's, all of one processor: they show that data-parallel training works here, not how GPUs scale."
    if scaling.reference is None:
        return None
    told: list[str] = []
    most = max(row.gpus for row in scaling.rows)
    alone = "one alone does" if scaling.reference.gpus == 1 else f"each of {scaling.reference.gpus} does"
    for batch, words in KINDS.items():
        row = next((row for row in scaling.of(batch) if row.gpus == most and row is not scaling.reference), None)
        if row and (share := efficiency_pct(scaling, row)) is not None:
            told.append(f"{percent(share)}{'' if told else f' of what {alone}'} with the {words}")
    return f"Each of {counted(scaling, most)} does {', '.join(told)}." if told else None


def efficiency_pct(scaling: Scaling, row: Row) -> float | None:
    """Return the tokens a second and GPU, in percent of the reference's."""
    pace, ideal = scaling.pace(row), scaling.ideal(row)
    return None if pace is None or not ideal else 100 * pace / ideal


def partial(scaling: Scaling) -> str | None:
    """Say that the run did not finish, and why."""
    if not scaling.partial:
        return None
    return "PARTIAL RUN: " + (clipped(scaling.reason, 200) if scaling.reason else "it stopped before its last row")


def where(scaling: Scaling) -> list[str]:
    """Say what ran where, and how: two lines."""
    what = [clipped(scaling.model, 110) if scaling.model else "model not in the file"]
    if scaling.weights:
        what[0] += f", {WEIGHTS[scaling.weights]}"
    what.append(machine(scaling.machine))
    if scaling.backend:
        what.append(f"{BACKENDS.get(scaling.backend) or clipped(scaling.backend, 30)} backend")
    first = scaling.reference.gpus if scaling.reference else min(row.gpus for row in scaling.rows)
    how = []
    if scaling.sequences is not None:
        how.append(f"{plural(scaling.sequences, 'sequence')} on {counted(scaling, first)}")
    if scaling.target_tokens is not None:
        how.append(plural(scaling.target_tokens, "target token") + " a step")
    return [SEPARATOR.join(what), *([SEPARATOR.join(how)] if how else [])]


def small_print(scaling: Scaling) -> list[str]:
    """Say how to read the picture, and where it comes from."""
    first = scaling.reference.gpus if scaling.reference else 1
    each = f"for each {noun(scaling)}" if first == 1 else f"for each {counted(scaling, first)}"
    grown = [f"The growing batch is the batch once {each}: the same lengths again, with other prompts."] if scaling.of("grown")[1:] else []
    when = f", measured {clipped(day_and_time(scaling.created_at), 40)}" if scaling.created_at else ""
    return [
        "Bars: the pace of the fused step. Dashed: what that many would do if nothing were lost; efficiency is the share of it. "
        "Fused, two passes: the median step. Saving: what the fused step saves there, the median over pairs.",
        *grown,
        f"From {clipped(scaling.file, 80)}{when}.",
    ]


def failure(row: Row) -> str:
    """Say in a word or two why a row has no bar."""
    return STATUS[row.status] or "no step in the file"


def failures(scaling: Scaling) -> list[str]:
    """Say of each row that failed why."""
    return [
        f"{counted(scaling, row.gpus)}, {KINDS[row.batch]}: {failure(row)}" + (f": {clipped(row.reason, 160)}" if row.reason else "")
        for row in scaling.rows
        if row.status != "ok"
    ]
