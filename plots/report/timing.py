"""The paths beside each other: each one's steps, and the savings with their intervals."""

from plots import bars, words
from plots.measures import Measures, measures
from plots.numbers import clipped, duration, percent, plural, short
from plots.report.charts import chart
from plots.report.section import Section, Table
from plots.results import Comparison, PathTimes, Result
from plots.svg import Alternative

MOST_TIMES = 1000


def timing(result: Result) -> Section:
    """Return the section."""
    drawn = measures(result)
    headings = ("path", "steps", "median", "mean", "standard deviation", f"tokens/s, {drawn.centre}")
    tables = [Table("A step of each path", headings, _paths(result, drawn), cards=True)]
    if result.comparisons:
        savings = tuple(_saving(made) for made in result.comparisons)
        tables.append(Table("The saving, over pairs of steps", ("saving", "median", "interval", "faster in"), savings, cards=True))
    every = tuple((_name(path), _times(path)) for path in result.paths if path.times)
    folded = (Table("Every timed step, in seconds", ("path", "steps, first to last"), every, words=True),) if every else ()
    return Section(
        "paths",
        "The two paths",
        chart=chart("paths", bars.draw_body, bars.body_in, drawn, Alternative("The two paths", _instead(drawn)), words.legend(drawn)),
        tables=tuple(tables),
        notes=tuple(words.other_comparisons(result)),
        folded=folded,
    )


def _instead(drawn: Measures) -> str:
    told = [f"{_label(bar.path)} {duration(bar.height)}" for bar in drawn.seconds]
    told += [f"{_label(bar.path)} {short(bar.height)} target tokens a second" for bar in drawn.tokens]
    return f"The {drawn.centre} step: {'; '.join(told)}."


def _paths(result: Result, drawn: Measures) -> tuple[tuple[str, ...], ...]:
    # The bars' own rates, so that the table says no other number for the same thing; a file's own goes with the mean.
    rates: dict[str, float | None] = {bar.path: bar.height for bar in drawn.tokens}
    return tuple(
        (
            _name(path),
            f"{len(path.times):,}" if path.times else "not told",
            _or_none(path.middle_s),
            duration(path.mean_s),
            _or_none(path.stdev_s),
            "not told" if (rate := rates.get(path.name, path.tokens_per_s)) is None else short(rate),
        )
        for path in result.paths
    )


def _saving(made: Comparison) -> tuple[str, ...]:
    pair = f"{_label(made.candidate)} against {_label(made.baseline)}"
    level = f"{made.ci_level * 100:g} %"
    interval = "none" if made.interval is None else f"{percent(made.interval[0])} to {percent(made.interval[1])} ({level})"
    faster = "not told" if made.faster_in is None or not made.pairs else f"{made.faster_in:,} of {plural(made.pairs, 'pair')}"
    return f"{pair[0].upper()}{pair[1:]}", percent(made.saving_pct), interval, faster


def _name(path: PathTimes) -> str:
    return f"{_label(path.name)} ({path.name})"


def _label(path: str) -> str:
    return words.IN_A_SENTENCE.get(path) or clipped(path, 40)


def _or_none(seconds: float | None) -> str:
    return "not told" if seconds is None else duration(seconds)


def _times(path: PathTimes) -> str:
    shown = ", ".join(f"{time:.4g}" for time in path.times[:MOST_TIMES])
    left = len(path.times) - MOST_TIMES
    return f"{shown}, and {left:,} more in the file" if left > 0 else shown
