"""The result file of a benchmark run, as the pictures need it."""

import statistics
from dataclasses import dataclass
from pathlib import Path

from plots.breakdown import Breakdown, Roofline, read_breakdown, read_roofline
from plots.checked import Section, first, read_object
from plots.errors import PlotInputError
from plots.weights import WEIGHTS

NEWEST_SCHEMA = 1
PATHS = ("native_1pass", "custom_2pass", "sdk_custom", "native_1pass_control")
SHORTEST_STEP_S, LONGEST_STEP_S = 1e-9, 1e9  # outside: a mistake in the file


@dataclass(frozen=True)
class PathTimes:
    """One way of taking a step: its timed steps in seconds, in execution order, and what the file says of them."""

    name: str
    mean_s: float
    stdev_s: float | None
    median_s: float | None
    tokens_per_s: float | None
    times: tuple[float, ...]

    @property
    def middle_s(self) -> float | None:
        """The median step, of its own steps where the file does not say; None where it tells no steps either."""
        return self.median_s or (statistics.median(self.times) if self.times else None)

    @property
    def centre_s(self) -> float:
        """The median step, or the mean where only that is known."""
        return self.middle_s or self.mean_s


@dataclass(frozen=True)
class Comparison:
    """The saving of one path against another, in percent of the baseline's step, with its interval."""

    baseline: str
    candidate: str
    saving_pct: float
    ci_low_pct: float | None
    ci_high_pct: float | None
    ci_level: float
    pairs: int | None
    faster_in: int | None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval's two ends in percent, or None where the run was too short for one."""
        if self.ci_low_pct is None or self.ci_high_pct is None:
            return None
        return self.ci_low_pct, self.ci_high_pct


@dataclass(frozen=True)
class Caution:
    """A warning that the benchmark stored in the file. `unstable`: it speaks against the numbers themselves."""

    code: str
    text: str
    action: str
    unstable: bool


@dataclass(frozen=True)
class Setting:
    """What ran where; None where the file does not say."""

    model: str | None
    weights: str | None
    gpus: tuple[str, ...]
    cpu: str | None
    cpu_count: int | None
    devices: int | None
    backend: str | None
    preset: str | None
    preset_changed: tuple[str, ...]
    notes: tuple[str, ...]
    sequences: int | None
    tokens_per_step: int | None
    order: str | None
    mode: str | None


@dataclass(frozen=True)
class Result:
    """One result file. `schema` is 0 for the published shape. `invalid`: why its numbers are not to be used, None where they may be."""

    file: str
    schema: int
    partial: bool
    reason: str | None
    invalid: str | None
    created_at: str | None
    paths: tuple[PathTimes, ...]
    comparisons: tuple[Comparison, ...]
    step_time_reduction_pct: float | None
    throughput_gain_pct: float | None
    cautions: tuple[Caution, ...]
    setting: Setting
    breakdowns: tuple[Breakdown, ...]
    roofline: Roofline | None
    clock_uncertainty_s: float | None

    def path(self, name: str) -> PathTimes | None:
        """Return the path of that name, if the file has it."""
        return next((path for path in self.paths if path.name == name), None)


def read_result(path: Path) -> Result:
    """Read a result file of any schema up to ours; raises PlotInputError with one line that says what is wrong."""
    root = read_object(path)
    schema = _schema(root)
    if schema:
        root.choice("kind", ["gspo-bench"])
    paths = tuple(times for name in PATHS if (times := _path_times(root, name)))
    if not paths:
        raise PlotInputError(f"{root.file} has no timed path (one of {', '.join(PATHS)}); give a result file, or run the benchmark again")
    summary = root.section("summary")
    roofline = read_roofline(root)
    return Result(
        file=path.name,
        schema=schema,
        partial=root.choice("status", ["complete", "partial"]) == "partial",
        reason=root.text("reason"),
        invalid=_invalid(root),
        created_at=root.text("created_at"),
        paths=paths,
        comparisons=tuple(made for section in root.sections("comparisons") if (made := _comparison(section))),
        step_time_reduction_pct=summary.number("step_time_reduction_pct"),
        throughput_gain_pct=summary.number("throughput_gain_pct"),
        cautions=tuple(_caution(section) for section in root.sections("warnings")),
        setting=_setting(root),
        breakdowns=tuple(found for times in paths if (found := read_breakdown(root, times.name, times.mean_s, times.centre_s, roofline))),
        roofline=roofline,
        clock_uncertainty_s=root.section("clock").number("uncertainty_s", 0),
    )


def _schema(root: Section) -> int:
    if "schema" not in root.values:
        return 0
    schema = root.whole("schema")
    if not schema:
        root.fail("schema", f"a whole number from 1 to {NEWEST_SCHEMA}")
    if schema > NEWEST_SCHEMA:
        raise PlotInputError(f"{root.file} has schema {schema}, this program reads up to {NEWEST_SCHEMA}; draw it with a newer gspo-bench")
    return schema


def _invalid(root: Section) -> str | None:
    why = root.text("invalid") or root.section("order_check").text("text")
    return (why or "the file does not say why") if root.flag("valid") is False else None


def _path_times(root: Section, name: str) -> PathTimes | None:
    section = root.section(name)
    times = section.numbers("times", SHORTEST_STEP_S, LONGEST_STEP_S)
    mean = section.number("mean_s", SHORTEST_STEP_S, LONGEST_STEP_S)
    if mean is None and not times:
        return None  # a partial run's path without a timed step
    return PathTimes(
        name=name,
        mean_s=statistics.fmean(times) if mean is None else mean,
        stdev_s=section.number("stdev_s", 0),
        median_s=section.number("median_s", SHORTEST_STEP_S, LONGEST_STEP_S),
        tokens_per_s=section.number("tokens_per_s", 0),
        times=times,
    )


def _comparison(section: Section) -> Comparison | None:
    baseline, candidate = section.text("baseline"), section.text("candidate")
    saving = section.number("saving_median_pct")
    if not baseline or not candidate:
        section.fail("candidate" if baseline else "baseline", "the name of a path")
    if saving is None:
        return None  # a partial run without a whole pair
    return Comparison(
        baseline=baseline,
        candidate=candidate,
        saving_pct=saving,
        ci_low_pct=section.number("ci_low_pct"),
        ci_high_pct=section.number("ci_high_pct"),
        ci_level=0.95 if (level := section.number("ci_level", 0, 1)) is None else level,
        pairs=section.whole("pairs"),
        faster_in=section.whole("faster_in"),
    )


def _caution(section: Section) -> Caution:
    code, text, action = (section.text(key) or "" for key in ("code", "text", "action"))
    return Caution(code, text, action, section.flag("unstable") is not False)


def _setting(root: Section) -> Setting:
    summary, settings, batch = root.section("summary"), root.section("settings"), root.section("batch")
    server = root.section("environment").section("server")
    return Setting(
        model=summary.text("model"),
        weights=server.choice("weights", list(WEIGHTS)),
        gpus=tuple(gpu.text("name") or "unnamed GPU" for gpu in server.sections("gpus")),
        cpu=server.text("cpu"),
        cpu_count=server.whole("cpu_count"),
        devices=server.section("placement").whole("devices_per_node"),
        backend=server.text("backend"),
        preset=server.text("preset"),
        preset_changed=server.texts("preset_changed"),
        notes=server.texts("notes"),
        sequences=first(summary.whole("batch_seqs"), batch.whole("sequences")),
        tokens_per_step=first(summary.whole("total_tokens_per_step"), batch.whole("target_tokens")),
        order=settings.text("order"),
        mode=settings.text("mode"),
    )
