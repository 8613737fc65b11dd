"""What a reader must know before trusting a number: codes with a text and what to do, found in the steps that were taken."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench import image, path_names
from bench.measure import REPEATED, StepRecord
from bench.numbers import duration, plural, signed, tenths
from bench.stats import Saving, counted_times

FIRST_SLOW_FACTOR = 1.5
DRIFT_PCT = 10.0
DRIFT_P = 0.05
ORDER_EFFECT_PCT = 5.0
# Iglewicz and Hoaglin's modified z-score, with their threshold.
OUTLIER_Z = 3.5
MAD_TO_SIGMA = 1.4826
WIDE_INTERVAL_PCT = 10.0
MORE_TIMES = 4  # the steps that are advised then: an interval is about half as wide for four times the steps
FLOOR_SHARE = 0.5
MIN_FOR_SHAPE = 6


@dataclass(frozen=True)
class RunWarning:
    """One warning. `unstable`: it speaks against the number itself, so that `--strict` ends with exit code 6."""

    code: str
    text: str
    action: str
    unstable: bool = True


def of_steps(records: Sequence[StepRecord], names: Sequence[str]) -> list[RunWarning]:
    """Warnings that each path's own times give."""
    found: list[RunWarning] = []
    for name in names:
        times_s = counted_times(records, name)
        if len(times_s) >= MIN_FOR_SHAPE:
            found += [warning for warning in (_first_slow(name, times_s), _drift(name, times_s), _outliers(name, times_s)) if warning]
    return found


def of_company(company: str | None) -> list[RunWarning]:
    """Other clients that used the server meanwhile, in words."""
    return [RunWarning("NOT_ALONE", company, "Do not use the numbers: run again when nobody else uses the server.")] if company else []


def of_repeats(records: Sequence[StepRecord]) -> list[RunWarning]:
    """Steps that are left out because a request of theirs was sent again."""
    repeated = [record for record in records if record.reason == REPEATED]
    if not repeated:
        return []
    kept = "it is" if len(repeated) == 1 else "they are"
    steps = f"{len(repeated):,} of {plural(len(records), 'step')}"
    text = f"in {steps} a request failed and was sent again: {kept} in the file and not counted"
    return [
        RunWarning("REPEATED_REQUESTS", text, "Look at the network between client and server, and at the server's log.", unstable=False)
    ]


def of_saving(saving: Saving | None, order: str, records: Sequence[StepRecord]) -> list[RunWarning]:
    """Warnings about the headline comparison."""
    if saving is None:
        return []
    found: list[RunWarning] = []
    if saving.ci_low_pct is None or saving.ci_high_pct is None:
        text = f"{plural(saving.pairs, 'pair')} {'is' if saving.pairs == 1 else 'are'} too few for an interval"
        found.append(RunWarning("TOO_FEW_PAIRS", text, f"Take more steps: the same with {image.run_with('--steps', '8')}, or more."))
    elif saving.ci_high_pct - saving.ci_low_pct > WIDE_INTERVAL_PCT:
        width = saving.ci_high_pct - saving.ci_low_pct
        text = f"the saving's interval is {tenths(width)} points wide"
        more = f"{image.run_with('--steps', str(MORE_TIMES * saving.pairs))}, or {image.run_with('--target-ci-pct', '5')}"
        found.append(RunWarning("WIDE_INTERVAL", text, f"Take more steps on a quieter machine: the same with {more}."))
    if order == "blocked":
        text = "all steps of one path were taken before the other's, so a drift of the machine counts as a saving"
        found.append(RunWarning("BLOCKED_ORDER", text, "Leave --order at interleaved.", unstable=False))
    elif warning := _order_effect(saving, records):
        found.append(warning)
    return found


def of_control(saving: Saving | None) -> list[RunWarning]:
    """The A/A control must not find a difference between a path and itself."""
    if saving is None or saving.ci_low_pct is None or saving.ci_high_pct is None:
        return []
    if saving.ci_low_pct <= 0.0 <= saving.ci_high_pct:
        return []
    text = f"the control found {signed(saving.median_pct)} % between the fused path and itself, its interval without 0"
    return [RunWarning("CONTROL_EXCLUDES_ZERO", text, "Run again; if it stays, do not trust differences of this size here.")]


