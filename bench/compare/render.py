"""A comparison printed: tables for a terminal, or Markdown for a pull request."""

import re
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.compare import words
from bench.compare.differences import short
from bench.compare.report import Report
from bench.numbers import plural

NO_DIFFERENCE = "Nothing differs in model, batch, settings, server or client, as far as both files tell."
_MINUS = re.compile(r"(?<![\w-])-(?=\d)")
DIFFERENT_HEADINGS = ("what differs", "A", "B")
CHANGE_HEADINGS = ("step", "A, median", "B, median", "steps or pairs", "what they show")


def print_differences(report: Report, console: Console) -> None:
    """Which files, and what differs between their runs."""
    for line in report.sides:
        console.print(line, markup=False, soft_wrap=True)
    if report.different:
        console.print(_table(DIFFERENT_HEADINGS, [(row.name, short(row.a), short(row.b)) for row in report.different]))
    else:
        console.print(NO_DIFFERENCE, markup=False, soft_wrap=True)
    for line in (*_left_out(report), *report.notes):
        console.print(line, markup=False, soft_wrap=True)


def print_changes(report: Report, console: Console) -> None:
    """Each path's change and the saving's."""
    console.print(_table(CHANGE_HEADINGS, _change_cells(report)))
    for line in (*_anyway(report), words.UNIT, words.WITHIN):
        console.print(line, markup=False, soft_wrap=True)


def markdown(report: Report, with_changes: bool) -> str:
    """The same as Markdown, the differences folded to their number: a pull request is read at a glance.

    What files say stands in code spans, where neither markup nor mentions count.
    """
    lines = [f"- {_code(line)}" for line in report.sides]
    lines += ["", *_folded_differences(report)]
    lines += ["", *report.notes] if report.notes else []
    if with_changes:
        lines += ["", *(_code(line) for line in _anyway(report))]
        cells = [_typeset(row) for row in _change_cells(report)]
        lines += ["", *_markdown_table(CHANGE_HEADINGS, cells), "", words.UNIT, words.WITHIN]
    else:
        lines += ["", f"**Not comparable:** {_code('; '.join(report.refused))}"]
    return "\n".join(lines)


def _folded_differences(report: Report) -> list[str]:
    if not report.different:
        return [NO_DIFFERENCE]
    rows = [(_code(row.name), _code(short(row.a)), _code(short(row.b))) for row in report.different]
    count = len(report.different) + report.left_out
    heading = f"<details><summary>{plural(count, 'difference')} between the runs</summary>"
    return [heading, "", *_markdown_table(DIFFERENT_HEADINGS, rows), "", *_left_out(report), "</details>"]


def _change_cells(report: Report) -> list[Sequence[str]]:
    return [(row.what, row.a, row.b, row.basis, row.shows) for row in report.rows]


def _typeset(cells: Sequence[str]) -> Sequence[str]:
    """The cells with the minus sign that the README's tables have; a terminal's stay what a shell can search for."""
    return [_MINUS.sub("\N{MINUS SIGN}", cell) for cell in cells]


def _anyway(report: Report) -> list[str]:
    return [f"Compared all the same: {'; '.join(report.refused)}."] if report.refused else []


def _left_out(report: Report) -> list[str]:
    return [f"... and {report.left_out} more."] if report.left_out else []


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table()
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    ruler = "| " + " | ".join("---" for _ in headings) + " |"
    return ["| " + " | ".join(headings) + " |", ruler, *("| " + " | ".join(row) + " |" for row in rows)]


def _code(text: str) -> str:
    """A code span that holds in a table's cell: the two characters that could end either are replaced."""
    inner = text.replace("`", "'").replace("|", "\\|")
    return f"`{inner}`"
