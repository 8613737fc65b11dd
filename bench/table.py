"""The terminal's table of a result, and its warnings."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench import path_names, result_file, where
from bench.result_file import ResultFile
from bench.result_parts import Comparison, TimedPath

HEADINGS = ("path", "steps", "median s", "mean s", "stdev s", "tokens/s (mean)", "client s")
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
        for heading in HEADINGS:
            table.add_column(heading, justify="left" if heading == "path" else "right")
        for path in result.paths:
            table.add_row(*_row(path))
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


def _row(path: TimedPath) -> tuple[str, ...]:
    return (
        path.name,
        "" if path.count is None else str(path.count),
        _fixed(path.median_s, 3),
        _fixed(path.mean_s, 3),
        _fixed(path.stdev_s, 3),
        _fixed(path.tokens_per_s, 1),
        _fixed(path.client_overhead_s, 3),
    )


def _fixed(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _title(result: ResultFile) -> str:
    parts = []
    if result.sequences is not None:
        parts.append(f"{result.sequences} sequences")
    if result.tokens_per_step is not None:
        parts.append(f"{result.tokens_per_step:,} target tokens a step")
    size = f": {', '.join(parts)}" if parts else ""
    return f"{'NOT VALID ' if result.invalid else ''}{'PARTIAL ' if result.partial else ''}{result.model or 'unnamed model'}{size}"


def _verdict(result: ResultFile) -> str:
    if result.verdict is not None:
        return result.verdict
    if result.reduction_pct is None:
        return "The file has no verdict and no saving."
    change = "saves" if result.reduction_pct >= 0 else "costs"
    return (
        f"By the two means the fused path {change} {abs(result.reduction_pct):.1f} % of the two-pass step; "
        "the file tells no rounds to pair, so there is no interval."
    )


def _control_line(control: Comparison) -> str:
    median = "no number" if control.median_pct is None else f"{control.median_pct:+.1f} %"
    if control.ci_low_pct is None or control.ci_high_pct is None:
        return f"Control, the fused path against itself: {median} (too few pairs for an interval)."
    return f"Control, the fused path against itself: {median}, 95 % interval {control.ci_low_pct:.1f} to {control.ci_high_pct:.1f} %."
