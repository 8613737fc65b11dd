"""`bench compare`: its flags, which files are compared, and its endings."""

from collections.abc import Sequence
from pathlib import Path

import click

from bench import result_file
from bench.compare import changes
from bench.compare.render import markdown, print_changes, print_differences
from bench.compare.report import Report, report
from bench.errors import CompareError, InputError
from bench.flags import FiniteFloat
from bench.json_object import one_line
from bench.result_file import ResultFile
from bench.table import stdout_console


@click.command("compare", short_help="Compare result files: what differs, and what their steps show.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--anyway", is_flag=True, help="Compare also what should not be: another model or batch.")
@click.option(
    "--max-regression-pct",
    type=FiniteFloat(min=0),
    help="End with 7 when a path's median step takes more than this many percent longer and its interval lies above 0.",
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown, for a pull request.")
def compare_command(files: tuple[Path, ...], anyway: bool, max_regression_pct: float | None, as_markdown: bool) -> None:
    """Compares each of FILES with the first, the baseline. A folder stands for the result files in it, by name.

    Ends with 7 for files that cannot be compared: another model or batch (unless --anyway), no path timed in both, or a result that is not
    valid, since its server returned outputs out of order. Files out of a folder are then passed over, as long as one can be compared.
    With --max-regression-pct it ends with 7 too where that cannot be judged: a path of the baseline is missing, or has fewer than 4 steps
    on a side (unless --anyway). The control is not judged.
    """
    baseline, others = _read(files)
    slower: list[str] = []
    compared = 0
    for other, named in others:
        found = report(baseline, other)
        refused = bool(found.refused) and not (anyway and found.anyway)
        if refused and not named:
            click.echo(f"bench: passed over: {other.name}: {'; '.join(found.refused)}.", err=True)
            continue
        if compared:
            click.echo()
        _print(found, as_markdown, not refused)
        if refused:
            raise CompareError(
                f"cannot compare {baseline.name} and {other.name}: {'; '.join(found.refused)}.\n{_how(found, baseline, other)}"
            )
        compared += 1
        if max_regression_pct is not None:
            regressions = _slower(baseline, other, found, max_regression_pct, anyway)
            slower += regressions
            if not regressions:
                click.echo(f"\n{_passed(other, found, max_regression_pct)}")
    if not compared:
        raise CompareError(f"no file can be compared with {baseline.name}.\nName another baseline first.")
    if slower:
        raise CompareError("; ".join(slower) + ".")


def _read(files: Sequence[Path]) -> tuple[ResultFile, list[tuple[ResultFile, bool]]]:
    """The baseline, and the others each with whether it was named itself, rather than its folder."""
    found: list[tuple[Path, ResultFile, bool]] = []
    for file in files:
        if not _is_folder(file) or (file / "run.json").is_file():
            found.append((file, result_file.read(file), True))
            continue
        for path in sorted(file.glob("*.json")):
            if any(path.samefile(known) for known, _, _ in found):
                continue
            try:
                found.append((path, result_file.read(path), False))
            except InputError as error:
                click.echo(f"bench: passed over: {one_line(str(error))}", err=True)
    if len(found) < 2:
        raise InputError(f"compare needs two result files and found {len(found)}: give two, or a folder that holds more.")
    return found[0][1], [(result, named) for _, result, named in found[1:]]


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # such as a name that is too long: the reader says it
        return False


def _print(found: Report, as_markdown: bool, with_changes: bool) -> None:
    if as_markdown:
        click.echo(markdown(found, with_changes))
        return
    console = stdout_console()
    print_differences(found, console)
    if with_changes:
        print_changes(found, console)


def _how(found: Report, baseline: ResultFile, other: ResultFile) -> str:
    """What to do about two files that were refused."""
    if found.anyway:
        return "Give --anyway to compare them all the same."
    if baseline.invalid or other.invalid:
        return "Measure again on another server setting or version, whose outputs come in order: bench verify says."
    return "Give two files that timed the same path."


def _slower(baseline: ResultFile, other: ResultFile, found: Report, max_pct: float, anyway: bool) -> list[str]:
    """What ends the comparison with 7, in words."""
    regressions, unjudged = changes.regressions(baseline, found.path_changes, max_pct)
    if unjudged and not anyway:
        raise CompareError(
            f"cannot judge {', '.join(unjudged)} of {other.name}: a path is missing or has too few steps for an interval.\n"
            "Take 4 steps or more on both sides, or give --anyway to judge only the others."
        )
    return [f"{entry.path} of {other.name} is {entry.estimate.value:.2f} % slower, more than {max_pct:g} %" for entry in regressions]


def _passed(other: ResultFile, found: Report, max_pct: float) -> str:
    """What a comparison that ends well says of the limit: an interval that reaches beyond it rules nothing out."""
    said = f"Within the limit: no path of {other.name} is shown to be more than {max_pct:g} % slower."
    beyond = [f"{entry.path} (up to {entry.estimate.ci_high:.1f} %)" for entry in changes.not_ruled_out(found.path_changes, max_pct)]
    return f"{said} So few steps do not rule it out for {', '.join(beyond)}." if beyond else said
