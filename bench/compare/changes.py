"""What two runs' steps say about each other: whether they may be compared, each path's change, the saving's, and what is a regression."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench import path_names
from bench.compare.samples import Estimate, Floats, difference
from bench.result_file import ResultFile
from bench.result_parts import PATHS
from bench.results import short_name

# Of these savings a change is reported: what each costs more than the fused path.
BASELINES = (path_names.TWO_PASS, path_names.SDK_CUSTOM)


@dataclass(frozen=True)
class PathChange:
    """One path's step times in both runs. `estimate` is 100 (B's median / A's - 1): percent of A's time, above 0 for a slower B."""

    path: str
    a_median_s: float
    b_median_s: float
    a_steps: int
    b_steps: int
    estimate: Estimate


@dataclass(frozen=True)
class SavingChange:
    """The fused path's saving over `baseline` in both runs, percent; `estimate` is B's less A's, in points.

    `paired`: medians over each run's own pairs; else, where a file tells no pairs, from the medians of the paths in both runs.
    """

    baseline: str
    a_pct: float
    b_pct: float
    a_count: int
    b_count: int
    paired: bool
    estimate: Estimate


def refusals(a: ResultFile, b: ResultFile) -> list[str]:
    """Why the two should not be compared; empty where they may be."""
    found = []
    if a.model and b.model and not _same_model(a.model, b.model):
        found.append(f"another model ({a.model}; {b.model})")
    # The tokens decide a step's time; older files tell only the hash of all.
    key = "tokens_sha256" if a.batch.text("tokens_sha256") and b.batch.text("tokens_sha256") else "sha256"
    a_sha, b_sha = a.batch.text(key), b.batch.text(key)
    if a_sha and b_sha:
        if a_sha != b_sha:
            found.append(f"another batch ({key} {a_sha[:12]}; {b_sha[:12]})")
    elif (size := _size(a, b)) is not None:
        found.append(f"another batch ({size})")
    if not common_paths(a, b):
        found.append("no path with timed steps in both")
    return found


def invalid(a: ResultFile, b: ResultFile) -> list[str]:
    """Which of the two is not valid, and why: its steps did another training than was asked for, so that no comparison says anything."""
    return [f"{result.name} is not valid ({result.invalid})" for result in (a, b) if result.invalid]


def batch_is_known(a: ResultFile, b: ResultFile) -> bool:
    """Whether both files tell their batch's hash."""
    return bool(a.batch.text("sha256") and b.batch.text("sha256"))


def common_paths(a: ResultFile, b: ResultFile) -> list[str]:
    """The paths with timed steps in both, in their usual order."""
    return [name for name in PATHS if _times_s(a, name) and _times_s(b, name)]


def path_changes(a: ResultFile, b: ResultFile) -> list[PathChange]:
    """Each common path's change from `a` to `b`."""
    found = []
    for name in common_paths(a, b):
        a_s, b_s = _times_s(a, name), _times_s(b, name)
        estimate = difference([a_s, b_s], lambda a_median, b_median: 100.0 * (b_median / a_median - 1.0))
        a_median_s, b_median_s = (difference([times_s], lambda median: median).value for times_s in (a_s, b_s))
        found.append(PathChange(name, a_median_s, b_median_s, len(a_s), len(b_s), estimate))
    return found


def saving_changes(a: ResultFile, b: ResultFile) -> list[SavingChange]:
    """The change of each saving that both runs can tell."""
    common = common_paths(a, b)
    return [_saving_change(a, b, name) for name in BASELINES if name in common and path_names.NATIVE in common]


def regressions(a: ResultFile, changes: Sequence[PathChange], max_pct: float) -> tuple[list[PathChange], list[str]]:
    """The changes that are slower by more than `max_pct` with the interval above 0, and the paths of `a` that cannot be judged.

    A path cannot be judged that `b` lacks, or where either run has too few steps for an interval. The control is no path to judge.
    """
    judged = [change for change in changes if change.path != path_names.CONTROL]
    slower = [entry for entry in judged if entry.estimate.ci_low is not None and entry.estimate.ci_low > 0.0]
    with_interval = {entry.path for entry in judged if entry.estimate.ci_low is not None}
    asked = [path.name for path in a.paths if path.name != path_names.CONTROL]
    return [entry for entry in slower if entry.estimate.value > max_pct], [name for name in asked if name not in with_interval]


def not_ruled_out(changes: Sequence[PathChange], max_pct: float) -> list[PathChange]:
    """The changes whose interval reaches beyond `max_pct`; the control is no path to judge."""
    return [
        entry
        for entry in changes
        if entry.path != path_names.CONTROL and entry.estimate.ci_high is not None and entry.estimate.ci_high > max_pct
    ]


def _saving_change(a: ResultFile, b: ResultFile, baseline: str) -> SavingChange:
    a_pairs, b_pairs = (_pairs_pct(result, baseline) for result in (a, b))
    if a_pairs and b_pairs:
        estimate = difference([a_pairs, b_pairs], lambda a_median, b_median: b_median - a_median)
        a_pct, b_pct = (difference([pairs], lambda median: median).value for pairs in (a_pairs, b_pairs))
        return SavingChange(baseline, a_pct, b_pct, len(a_pairs), len(b_pairs), True, estimate)
    a_times, b_times = ([_times_s(result, name) for name in (path_names.NATIVE, baseline)] for result in (a, b))
    a_pct, b_pct = (difference(times, _saving_pct).value for times in (a_times, b_times))
    estimate = difference([*a_times, *b_times], lambda *medians: _saving_pct(*medians[2:]) - _saving_pct(*medians[:2]))
    return SavingChange(baseline, a_pct, b_pct, min(map(len, a_times)), min(map(len, b_times)), False, estimate)


def _saving_pct(native: Floats, baseline: Floats) -> Floats:
    return 100.0 * (1.0 - native / baseline)


def _pairs_pct(result: ResultFile, baseline: str) -> tuple[float, ...]:
    found = result.comparison(baseline, path_names.NATIVE)
    return found.savings_pct if found else ()


def _times_s(result: ResultFile, name: str) -> tuple[float, ...]:
    path = result.path(name)
    return path.times_s if path else ()


def _same_model(a: str, b: str) -> bool:
    """Equal names, or a folder with the last name of the other: the same model may lie elsewhere."""
    a, b = a.rstrip("/"), b.rstrip("/")
    return a == b or ((_is_folder(a) or _is_folder(b)) and short_name(a) == short_name(b))


def _is_folder(model: str) -> bool:
    return model.startswith(("/", ".", "~")) or model.count("/") > 1


def _size(a: ResultFile, b: ResultFile) -> str | None:
    """What differs in the batches' sizes, where both tell it."""
    sizes = (("sequences", a.sequences, b.sequences), ("target tokens a step", a.tokens_per_step, b.tokens_per_step))
    found = [f"{ours:,} and {theirs:,} {what}" for what, ours, theirs in sizes if None not in (ours, theirs) and ours != theirs]
    return "; ".join(found) or None
