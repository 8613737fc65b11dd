"""The file of a sweep over server settings, as the pictures need it."""

from dataclasses import dataclass
from pathlib import Path

from plots.breakdown import Roofline, read_roofline
from plots.checked import Section, read_object
from plots.errors import NothingToDraw, PlotInputError
from plots.machine import Machine, read_machine
from plots.weights import WEIGHTS

KIND = "gspo-bench-sweep"
NEWEST_SCHEMA = 1
STATUSES = ("ok", "out_of_memory", "crashed", "timed_out", "refused")
NO_GPU = ("cpu", "unknown")  # what stands there instead of a GPU's name
SHORTEST_STEP_S, LONGEST_STEP_S = 1e-9, 1e9


@dataclass(frozen=True)
class Row:
    """One server setting: its median steps in seconds, of so many fused ones, or why it has none. `sampled`: its server sampled the
    batch too.
    """

    label: str
    status: str
    reason: str | None
    native_s: float | None
    two_pass_s: float | None
    steps: int
    saving_pct: float | None
    peak_memory_bytes: float | None
    sampled: bool


@dataclass(frozen=True)
class Best:
    """The fastest setting that fits. `speedup` is against the first row; `not_told_apart`: settings whose step times overlap its own."""

    label: str
    native_s: float | None
    speedup: float | None
    preset_file: str | None
    not_told_apart: tuple[str, ...]


@dataclass(frozen=True)
class Sweep:
    """One sweep: its rows in the order in which they ran."""

    file: str
    partial: bool
    reason: str | None
    created_at: str | None
    model: str | None
    weights: str | None
    machine: Machine
    backend: str | None
    sequences: int | None
    target_tokens: int | None
    rows: tuple[Row, ...]
    best: Best | None
    roofline: Roofline | None


def read_sweep(path: Path) -> Sweep:
    """Read a sweep's file; raises PlotInputError with one line that says what is wrong."""
    root = read_object(path)
    root.choice("kind", [KIND])
    if (schema := root.whole("schema") or 1) > NEWEST_SCHEMA:
        raise PlotInputError(f"{root.file} has schema {schema}, this program reads up to {NEWEST_SCHEMA}; draw it with a newer gspo-bench")
    rows = tuple(_row(section, number) for number, section in enumerate(root.sections("rows"), start=1))
    if not rows:
        raise NothingToDraw(f"{path.name} has no row yet")
    batch = root.section("batch")
    return Sweep(
        file=path.name,
        partial=root.choice("status", ["complete", "partial"]) == "partial",
        reason=root.text("reason"),
        created_at=root.text("created_at"),
        model=root.text("model"),
        weights=root.choice("weights", list(WEIGHTS)),
        machine=_machine(root),
        backend=root.text("backend"),
        sequences=batch.whole("sequences"),
        target_tokens=batch.whole("target_tokens"),
        rows=rows,
        best=_best(root.section("best")),
        roofline=read_roofline(root),
    )


def _machine(root: Section) -> Machine:
    """Return what the server of the sweep ran on: as it told, else by the name of its GPU."""
    found = read_machine(root.section("environment").section("server"))
    gpu = root.text("gpu")
    if found.gpus or found.cpu or not gpu or gpu in NO_GPU:
        return found
    return Machine((gpu,), None, None)


def _row(section: Section, number: int) -> Row:
    status = section.choice("status", STATUSES) or "ok"
    native_s = section.number("native_1pass_s", SHORTEST_STEP_S, LONGEST_STEP_S)
    two_pass_s = section.number("custom_2pass_s", SHORTEST_STEP_S, LONGEST_STEP_S)
    return Row(
        label=section.text("label") or f"setting {number}",
        status=status,
        reason=section.text("reason"),
        native_s=native_s,
        two_pass_s=two_pass_s,
        steps=len(section.numbers("native_times", SHORTEST_STEP_S, LONGEST_STEP_S)),
        saving_pct=section.number("saving_pct"),
        peak_memory_bytes=section.number("peak_memory_bytes", 0),
        sampled=bool(section.flag("sampled")),
    )


def _best(section: Section) -> Best | None:
    label = section.text("label")
    if not label:
        return None
    native_s = section.number("native_1pass_s", SHORTEST_STEP_S, LONGEST_STEP_S)
    speedup = section.number("speedup_vs_first", 0)
    return Best(label, native_s, speedup, section.text("preset_file"), section.texts("not_told_apart"))
