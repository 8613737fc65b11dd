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
from bench.result_parts import Step

COLUMNS = ("file", "path", "round", "position", "counted", "started_at", "pause_s", "step_s")


@click.command("export", short_help="Write the steps of result files as CSV.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--csv", "out", required=True, type=click.Path(path_type=Path), help="The file to write; - prints.")
def export_command(files: tuple[Path, ...], out: Path) -> None:
    """Writes one row a step, warm-ups too: where and when it was taken, its time and each phase's, seconds, its requests and bytes.

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
    """The rows, under one heading: what the files' steps name as `phase_<phase>_s`, `timeline_<phase>_s` and `wire_<what>`.

    What a file does not tell is empty.
    """
    named = list(dict.fromkeys(name for result in results for step in result.steps for name in _named(step)))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, *named])
    for result in results:
        for step in result.steps:
            values = _named(step)
            counted = "true" if step.counted else "false"
            own = (result.name, step.path, step.round, step.position, counted, step.started_at, step.pause_s, step.step_s)
            writer.writerow([*own, *(values.get(name) for name in named)])
    return out.getvalue()


def _named(step: Step) -> dict[str, float]:
    """What a step tells by name, under the names of its columns."""
    phases = {f"phase_{phase}_s": seconds for phase, seconds in step.phases_s}
    timeline = {f"timeline_{phase}_s": seconds for phase, seconds in step.timeline_s}
    return phases | timeline | {f"wire_{what}": count for what, count in step.wire}
