"""The verdict: one sentence that says no more than the pairs can support."""

from collections.abc import Sequence

from bench import path_names
from bench.numbers import percent, plural, tenths
from bench.stats import Saving


def verdict(comparisons: Sequence[Saving]) -> str:
    """The sentence for the headline comparison, fused against two passes."""
    headline = next((entry for entry in comparisons if (entry.baseline, entry.candidate) == (path_names.TWO_PASS, path_names.NATIVE)), None)
    if headline is None:
        return "No pair of a fused and a two-pass step was measured, so there is no saving to report."
    size = percent(abs(headline.median_pct))
    change = "saves" if headline.median_pct >= 0 else "costs"
    count = f"the fused step was faster in {headline.faster_in:,} of {plural(headline.pairs, 'pair')}"
    if headline.ci_low_pct is None or headline.ci_high_pct is None:
        return f"The fused path {change} {size} of the two-pass step (median; too few pairs for an interval; {count})."
    interval = f"95 % interval {tenths(headline.ci_low_pct)} to {percent(headline.ci_high_pct)}"
    if headline.ci_low_pct <= 0 <= headline.ci_high_pct:
        return f"No saving that {plural(headline.pairs, 'pair')} can show: median {percent(headline.median_pct)}, {interval}; {count}."
    return f"The fused path {change} {size} of the two-pass step (median over pairs, {interval}); {count}."
