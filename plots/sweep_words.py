"""What the picture of a sweep says in words."""

from collections import Counter
from collections.abc import Sequence

from plots.numbers import brief, clipped, day_and_time, duration, memory, plural, short
from plots.sweep_file import Best, Row, Sweep
from plots.weights import WEIGHTS
from plots.words import BACKENDS, SEPARATOR, machine

MOST_NAMED = 4
SAMPLED = "*"
STATUS = {
    "ok": "",
    "out_of_memory": "out of memory",
    "crashed": "crashed",
    "timed_out": "timed out",
    "refused": "refused by the server",
}


def title(sweep: Sweep) -> str:
    """Say which setting is best, in a dozen words."""
    if sweep.best is None:
        finished = any(row.native_s is not None for row in sweep.rows)
        return f"{plural(len(sweep.rows), 'server setting')}, " + ("one after the other" if finished else "and none finished a step")
    best = clipped(sweep.best.label, 60)
    if first_is_near(sweep):
        first = clipped(sweep.rows[0].label, 60)
        return f"Even the fastest setting, {best}, is not told apart from {first} by {_steps(sweep)}"
    if sweep.best.label == sweep.rows[0].label and len(sweep.rows) > 1:
        return f"No other setting was faster than {best}"
    if sweep.best.speedup is None or len(sweep.rows) == 1:
        return f"Best server setting: {best}"
    return f"{best}: {brief(sweep.best.speedup)} times as fast as {clipped(sweep.rows[0].label, 60)}"


def verdict(sweep: Sweep) -> str | None:
    """Say what the best setting's step takes, how far that is from the arithmetic's floor, its memory, and what may be as fast."""
    if sweep.best is None or sweep.best.native_s is None:
        return None
    parts = [f"{duration(sweep.best.native_s)} a fused step at best"]
    floor_s = sweep.roofline.floor_s.get("native_1pass") if sweep.roofline else None
    if floor_s:
        parts.append(f"{brief(sweep.best.native_s / floor_s)} times the {duration(floor_s)} of its arithmetic alone")
    row = best_row(sweep)
    if row is not None and row.peak_memory_bytes is not None:
        parts.append(f"with {peak(row)} at the peak")
    return ", ".join(parts) + "." + not_told_apart(sweep.best)


def first_is_near(sweep: Sweep) -> bool:
    """Return whether the first setting is among those not told apart from the best: then none is shown to be faster than it."""
    first = sweep.rows[0].label
    return sweep.best is not None and sweep.best.label != first and first in sweep.best.not_told_apart


def _steps(sweep: Sweep) -> str:
    """Say by how many steps of the first row and of the best the two are not told apart."""
    row = best_row(sweep)
    count = min(sweep.rows[0].steps, row.steps) if row else 0
    return f"{plural(count, 'step')} of each" if count else "the steps taken"


def not_told_apart(best: Best) -> str:
    """Say which settings the steps taken do not tell apart from the best; nothing where there is none."""
    near = [clipped(label, 60) for label in best.not_told_apart]
    if not near:
        return ""
    more = f" and {len(near) - MOST_NAMED} more" if len(near) > MOST_NAMED else ""
    return f" Not told apart from it (step times overlap): {', '.join(near[:MOST_NAMED])}{more}."


def partial(sweep: Sweep) -> str | None:
    """Say that the sweep did not finish, and why."""
    if not sweep.partial:
        return None
    return "PARTIAL SWEEP: " + (clipped(sweep.reason, 200) if sweep.reason else "it stopped before its last setting")


def where(sweep: Sweep) -> list[str]:
    """Say what ran where, and how: two lines."""
    what = [clipped(sweep.model, 110) if sweep.model else "model not in the file"]
    if sweep.weights:
        what[0] += f", {WEIGHTS[sweep.weights]}"
    what.append(machine(sweep.machine))
    if sweep.backend:
        what.append(f"{BACKENDS.get(sweep.backend) or clipped(sweep.backend, 30)} backend")
    how = [plural(len(sweep.rows), "server setting")]
    if failed := sum(row.status != "ok" for row in sweep.rows):
        how[0] += f", {failed} of them failed"
    if sweep.sequences is not None:
        how.append(plural(sweep.sequences, "sequence"))
    if sweep.target_tokens is not None:
        how.append(plural(sweep.target_tokens, "target token") + " a step")
    return [SEPARATOR.join(what), SEPARATOR.join(how)]


def small_print(sweep: Sweep) -> list[str]:
    """Say how to read the picture, and where it comes from."""
    lines = ["Dots: the median step of each path, a line a setting, in the order in which they ran."]
    if any(row.sampled and row.peak_memory_bytes is not None for row in sweep.rows):
        lines.append(f"{SAMPLED} This server sampled the batch too, so its memory holds the sampler's.")
    if sweep.roofline and sweep.roofline.floor_s:
        kind = {True: " with gradient checkpointing", False: " without gradient checkpointing", None: ""}
        device = f" on {clipped(sweep.roofline.device, 50)}" if sweep.roofline.device else ""
        peak = f" at {short(sweep.roofline.peak_tflops)} TFLOP/s" if sweep.roofline.peak_tflops is not None else ""
        lines.append(
            f"Arithmetic alone: what the step's multiplications would take{device}{peak}{kind[sweep.roofline.gradient_checkpointing]}."
        )
    if sweep.best is not None and sweep.best.preset_file:
        lines.append(f"The best setting as a preset to use: {clipped(sweep.best.preset_file, 100)}.")
    when = f", measured {clipped(day_and_time(sweep.created_at), 40)}" if sweep.created_at else ""
    return [*lines, f"From {clipped(sweep.file, 80)}{when}."]


def left_out(sweep: Sweep, shown: Sequence[Row]) -> str | None:
    """Say how many settings the picture has no room for."""
    missing = [row for row in sweep.rows if row not in shown]
    if not missing:
        return None
    failed = Counter(STATUS[row.status] for row in missing if row.status != "ok")
    told = "".join(f", {count} {status}" for status, count in failed.items())
    fastest = "fastest" if len(shown) == 1 else f"{len(shown):,} fastest"
    return f"The {fastest} of {plural(len(sweep.rows), 'setting')}{told and ' (of the others' + told + ')'}."


def failure(row: Row) -> str | None:
    """Say why a setting has no time, or not all of them."""
    if row.status == "ok":
        return None if row.native_s or row.two_pass_s else "no step in the file"
    return STATUS[row.status] + (f": {row.reason}" if row.reason else "")


def peak(row: Row) -> str:
    """Write a row's peak memory, marked where it is not the training's alone; nothing where it is not told."""
    return "" if row.peak_memory_bytes is None else memory(row.peak_memory_bytes) + (SAMPLED if row.sampled else "")


def best_row(sweep: Sweep) -> Row | None:
    """Return the row of the best setting."""
    best = sweep.best
    return next((row for row in sweep.rows if best is not None and row.label == best.label and row.status == "ok"), None)
