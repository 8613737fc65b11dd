"""`bench doctor` in the list of commands; `python3 -m bench doctor` itself goes past click, see __main__."""

import sys

import click

from bench.doctor.main import main


@click.command("doctor", add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def doctor_command(arguments: tuple[str, ...]) -> None:
    """Says what this machine lacks for `make bench`, and what to type."""
    sys.exit(main(arguments))
