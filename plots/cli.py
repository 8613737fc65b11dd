"""The command line: parses, draws, prints the files written, and turns errors into one line and an exit code."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import click

from plots.errors import PlotInputError, PlotOutputError

FAILED, WRONG_INPUT, INTERRUPTED = 1, 2, 130
RUN_FIRST = "run `make bench` or `python -m bench run` first"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--results", "folder", type=click.Path(path_type=Path), help="Draw all that this folder has [results].")
@click.option(
    "--out", type=click.Path(path_type=Path), help="The PNG or .html to write for FILE [FILE with .png at its end]."
)
def command(file: Path | None, folder: Path | None, out: Path | None) -> None:
    """Draw the pictures and the page of a results folder, or of one result FILE, and print each file written."""
    if file is None:
        if out is not None:
            raise click.UsageError("--out names the picture of one FILE; give that FILE too")
        draw_folder(folder or Path("results"))
        return
    if folder is not None:
        raise click.UsageError("both FILE and --results; give one of them")
    target = out or file.with_name(f"{file.stem}.png")
    if target.suffix.lower() == ".html":
        page().write_file(file, target)
    elif target.suffix.lower() == ".png":
        pictures().BARS.make(file, target)
    else:
        raise click.UsageError(f"--out {target} does not end in .png or .html, and nothing else is made; rename it")
    click.echo(click.format_filename(target))


def draw_folder(folder: Path) -> None:
    """Draw every picture whose file is in the folder, and the page of all of them."""
    if not folder.is_dir():
        raise PlotInputError(f"no results folder {folder}; {RUN_FIRST}, or give another with --results")
    found = [picture for picture in pictures().PICTURES if (folder / picture.source).exists()]
    if not found and not page().has_sources(folder):
        raise PlotInputError(f"no result file in {folder}; {RUN_FIRST}")
    for picture in found:
        target = folder / picture.target
        picture.make(folder / picture.source, target)
        click.echo(click.format_filename(target))
    click.echo(click.format_filename(page().write_folder(folder)))


def pictures() -> ModuleType:
    """Import what draws: late, so that --help and wrong usage answer at once, as matplotlib takes its time."""
    return _imported("plots.pictures")


def page() -> ModuleType:
    """Import what makes the page: late, for the same reason."""
    return _imported("plots.report.build")


def _imported(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except OSError as error:
        first = str(error).split(",")[0]
        raise PlotOutputError(f"{first}; give it one: mount a writable /tmp or set MPLCONFIGDIR") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 drawn, 1 not written, 2 wrong usage or input."""
    try:
        command.main(arguments, prog_name="python -m plots", standalone_mode=False)
    except click.Abort:
        return INTERRUPTED
    except click.UsageError as error:
        click.echo(f"plots: {error.format_message()}\nSee: python -m plots --help", err=True)
        return WRONG_INPUT
    except PlotInputError as error:
        click.echo(f"plots: {error}", err=True)
        return WRONG_INPUT
    except PlotOutputError as error:
        click.echo(f"plots: {error}", err=True)
        return FAILED
    return 0