def of_floor(floor_s: dict[str, float], medians_s: dict[str, float]) -> list[RunWarning]:
    """Where a step is mostly what it costs with next to no tokens, the saving says little about a larger model or batch."""
    found = []
    for name, floor in floor_s.items():
        if name in medians_s and floor > FLOOR_SHARE * medians_s[name]:
            share = 100.0 * floor / medians_s[name]
            text = (
                f"{share:.0f} % of the {path_names.label(name)} step does not depend on its tokens (polling, wire, kernel launches): "
                f"with next to none it takes {duration(floor)}"
            )
            found.append(RunWarning("POLLING_FLOOR", text, "Use a larger model or batch to measure arithmetic.", unstable=False))
    return found


def _first_slow(name: str, times_s: Sequence[float]) -> RunWarning | None:
    rest = statistics.median(times_s[1:])
    if times_s[0] <= FIRST_SLOW_FACTOR * rest:
        return None
    text = f"the first counted {path_names.label(name)} step took {duration(times_s[0])}, the others {duration(rest)}"
    return RunWarning("FIRST_STEP_SLOW", text, f"Warm up longer: the same with {image.run_with('--warmup', '3')}.")


def _drift(name: str, times_s: Sequence[float]) -> RunWarning | None:
    """A trend that is both large and unlikely by chance (Kendall's tau of the times against their order)."""
    from scipy import stats  # takes 1.5 s to import

    half = len(times_s) // 2
    early, late = statistics.median(times_s[:half]), statistics.median(times_s[-half:])
    change_pct = 100.0 * (late / early - 1.0)
    if abs(change_pct) <= DRIFT_PCT or not stats.kendalltau(range(len(times_s)), times_s).pvalue < DRIFT_P:
        return None
    text = f"{path_names.label(name)} steps drifted by {change_pct:+.0f} % from the first half to the second"
    return RunWarning("DRIFT", text, "Check for throttling or other load, and take more steps.")


def _outliers(name: str, times_s: Sequence[float]) -> RunWarning | None:
    centre = statistics.median(times_s)
    scale = MAD_TO_SIGMA * statistics.median(abs(time_s - centre) for time_s in times_s)
    if scale == 0.0:
        return None
    outliers = [time_s for time_s in times_s if abs(time_s - centre) / scale > OUTLIER_Z]
    if not outliers:
        return None
    listed = ", ".join(duration(time_s) for time_s in outliers[:5])
    text = f"{len(outliers)} of {len(times_s)} {path_names.label(name)} steps lie far from their median {duration(centre)}: {listed} (kept)"
    return RunWarning("OUTLIERS", text, "The median bears them; look for other load if there are many.", unstable=False)


def _order_effect(saving: Saving, records: Sequence[StepRecord]) -> RunWarning | None:
    """Compares the rounds in which the candidate went first with those in which it went second."""
    place: dict[int, dict[str, int]] = {}
    for record in records:
        if record.counted:
            place.setdefault(record.round, {})[record.path] = record.position
    complete = [spots for _, spots in sorted(place.items()) if saving.baseline in spots and saving.candidate in spots]
    first: list[float] = []
    second: list[float] = []
    for spots, value in zip(complete, saving.savings_pct, strict=True):
        (first if spots[saving.candidate] < spots[saving.baseline] else second).append(value)
    if min(len(first), len(second)) < MIN_FOR_SHAPE:
        return None
    gap = statistics.median(first) - statistics.median(second)
    separate = min(first) > max(second) or min(second) > max(first)
    if abs(gap) <= ORDER_EFFECT_PCT or not separate:
        return None
    text = f"the saving is {signed(gap)} points larger when the fused step goes first"
    return RunWarning(
        "ORDER_EFFECT",
        text,
        "The order is balanced, so the median bears it; report it with the number.",
        unstable=False,
    )
