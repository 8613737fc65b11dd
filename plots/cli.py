"""The command line: parses, draws, prints the files written, and turns errors into one line and an exit code."""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import click

from plots.errors import NothingToDraw, PlotInputError, PlotOutputError, lacking
from plots.size import SIZES

FAILED, WRONG_INPUT, INTERRUPTED = 1, 2, 130
RUN_FIRST = "run `make bench` or `python -m bench run` first"
CURVE = "curve_gsm8k_gspo"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("sources", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--results", "folder", type=click.Path(path_type=Path), help="Draw all that this folder has [results].")
@click.option("--out", type=click.Path(path_type=Path), help="The PNG or .html to write for FILE [FILE with .png at its end].")
@click.option("--picture", type=click.Choice(["bars", "phases", "sweep", "scale", "curve"]), help="What to draw of FILE [what suits it].")
@click.option("--size", type=click.Choice(list(SIZES)), default="readme", show_default=True, help="As high as it needs, or a 16:9 slide.")
def command(sources: tuple[Path, ...], folder: Path | None, out: Path | None, picture: str | None, size: str) -> None:
    """Draw the pictures and the page of a results folder, or of one result FILE, and print each file written.

    FILE is a result, a sweep, a scaling run, or a learning run: its folder or its metrics.jsonl. Several learning runs go into one picture.
    `python -m plots gallery` draws the published results instead, and writes the README's table.
    """
    if not sources:
        if out is not None or picture is not None:
            raise click.UsageError(f"--{'picture' if out is None else 'out'} is for one FILE; give that FILE too")
        draw_folder(folder or Path("results"), size)
        return
    if folder is not None:
        raise click.UsageError("both FILE and --results; give one of them")
    if out is not None and out.suffix.lower() not in (".png", ".html"):
        raise click.UsageError(f"--out {out} does not end in .png or .html, and nothing else is made; rename it")
    if len(sources) > 1 and out is None:
        raise click.UsageError("several FILEs make one picture, and need --out with its name")
    if out is not None and out.suffix.lower() == ".html":
        if len(sources) > 1 or picture is not None:
            raise click.UsageError(f"--out {out} is a page, which is of one FILE and has all of its pictures")
        page().write_file(sources[0], out)
        click.echo(click.format_filename(out))
    else:
        draw_sources(sources, out, picture, size)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("root", default=".", type=click.Path(path_type=Path))
def gallery(root: Path) -> None:
    """Draw what results/published has below ROOT [.], and write the table of README.md from it."""
    pictures()
    for path in importlib.import_module("plots.gallery").write_gallery(root):
        click.echo(click.format_filename(path))


def draw_folder(folder: Path, size: str) -> None:
    """Draw every picture whose file is in the folder, and the page of all of them; a file that cannot be drawn stops no other."""
    if not folder.is_dir():
        raise PlotInputError(f"no results folder {folder}; {RUN_FIRST}, or give another with --results")
    made = pictures().PICTURES.values()
    found = [picture for picture in made if (folder / picture.source).exists()]
    with_page = page().has_sources(folder)
    if not found and not with_page:
        raise PlotInputError(f"no result file in {folder}; {RUN_FIRST}")
    left_out = [f"{picture.target} (no {picture.source})" for picture in made if picture not in found]
    wrong: list[PlotInputError] = []
    for picture in found:
        target = folder / sized(picture.target, size)
        try:
            picture.make(target, folder / picture.source, size=SIZES[size])
            click.echo(click.format_filename(target))
        except NothingToDraw as error:
            left_out.append(f"{picture.target} ({error})")
        except PlotInputError as error:
            wrong.append(error)
    if with_page:
        try:
            click.echo(click.format_filename(page().write_folder(folder)))
        except PlotInputError as error:
            wrong.append(error)
    if left_out and len(wrong) < len(found):
        click.echo(f"Not drawn: {', '.join(left_out)}.")
    if wrong:
        raise PlotInputError("\nplots: ".join(dict.fromkeys(map(str, wrong))))


def draw_sources(sources: Sequence[Path], out: Path | None, name: str | None, size: str) -> None:
    """Draw one file, or several learning runs in one picture."""
    drawing = pictures()
    chosen = name or drawing.name_for(sources[0])
    if len(sources) > 1 and chosen != "curve":
        raise click.UsageError(f"{len(sources)} FILEs; only learning runs share a picture")
    if out is None:
        (source,) = sources
        if chosen == "curve":
            out = (source if source.is_dir() else source.parent) / sized(f"{CURVE}.png", size)
        else:
            out = source.with_name(sized(f"{source.stem}{'-phases' if chosen == 'phases' else ''}.png", size))
    drawing.PICTURES[chosen].make(out, *sources, size=SIZES[size])
    click.echo(click.format_filename(out))


def sized(name: str, size: str) -> str:
    """Return a picture's name for a size: that of a README as it is, any other with its size."""
    return name if size == "readme" else f"{name.removesuffix('.png')}-{size}.png"


def pictures() -> ModuleType:
    """Import what draws: late, so that --help and wrong usage answer at once, as matplotlib takes its time."""
    return _imported("plots.pictures")


def page() -> ModuleType:
    """Import what makes the page: late, for the same reason."""
    return _imported("plots.report.build")


def _imported(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except (SyntaxError, ModuleNotFoundError) as error:
        raise PlotInputError(lacking(error)) from None
    except OSError as error:
        first = str(error).split(",")[0]
        raise PlotOutputError(f"{first}; give it one: mount a writable /tmp or set MPLCONFIGDIR") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 drawn, 1 not written, 2 wrong usage or input."""
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        if given[:1] == ["gallery"]:
            gallery.main(given[1:], prog_name="python -m plots gallery", standalone_mode=False)
        else:
            command.main(given, prog_name="python -m plots", standalone_mode=False)
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
