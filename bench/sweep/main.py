"""`python3 -m bench sweep`'s command line."""

import argparse
import math
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from bench.arguments import Parser
from bench.errors import EXIT_DONE, EXIT_INTERRUPTED, BenchError
from bench.sweep.compose_servers import ComposeServers
from bench.sweep.document import LAST
from bench.sweep.loop import LOGS, Looper, Options, check_any
from bench.sweep.plan import read_plan, shipped
from bench.sweep.process_servers import ProcessServers
from bench.sweep.servers import Servers

EPILOG = """The first row is what the others are compared with. A row that runs out of memory, crashes, is refused or takes too long says
so, and the sweep goes on; the same command later takes what is missing, and again what crashed or took too long. Where two in a row
fail at start-up for one reason that their settings do not explain, the sweep stops.
Exit codes are those of python -m bench; 0 too where a time budget left rows for the next time."""


def _number(low: float, kind: Callable[[str], float]) -> Callable[[str], Any]:
    def convert(text: str) -> float:
        value = kind(text)
        if not math.isfinite(value) or value < low:
            raise ValueError(text)
        return value

    convert.__name__ = f"number from {low:g}"
    return convert


def parser() -> argparse.ArgumentParser:
    """The flags."""
    made = Parser(
        prog="python3 -m bench sweep",
        description="Runs one frozen batch on one server setting after another, and says which is the fastest that fits.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("settings", help=f"the settings to try: {', '.join(shipped())}, or a JSON file like those in bench/data/sweeps/")
    add_flags(made)
    made.add_argument("--memory-limit-gib", type=_number(0, float), help="the best must have stayed within this on each GPU")
    return made


def add_flags(made: argparse.ArgumentParser) -> None:
    """The flags of whatever takes rows on one server after another."""
    made.add_argument("--server-command", metavar="COMMAND", help="starts a server here; each row's --backend-config is appended")
    made.add_argument("--base-url", help="its address; default: http://127.0.0.1 with the command's --port, or 8000")
    made.add_argument("--batch", type=Path, help="a saved batch; default: the first row samples one, the others take the same")
    made.add_argument("--steps", type=_number(1, int), default=4, help="timed pairs a row that does not say; default: %(default)s")
    made.add_argument("--warmup", type=_number(0, int), default=1, help="steps of each path before; default: %(default)s")
    made.add_argument("--run-args", default="", metavar="FLAGS", help="more flags of `bench run`, such as '--lora-rank 8'")
    made.add_argument("--row-deadline-s", type=_number(1, float), default=900.0, help="longest a row may take; default: %(default)g")
    made.add_argument("--time-budget-s", type=_number(1, float), help="longest it may all take; what does not fit is left for the next")
    made.add_argument(
        "--settle-s", type=_number(0, float), default=30.0, help="longest wait until GPU memory is free; default: %(default)g"
    )
    made.add_argument("--again", action="store_true", help="take rows that were taken before again")
    made.add_argument("--results", type=Path, default=Path("results"), help="folder for what is written; default: %(default)s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Takes the sweep and prints its table; returns the exit code."""
    args = parser().parse_args(arguments)

    def sweep(say: Callable[[str], None]) -> None:
        plan = read_plan(args.settings)
        servers = servers_of(args, args.results)
        looper = Looper(plan, servers, options_of(args, args.results, args.memory_limit_gib), say)
        document = looper.run()
        print_table(servers, f"{servers.results_seen}/{looper.saved_in.relative_to(args.results)}", args.results / LOGS)
        _print_next(document, servers, args.results)
        print(wrote(looper.saved_in, args.results / LAST))
        check_any(document)

    return ended(sweep)


def ended(work: Callable[[Callable[[str], None]], None]) -> int:
    """Does the work, which is given a way to say how far it is, and returns the exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    start_s = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - start_s:6.1f} s] {text}", file=sys.stderr, flush=True)

    try:
        work(say)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("bench: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return EXIT_DONE


def servers_of(args: argparse.Namespace, results: Path, rows_say_gpus: bool = False) -> Servers:
    """What runs the servers: processes where a command was given, else the stack's containers.

    `rows_say_gpus`: each row says on how many GPUs it trains, so that GPUS makes no other server of it.
    """
    if args.server_command is None:
        return ComposeServers(os.environ, args.settle_s, ("MODEL", "NODES") if rows_say_gpus else ("MODEL", "GPUS", "NODES"))
    return ProcessServers(args.server_command, args.base_url, results, args.settle_s)


def options_of(args: argparse.Namespace, results: Path, memory_limit_gib: float | None, shown: Path | None = None) -> Options:
    """What was asked for, with another folder than --results, and another file to speak of, where rows keep theirs elsewhere: those
    are no settings to choose from."""
    return Options(
        results=results,
        batch=args.batch,
        steps=args.steps,
        warmup=args.warmup,
        run_arguments=tuple(shlex.split(args.run_args)),
        row_deadline_s=args.row_deadline_s,
        time_budget_s=args.time_budget_s,
        memory_limit_gib=memory_limit_gib,
        again=args.again,
        shown=shown,
        names_best=shown is None,
    )


def print_table(servers: Servers, file: str, logs: Path) -> None:
    """By the client, which has what it takes to draw one; this program may have nothing but Python. `file` is as the client sees it.

    Why rows failed was said as they did.
    """
    log = logs / "table.txt"
    client = servers.client(["show", "--no-reasons", file], log)
    while client.ended() is None:
        time.sleep(0.05)
    print(log.read_text(encoding="utf-8"), end="", flush=True)


def wrote(saved_in: Path, file: Path) -> str:
    """Where the rows are: in `file`, which plots take, unless that stays the one before since no row went well."""
    if saved_in.name == LAST:
        return f"Wrote {file}."
    return f"Wrote {saved_in}; {file.name} stays the one before, for no row of this one went well."


def _print_next(document: dict[str, Any], servers: Servers, results: Path) -> None:
    best = document["best"]
    if best is not None:
        preset = results / best["preset_file"]
        print(f"Its settings are in {preset}. To start with them next:")
        print(f"  {servers.next_time(best['backend_config'], preset)}")


def _interrupt(_signal: int, _frame: object) -> NoReturn:
    # Where a whole process group is told, docker/sweep.sh tells this program once more: not while it writes that it was interrupted.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt
