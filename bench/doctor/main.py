"""`python3 -m bench doctor`'s command line."""

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.arguments import Parser
from bench.doctor.examine import examine
from bench.doctor.finding import Finding
from bench.doctor.report import as_json, screen
from bench.doctor.settings import Settings, project_name, read_dotenv, read_settings
from bench.doctor.world import World

ROOT = Path(__file__).resolve().parents[2]
EPILOG = """Settings are those of make bench: STACK, MODEL, PRESET, BACKEND_CONFIG, STEPS, MAX_TOKENS, REPEAT, PORT, GPUS, NODES,
RESULTS, HF_*, BENCH_ARGS, and of the other targets TASK, SWEEP, LEARN_ARGS, SWEEP_ARGS and SCALE_ARGS, from the environment or .env.
Exit codes: 0 make bench can be expected to work; 1 something must be mended first; 2 a wrong flag."""


def main(arguments: Sequence[str] | None = None, world: World | None = None) -> int:
    """Prints the report; returns the exit code."""
    parser = Parser(
        prog="python3 -m bench doctor",
        description="Looks at this machine and says what `make bench` needs here: ok, or what to type.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    args = parser.parse_args(arguments)
    world = world or World(ROOT)
    project = project_name(world.read("compose.yaml"), world.root.name)
    settings = read_settings(os.environ, read_dotenv(world.read(".env")), project)
    try:
        stack, findings = examine(world, settings)
        print(_report(findings, settings, stack, args.json), flush=True)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has seen enough, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1 if any(finding.status == "fail" for finding in findings) else 0


def _report(findings: Sequence[Finding], settings: Settings, stack: str, machine_readable: bool) -> str:
    if machine_readable:
        return as_json(findings, stack)
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return screen(findings, _title(settings, stack), stack, min(shutil.get_terminal_size().columns, 120), colour)


def _title(settings: Settings, stack: str) -> str:
    name = {"cpu": "CPU stack", "cuda": "CUDA stack"}[stack]
    why = f"STACK={stack}" if settings.stack else "by what is here; STACK=cpu or STACK=cuda chooses"
    return f"Is this machine ready for `make bench`? {name} ({why})"
