"""`bench scale` in the list of commands; `python3 -m bench scale` itself goes past click, see __main__."""

import sys

import click

from bench.scale.main import main


@click.command("scale", add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def scale_command(arguments: tuple[str, ...]) -> None:
    """Runs one batch on 1, 2, 4 and 8 GPUs, and says how much faster they are."""
    sys.exit(main(arguments))
