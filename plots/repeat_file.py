"""The file of repeated runs, each on a fresh server, as the page needs it."""

from dataclasses import dataclass
from pathlib import Path

from plots.checked import Section, read_object
from plots.errors import PlotInputError

KIND = "gspo-bench-repeat"
NEWEST_SCHEMA = 1
MOST_RUNS = 200
SHORTEST_STEP_S, LONGEST_STEP_S = 1e-9, 1e9


@dataclass(frozen=True)
class Run:
    """One run: its saving in percent with its own interval, its median steps in seconds; None where it has none. `status` says why."""

    status: str
    reason: str | None
    saving_pct: float | None
    ci_low_pct: float | None
    ci_high_pct: float | None
    native_s: float | None
    two_pass_s: float | None


@dataclass(frozen=True)
class Repeat:
    """Every run in order. `counted` runs make the spread between; `within_ci_width_pct` is the median width of their own intervals."""

    file: str
    model: str | None
    gpu: str | None
    created_at: str | None
    runs: tuple[Run, ...]
    counted: int | None
    saving_mean_pct: float | None
    saving_stdev_pct: float | None
    saving_low_pct: float | None
    saving_high_pct: float | None
    within_ci_width_pct: float | None


def read_repeat(path: Path) -> Repeat:
    """Read the file; raises PlotInputError with one line that says what is wrong."""
    root = read_object(path)
    root.choice("kind", [KIND])
    if (schema := root.whole("schema") or 1) > NEWEST_SCHEMA:
        raise PlotInputError(f"{root.file} has schema {schema}, this program reads up to {NEWEST_SCHEMA}; draw it with a newer gspo-bench")
    between = root.section("between")
    return Repeat(
        file=path.name,
        model=root.text("model"),
        gpu=root.text("gpu"),
        created_at=root.text("created_at"),
        runs=tuple(_run(section) for section in root.sections("runs")[:MOST_RUNS]),
        counted=between.whole("n"),
        saving_mean_pct=between.number("saving_mean_pct"),
        saving_stdev_pct=between.number("saving_stdev_pct", 0),
        saving_low_pct=between.number("saving_low_pct"),
        saving_high_pct=between.number("saving_high_pct"),
        within_ci_width_pct=root.number("within_ci_width_median_pct", 0),
    )


def _run(section: Section) -> Run:
    return Run(
        status=section.text("status") or "complete",
        reason=section.text("reason"),
        saving_pct=section.number("saving_median_pct"),
        ci_low_pct=section.number("ci_low_pct"),
        ci_high_pct=section.number("ci_high_pct"),
        native_s=section.number("native_1pass_s", SHORTEST_STEP_S, LONGEST_STEP_S),
        two_pass_s=section.number("custom_2pass_s", SHORTEST_STEP_S, LONGEST_STEP_S),
    )
