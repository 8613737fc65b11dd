"""`python -m bench`: parses, calls, prints, and turns every ending into its exit code."""

import signal
import sys
from typing import Any, NoReturn

import click

from bench import image
from bench.compare_command import compare_command
from bench.doctor_command import doctor_command
from bench.errors import EXIT_DONE, EXIT_INTERRUPTED, BenchError, InputError, ServerGoneError
from bench.export_command import export_command
from bench.json_object import printable
from bench.learn_command import learn_command
from bench.repeats_command import repeats_command
from bench.run_command import run_command
from bench.scale_command import scale_command
from bench.show_command import show_command
from bench.sweep_command import sweep_command
from bench.synthetic_batch import synthetic_batch_command
from bench.verify_command import verify_command

PROGRAM = "python -m bench"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def cli() -> None:
    """Times a fused GSPO step against the two-pass round trip on a Tinker server.

    Exit codes: 0 done; 1 the run failed; 2 wrong usage or input; 3 the server was not reachable or died; 4 it cannot do what was asked;
    5 the paths are not equivalent; 6 unstable, with --strict, or not alone; 7 compare refused or found a regression; 130 interrupted.
    """


cli.add_command(run_command)
cli.add_command(synthetic_batch_command)
cli.add_command(learn_command)
cli.add_command(verify_command)
cli.add_command(sweep_command)
cli.add_command(scale_command)
cli.add_command(doctor_command)
cli.add_command(show_command)
cli.add_command(compare_command)
cli.add_command(export_command)
cli.add_command(repeats_command)


def main(arguments: list[str] | None = None) -> NoReturn:
    """The whole program; ends the process."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGUSR1, _server_ended)
    try:
        cli.main(arguments, prog_name=PROGRAM, standalone_mode=False)
    except click.exceptions.Exit as ended:
        sys.exit(ended.exit_code)
    except click.UsageError as error:
        command = error.ctx.command_path.removeprefix(PROGRAM) if error.ctx else ""
        hint = f"See {image.program()}{command} --help."
        _end(f"{error.format_message()}\n{hint}", InputError.exit_code)
    except BenchError as error:
        _end(str(error), error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _end("interrupted", EXIT_INTERRUPTED)
    sys.exit(EXIT_DONE)


def _interrupt(_signal: int, _frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def _server_ended(_signal: int, _frame: Any) -> NoReturn:
    """Sent by who watches the server's container: the wait for it ends at once."""
    raise ServerGoneError("the server's container has ended; its own log says why.")


def _end(message: str, code: int) -> NoReturn:
    click.echo(f"bench: {printable(message)}", err=True)
    sys.exit(code)
