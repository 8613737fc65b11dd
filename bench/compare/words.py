"""The changes in words that say no more than the steps can show."""

from bench import path_names
from bench.compare.changes import PathChange, SavingChange, batch_is_known
from bench.compare.samples import MIN_STEPS_FOR_INTERVAL, Estimate
from bench.numbers import brief, percent, tenths
from bench.numbers import signed as plus
from bench.result_file import ResultFile

WITHIN = (
    "Steps within one run do not show the spread between servers: before you rely on a difference of a few points, "
    "run each side again on a fresh server."
)
UNIT = (
    "Changes are of a step's median time, in percent of A's; the 95 % intervals are a bootstrap over both runs' own steps or pairs, "
    "widened for small samples."
)


def of_path(change: PathChange) -> str:
    """One path's change: "11.2 % faster, 95 % interval 9.0 to 13.1 %"."""
    pct, estimate = change.estimate.value, change.estimate
    size = f"{percent(abs(pct))} {'faster' if pct < 0 else 'slower'}{_times(change)}"
    if estimate.ci_low is None or estimate.ci_high is None:
        by_medians = f"{size} by the medians" if tenths(abs(pct)) != "0.0" else "equal medians"
        return f"{by_medians}; {_too_few(change.a_steps, change.b_steps, 'steps')}"
    if estimate.ci_low <= 0.0 <= estimate.ci_high:
        return f"no difference that {_counts(change.a_steps, change.b_steps)} steps can show: {signed(estimate, ' %')}"
    low, high = sorted((abs(estimate.ci_low), abs(estimate.ci_high)))
    return f"{size}, 95 % interval {tenths(low)} to {percent(high)}"


def of_saving(change: SavingChange) -> str:
    """The saving's change: "1.5 points more, 95 % interval 0.2 to 2.9 points"."""
    points, estimate = change.estimate.value, change.estimate
    what = "pairs" if change.paired else "steps"
    size = f"{tenths(abs(points))} points {'more' if points >= 0 else 'less'}"
    unpaired = "" if change.paired else " (from the paths' medians: a file tells no pairs)"
    if estimate.ci_low is None or estimate.ci_high is None:
        return f"{size} by the medians; {_too_few(change.a_count, change.b_count, what)}{unpaired}"
    if estimate.ci_low <= 0.0 <= estimate.ci_high:
        return f"no difference that {_counts(change.a_count, change.b_count)} {what} can show: {signed(estimate, ' points')}{unpaired}"
    low, high = sorted((abs(estimate.ci_low), abs(estimate.ci_high)))
    return f"{size}, 95 % interval {tenths(low)} to {tenths(high)} points{unpaired}"


def signed(estimate: Estimate, unit: str) -> str:
    """A change that may have either sign: "+0.4 %, 95 % interval -1.2 to +2.0 %"."""
    return f"{plus(estimate.value)}{unit}, 95 % interval {plus(estimate.ci_low or 0.0)} to {plus(estimate.ci_high or 0.0)}{unit}"


def saving_name(change: SavingChange) -> str:
    return f"saving over {path_names.label(change.baseline)}"


def of_side(letter: str, result: ResultFile) -> str:
    """One line that says which file is A or B, and what its own run said against it."""
    parts = [f"{letter}: {result.name}"]
    parts += [f"taken {result.created_at}"] if result.created_at else []
    parts += [f"NOT VALID ({result.invalid})"] if result.invalid else []
    parts += [f"partial ({result.reason})" if result.reason else "partial"] if result.partial else []
    parts += ["published shape"] if not result.schema else []
    codes = list(dict.fromkeys(warning.code for warning in result.warnings if warning.unstable))
    parts += [f"its own warnings speak against its numbers: {', '.join(codes)}"] if codes else []
    return "; ".join(parts)


def notes(a: ResultFile, b: ResultFile, a_untold: tuple[str, ...], b_untold: tuple[str, ...]) -> list[str]:
    """What the tables cannot say."""
    found = [
        f"{letter} does not tell its {', '.join(untold)}: what differs there is not seen."
        for letter, untold in (("A", a_untold), ("B", b_untold))
        if untold
    ]
    for letter, ours, theirs in (("A", a, b), ("B", b, a)):
        if alone := [path.name for path in ours.paths if not theirs.path(path.name)]:
            found.append(f"Only {letter} has {', '.join(alone)}.")
    if not batch_is_known(a, b):
        found.append("Whether both took the same batch is not told; only sizes can be compared.")
    return found


def _times(change: PathChange) -> str:
    ratio = change.b_median_s / change.a_median_s
    if ratio <= 0.5:
        return f" ({brief(1.0 / ratio)} times as fast)"
    return f" ({brief(ratio)} times as long)" if ratio >= 2.0 else ""


def _too_few(a_count: int, b_count: int, what: str) -> str:
    return f"too few {what} for an interval ({_counts(a_count, b_count)}; {MIN_STEPS_FOR_INTERVAL} on each side are needed)"


def _counts(a_count: int, b_count: int) -> str:
    return str(a_count) if a_count == b_count else f"{a_count} and {b_count}"
