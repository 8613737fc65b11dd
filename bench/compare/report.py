"""A comparison of two result files as texts in rows, ready for a terminal or for Markdown."""

from dataclasses import dataclass

from bench.compare import changes, words
from bench.compare.changes import PathChange
from bench.compare.differences import Difference, differences
from bench.numbers import duration, percent
from bench.result_file import ResultFile


@dataclass(frozen=True)
class ChangeRow:
    """What is compared, its value in either run, from how many steps or pairs, and what that shows."""

    what: str
    a: str
    b: str
    basis: str
    shows: str


@dataclass(frozen=True)
class Report:
    """Sides and notes are lines; `refused` says why the two should not be compared, `anyway` whether they can be all the same."""

    sides: tuple[str, str]
    different: tuple[Difference, ...]
    left_out: int
    notes: tuple[str, ...]
    refused: tuple[str, ...]
    anyway: bool
    path_changes: tuple[PathChange, ...]
    rows: tuple[ChangeRow, ...]


def report(a: ResultFile, b: ResultFile) -> Report:
    """Compares `b` with the baseline `a`, whether or not they should be."""
    found, invalid = differences(a, b), changes.invalid(a, b)
    paths, savings = changes.path_changes(a, b), changes.saving_changes(a, b)
    rows = [
        ChangeRow(
            entry.path, duration(entry.a_median_s), duration(entry.b_median_s), _basis(entry.a_steps, entry.b_steps), words.of_path(entry)
        )
        for entry in paths
    ]
    rows += [
        ChangeRow(
            words.saving_name(entry),
            percent(entry.a_pct),
            percent(entry.b_pct),
            _basis(entry.a_count, entry.b_count),
            words.of_saving(entry),
        )
        for entry in savings
    ]
    return Report(
        sides=(words.of_side("A", a), words.of_side("B", b)),
        different=found.rows,
        left_out=found.left_out,
        notes=tuple(words.notes(a, b, found.a_untold, found.b_untold)),
        refused=(*invalid, *changes.refusals(a, b)),
        anyway=bool(rows) and not invalid,
        path_changes=tuple(paths),
        rows=tuple(rows),
    )


def _basis(a_count: int, b_count: int) -> str:
    return f"{a_count}, {b_count}"
