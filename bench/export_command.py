"""`bench export`: the steps of result files as CSV, for a spreadsheet or a data frame."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import click

from bench import result_file
from bench.errors import InputError
from bench.files import write_text
from bench.result_file import ResultFile

COLUMNS = ("file", "path", "round", "position", "counted", "started_at", "pause_s", "step_s")


@click.command("export", short_help="Write the steps of result files as CSV.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--csv", "out", required=True, type=click.Path(path_type=Path), help="The file to write; - prints.")
def export_command(files: tuple[Path, ...], out: Path) -> None:
    """Writes one row a step, warm-ups too: where and when it was taken, its time and each phase's, seconds.

    Of a file of the published shape only paths and times are known.
    """
    text = as_csv([result_file.read(file) for file in files])
    if str(out) == "-":
        click.echo(text, nl=False)
        return
    if any(out.resolve() == file.resolve() for file in files):
        raise InputError(f"--csv {out} is one of the result files: name another.")
    write_text(out, text)
    click.echo(f"wrote {out}", err=True)


def as_csv(results: Sequence[ResultFile]) -> str:
    """The rows, under one heading: the phases of all files, each as `phase_<phase>_s`. What a file does not tell is empty."""
    phases = list(dict.fromkeys(phase for result in results for step in result.steps for phase, _ in step.phases_s))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, *(f"phase_{phase}_s" for phase in phases)])
    for result in results:
        for step in result.steps:
            seconds = dict(step.phases_s)
            counted = "true" if step.counted else "false"
            own = (result.name, step.path, step.round, step.position, counted, step.started_at, step.pause_s, step.step_s)
            writer.writerow([*own, *(seconds.get(phase) for phase in phases)])
    return out.getvalue()
