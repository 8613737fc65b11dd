"""`bench sweep` in the list of commands; `python3 -m bench sweep` itself goes past click, see __main__."""

import sys

import click

from bench.sweep.main import main


@click.command("sweep", add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def sweep_command(arguments: tuple[str, ...]) -> None:
    """Tries server settings on one batch, and says which is the fastest that fits."""
    sys.exit(main(arguments))
