"""`bench repeats`: several runs of one benchmark, each on a fresh server, as one table and one file."""

from collections.abc import Sequence
from pathlib import Path

import click

from bench import repeats, result_file
from bench.errors import InputError
from bench.files import write_json
from bench.json_object import one_line
from bench.numbers import plural
from bench.repeats import Run
from bench.repeats_table import print_repeat
from bench.table import stdout_console


@click.command("repeats", short_help="Show runs on fresh servers: the spread between them beside the spread within.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--failed", type=(click.IntRange(1), int), multiple=True, metavar="N CODE", help="Run N left no result and ended with CODE.")
@click.option("--not-tried", type=(click.IntRange(1), str), metavar="N WHY", help="N more runs were asked for and not tried, and why.")
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), show_default=True, help=f"Folder for {repeats.LAST}.")
def repeats_command(files: tuple[Path, ...], failed: tuple[tuple[int, int], ...], not_tried: tuple[int, str] | None, results: Path) -> None:
    """Takes the result FILES of the same benchmark in the order of the runs, and writes what they show together.

    The runs must have taken one batch of one model; `make bench REPEAT=3` sees to that.
    """
    runs = _ordered([Run(_name(file, results), result_file.read(file)) for file in files], dict(failed))
    left, why = not_tried or (0, None)
    made = repeats.document(runs, left, why and one_line(why))
    path = results / repeats.LAST
    write_json(path, made)
    console = stdout_console()
    print_repeat(made, str(path), console)
    for line in (*repeats.disagreements([run.result for run in runs if run.result]), f"wrote {path}"):
        console.print(line, markup=False, soft_wrap=True)


def _ordered(measured: Sequence[Run], failed: dict[int, int]) -> list[Run]:
    """The runs with a result fill the places that the failed ones leave."""
    count = len(measured) + len(failed)
    if not count:
        raise InputError("no run: give the result files of a repeated benchmark.")
    if wrong := [number for number in failed if number > count]:
        raise InputError(f"--failed {wrong[0]}: there {'is' if count == 1 else 'are'} only {plural(count, 'run')}.")
    left = iter(measured)
    return [Run(None, None, failed[number]) if number in failed else next(left) for number in range(1, count + 1)]


def _name(file: Path, results: Path) -> str:
    """The file as it stands in the document: from the results folder on, where it lies in there."""
    try:
        return one_line(str(file.resolve().relative_to(results.resolve())))
    except (OSError, ValueError):
        return one_line(str(file))
