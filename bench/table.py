"""The terminal's table of a result, and its warnings."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench import path_names, result_file, where
from bench.numbers import duration, percent, plural, short, signed, tenths
from bench.result_file import ResultFile
from bench.result_parts import Comparison, TimedPath

HEADINGS = ("path", "steps", "median", "mean", "stdev", "tokens/s,\n{centre}", "client, with\nhand-over")
WIDTH_OFF_TERMINAL = 110


def stdout_console() -> Console:
    """Where results are printed: as wide as the terminal, or wide enough for the tables where there is none."""
    return Console(highlight=False, width=None if Console().is_terminal else WIDTH_OFF_TERMINAL)


def print_result(document: dict[str, Any], console: Console) -> None:
    """Prints the table, the verdict and the warnings of a document that is not yet, or not only, a file."""
    print_result_file(result_file.of_document(document, "the result"), console)


def print_result_file(result: ResultFile, console: Console) -> None:
    """The same of a file that was read; what the file does not tell stays empty."""
    if result.paths:
        table = Table(title=Text(_title(result)), title_justify="left")
        by_median = _by_median(result)
        for heading in HEADINGS:
            words = heading.format(centre="median" if by_median else "mean")
            table.add_column(words, justify="left" if heading == "path" else "right")
        for path in result.paths:
            table.add_row(*_row(path, result.tokens_per_step, by_median))
        console.print(table)
    else:
        console.print(_title(result), markup=False, soft_wrap=True)
    if result.invalid:
        console.print(f"Not valid: {result.invalid}. Do not use its numbers.", markup=False, soft_wrap=True)
    if result.reason:
        console.print(f"Partial: {result.reason}", markup=False, soft_wrap=True)
    console.print(_verdict(result), markup=False, soft_wrap=True)
    for control in (entry for entry in result.comparisons if entry.candidate == path_names.CONTROL):
        console.print(_control_line(control), markup=False, soft_wrap=True)
    for line in where.lines(result):
        console.print(line, markup=False, soft_wrap=True)
    for warning in result.warnings:
        console.print(f"warning {warning.code}: {warning.text}. {warning.action}", markup=False, soft_wrap=True)


def _row(path: TimedPath, tokens: int | None, by_median: bool) -> tuple[str, ...]:
    rate = path.tokens_per_s
    if by_median and tokens and path.median_s:
        rate = tokens / path.median_s
    elif rate is None and tokens:
        rate = tokens / path.mean_s
    return (
        path.name,
        "" if path.count is None else f"{path.count:,}",
        _time(path.median_s),
        _time(path.mean_s),
        _time(path.stdev_s),
        "" if rate is None else short(rate),
        _time(path.client_overhead_s),
    )


def _by_median(result: ResultFile) -> bool:
    """Whether the rates are those of the median step, as the bars' picture and the page have them; a file's own is of the mean.

    Of the published shape, and where a path has no median or the tokens are not told, all are of the mean.
    """
    return bool(result.schema and result.tokens_per_step and all(path.median_s for path in result.paths))


def _time(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)


def _title(result: ResultFile) -> str:
    parts = []
    if result.sequences is not None:
        parts.append(plural(result.sequences, "sequence"))
    if result.tokens_per_step is not None:
        parts.append(f"{plural(result.tokens_per_step, 'target token')} a step")
    size = f": {', '.join(parts)}" if parts else ""
    return f"{'NOT VALID ' if result.invalid else ''}{'PARTIAL ' if result.partial else ''}{result.model or 'unnamed model'}{size}"


def _verdict(result: ResultFile) -> str:
    if result.verdict is not None:
        return result.verdict
    if result.reduction_pct is None:
        return "The file has no verdict and no saving."
    change = "saves" if result.reduction_pct >= 0 else "costs"
    return (
        f"By the two means the fused path {change} {percent(abs(result.reduction_pct))} of the two-pass step; "
        "the file tells no rounds to pair, so there is no interval."
    )


def _control_line(control: Comparison) -> str:
    median = "no number" if control.median_pct is None else f"{signed(control.median_pct)} %"
    if control.ci_low_pct is None or control.ci_high_pct is None:
        return f"Control, the fused path against itself: {median} (too few pairs for an interval)."
    interval = f"95 % interval {tenths(control.ci_low_pct)} to {percent(control.ci_high_pct)}"
    held = "it holds 0, as it should"
    missed = "it should hold 0, and does not: differences of this size mean nothing here"
    judged = held if control.ci_low_pct <= 0 <= control.ci_high_pct else missed
    return f"Control, the fused path against itself: {median}, {interval}; {judged}."
