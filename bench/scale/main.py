"""`python3 -m bench scale`'s command line."""

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.arguments import Parser
from bench.errors import BenchError, InputError
from bench.files import read_json
from bench.scale.document import FOLDER, LAST, save
from bench.scale.plan import asked_gpus, backend_of, gpus_here, named_counts, planned_rows, processors_here, usual_counts
from bench.sweep.document import LAST as SWEEP_LAST
from bench.sweep.loop import LOGS, Looper, check_tried
from bench.sweep.main import add_flags, ended, options_of, print_table, servers_of, wrote
from bench.sweep.outcome import OK

ROOT = Path(__file__).resolve().parents[2]
PRESETS = ROOT / "docker" / "server" / "presets"
STOCK_PRESETS = {"cpu": "cpu", "cuda": "l4"}
MAX_PRESET_BYTES = 1024 * 1024

EPILOG = """Each row is a server of its own, started with as many GPUs as the row says: the same batch on each number, then a batch that
is as many times larger as there are more GPUs, so that each keeps the work that one had. Efficiency is tokens a second and GPU against
the fewest GPUs. On the JAX backend without a GPU the devices are XLA's, all of one processor: that shows that data-parallel training
works here, and says nothing about GPUs. The same command later takes what is missing."""


def parser() -> argparse.ArgumentParser:
    """The flags."""
    made = Parser(
        prog="python3 -m bench scale",
        description="Runs one frozen batch, and one that grows, on 1, 2, 4 and 8 GPUs, and says how much faster they are.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--gpus", metavar="N,N", help="the numbers of GPUs; default: 1,2,4,8 up to GPUS and what this machine has")
    made.add_argument("--preset", help="settings under every row, as a server's; default: the stack's, or what --server-command says")
    add_flags(made)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Takes the rows and prints their table; returns the exit code."""
    args = parser().parse_args(arguments)

    def scale(say: Callable[[str], None]) -> None:
        stack = os.environ.get("STACK", "")
        backend = backend_of(args.server_command, stack)
        counts, left_out = _counts(args, backend, stack)
        if left_out:
            say(left_out)
        plan = planned_rows(backend, counts, _under(args, stack))
        folder = args.results / FOLDER
        servers = servers_of(args, folder, rows_say_gpus=True)
        if args.server_command is None:
            servers.results_seen = f"{servers.results_seen}/{FOLDER}"
        looper = Looper(plan, servers, options_of(args, folder, None, args.results / LAST), say, lambda sweep: _saved(sweep, args.results))
        document = looper.run()
        shown = f"../{LAST}" if looper.saved_in.name == SWEEP_LAST else str(looper.saved_in.relative_to(folder))
        print_table(servers, f"{servers.results_seen}/{shown}", folder / LOGS)
        print(wrote(looper.saved_in, args.results / LAST))
        check_tried(document)
        if not any(row["status"] == OK for row in document["rows"]):
            raise BenchError(f"no row went well; each says why above.\nThe servers' own words are in {folder / LOGS}/.")

    return ended(scale)


def _counts(args: argparse.Namespace, backend: str, stack: str) -> tuple[tuple[int, ...], str]:
    """The numbers of GPUs, and what of those asked for is not taken. GPUS is the stack's setting: a server command has its own flags."""
    in_containers = args.server_command is None
    asked = asked_gpus(os.environ.get("GPUS", "").strip()) if in_containers else None
    if args.gpus:
        return named_counts(args.gpus, asked, backend)
    # The CPU stack's container sees no GPU, whatever the machine has.
    look = _no_gpus if in_containers and stack == "cpu" else gpus_here
    return usual_counts(backend, look, processors_here(), asked)


def _no_gpus() -> int | None:
    return None


def _saved(sweep: dict[str, Any], results: Path) -> None:
    save(sweep, results)


def _under(args: argparse.Namespace, stack: str) -> dict[str, Any]:
    """The settings of every row. A server command has its own preset, unless one is named here."""
    name = args.preset or ("" if args.server_command else os.environ.get("PRESET") or STOCK_PRESETS.get(stack, ""))
    if not name:
        return {}
    path = Path(name) if name.endswith(".json") else PRESETS / f"{name}.json"
    preset = read_json(path, MAX_PRESET_BYTES, "preset")
    config = preset.get("backend_config") if isinstance(preset, dict) else None
    if not isinstance(config, dict):
        raise InputError(f"{path} has no backend_config: give one of {', '.join(sorted(file.stem for file in PRESETS.glob('*.json')))}.")
    return config
