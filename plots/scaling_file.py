"""The file of a scaling run over numbers of GPUs, as the picture needs it."""

from dataclasses import dataclass, replace
from pathlib import Path

from plots.checked import Section, read_object
from plots.errors import NothingToDraw, PlotInputError
from plots.machine import Machine, read_machine
from plots.sweep_file import LONGEST_STEP_S, NEWEST_SCHEMA, NO_GPU, SHORTEST_STEP_S, STATUSES
from plots.weights import WEIGHTS

KIND = "gspo-bench-scale"
BATCHES = ("same", "grown")
MOST_GPUS = 100_000


@dataclass(frozen=True)
class Row:
    """One number of GPUs with one batch: its median steps in seconds, or why it has none."""

    gpus: int
    batch: str
    status: str
    reason: str | None
    native_s: float | None
    two_pass_s: float | None
    saving_pct: float | None
    tokens_per_s: float | None


@dataclass(frozen=True)
class Scaling:
    """One scaling run. `reference` is the row on the fewest GPUs that went well, against which the others are measured."""

    file: str
    partial: bool
    reason: str | None
    created_at: str | None
    model: str | None
    weights: str | None
    machine: Machine
    on_gpus: bool
    backend: str | None
    sequences: int | None
    target_tokens: int | None
    rows: tuple[Row, ...]
    reference: Row | None

    def of(self, batch: str) -> tuple[Row, ...]:
        """Return the rows of one kind of batch, by their GPUs; the growing one begins as the batch itself."""
        first = [row for row in self.rows if batch == "grown" and row is self.reference]
        return tuple(sorted([*first, *(row for row in self.rows if row.batch == batch)], key=lambda row: row.gpus))

    def pace(self, row: Row) -> float | None:
        """Return how many times the reference's tokens a second a row trains."""
        if row.status != "ok" or not row.tokens_per_s or self.reference is None or not self.reference.tokens_per_s:
            return None
        return row.tokens_per_s / self.reference.tokens_per_s

    def ideal(self, row: Row) -> float | None:
        """Return the pace that as many times more GPUs would have if nothing were lost."""
        return row.gpus / self.reference.gpus if self.reference else None


def read_scaling(path: Path) -> Scaling:
    """Read a scaling run's file; raises PlotInputError with one line that says what is wrong."""
    root = read_object(path)
    root.choice("kind", [KIND])
    if (schema := root.whole("schema") or 1) > NEWEST_SCHEMA:
        raise PlotInputError(f"{root.file} has schema {schema}, this program reads up to {NEWEST_SCHEMA}; draw it with a newer gspo-bench")
    rows = tuple(_row(section) for section in root.sections("rows"))
    if not rows:
        raise NothingToDraw(f"{path.name} has no row yet")
    batch, gpu = root.section("batch"), root.text("gpu")
    machine = replace(read_machine(root.section("environment").section("server")), devices=None)  # its rows differ in it
    fitting = [row for row in rows if row.batch == "same" and row.status == "ok" and row.tokens_per_s]
    return Scaling(
        file=path.name,
        partial=root.choice("status", ["complete", "partial"]) == "partial",
        reason=root.text("reason"),
        created_at=root.text("created_at"),
        model=root.text("model"),
        weights=root.choice("weights", list(WEIGHTS)),
        machine=machine if machine.gpus or machine.cpu or not gpu or gpu in NO_GPU else Machine((gpu,), None, None),
        on_gpus=gpu not in NO_GPU,
        backend=root.text("backend"),
        sequences=batch.whole("sequences"),
        target_tokens=batch.whole("target_tokens"),
        rows=rows,
        reference=min(fitting, key=lambda row: row.gpus, default=None),
    )


def _row(section: Section) -> Row:
    gpus = section.number("gpus", 1, MOST_GPUS)
    if gpus is None or gpus != int(gpus):
        section.fail("gpus", "a whole number from 1")
    return Row(
        gpus=int(gpus),
        batch=section.choice("batch", BATCHES) or "same",
        status=section.choice("status", STATUSES) or "ok",
        reason=section.text("reason"),
        native_s=section.number("native_1pass_s", SHORTEST_STEP_S, LONGEST_STEP_S),
        two_pass_s=section.number("custom_2pass_s", SHORTEST_STEP_S, LONGEST_STEP_S),
        saving_pct=section.number("saving_pct"),
        tokens_per_s=section.number("tokens_per_s", 0),
    )
