"""The rows of a scaling run: the same batch on each number of GPUs, then a batch that grows with them."""

import itertools
import os
import re
import reprlib
import shlex
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from bench.errors import InputError
from bench.sweep.plan import PlannedRow

# The setting that says over how many devices a backend cuts its batch. docker/server's launcher fills in what follows from it.
SETTING = {"fsdp": "trainer.placement.policy_num_gpus_per_node", "jax": "fully_sharded_data_parallel_size"}
SAME, GROWN = "same", "grown"
USUAL = (1, 2, 4, 8)
LOOK_S = 20.0


def planned_rows(backend: str, counts: tuple[int, ...], under: Mapping[str, Any]) -> tuple[PlannedRow, ...]:
    """The rows, by their batch and then by GPUs; the first is what the others are measured against.

    On the fewest GPUs the growing batch is the batch itself, so that there is one row for both. `under` are settings of every row.

    Raises:
        InputError: counts that do not rise, or over which the batch cannot grow.
    """
    if backend not in SETTING:
        raise InputError(f"--backend {backend}: scaling is known for {' and '.join(SETTING)}.")
    least = max(counts[0], 1) if counts else 1
    wrong = [count for before, count in itertools.pairwise(counts) if count <= before or count % least]
    if wrong or counts[:1] != (least,):
        raise InputError(
            f"--gpus {','.join(map(str, counts))}: give numbers from 1 that rise, each a multiple of the first, such as 1,2,4,8."
        )
    kinds = [(count, SAME) for count in counts] + [(count, GROWN) for count in counts[1:]]
    return tuple(
        PlannedRow(f"{count}-gpus-{kind}", {**under, SETTING[backend]: count}, None, count // least if kind == GROWN else 1)
        for count, kind in kinds
    )


def gpus_of(backend_config: Mapping[str, Any]) -> int:
    """How many GPUs a row's settings name."""
    return next((int(backend_config[name]) for name in SETTING.values() if name in backend_config), 1)


def parse_counts(text: str) -> tuple[int, ...]:
    """The numbers of `1,2,4`. Raises InputError for anything else."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--gpus {text!r}: give numbers with commas between, such as 1,2,4,8.") from None


def asked_gpus(text: str) -> int | None:
    """The number that GPUS says, None for all or nothing said. Raises InputError for anything else."""
    if text in ("", "all"):
        return None
    if not re.fullmatch(r"0*[1-9][0-9]{0,3}", text, re.ASCII):
        raise InputError(f"GPUS is {reprlib.repr(text)}.\nGive a whole number from 1, or all.")
    return int(text)


def usual_counts(
    backend: str, gpus_here: Callable[[], int | None], processors: int, asked: int | None = None
) -> tuple[tuple[int, ...], str]:
    """1, 2, 4, 8 as far as the machine has them, up to `asked` and that too; and in a line what is not taken and why, else ''.

    Raises:
        InputError: it has one, or does not tell; or fewer GPUs than were asked for, with which no server would start.
    """
    gpus = gpus_here()
    # XLA makes devices of the processor; more than it has cores would measure nothing.
    kind, there = ("processor", processors) if backend == "jax" and not gpus else ("GPU", gpus)
    if there is None:
        there = asked or 0
    found = f"{there or 'no'} {kind}{'s' if there > 1 else ''}"
    if asked is not None and asked > there and kind == "GPU":
        raise InputError(f"GPUS={asked}: this machine has {found}.\nGive as many as there are, or all.")
    wanted = USUAL if asked is None else (*(count for count in USUAL if count < asked), asked)
    counts = tuple(count for count in wanted if count <= there)
    if len(counts) < 2:
        why = f"GPUS={asked} asks for one" if asked == 1 else f"this machine has {found}"
        raise InputError(
            f"there is nothing to scale over: {why}.\n"
            "A machine with two GPUs or more is needed; --gpus says how many where they are elsewhere, as in a Ray cluster."
        )
    return counts, _left_out(asked, wanted, counts, kind, there, found)


def _left_out(asked: int | None, wanted: tuple[int, ...], counts: tuple[int, ...], kind: str, there: int, found: str) -> str:
    if asked is None:
        if kind != "GPU" or there == counts[-1]:
            return ""
        return f"of this machine's {found} {counts[-1]} are taken at most; --gpus 1,{there} takes all"
    left = [str(count) for count in wanted if count not in counts]
    if not left:
        return ""
    words = f"{' and '.join(left)} {'is' if len(left) == 1 else 'are'}"
    return f"GPUS={asked}: {words} not taken, for this machine has {found}; SCALE_ARGS='--gpus {','.join(map(str, wanted))}' asks for all"


def named_counts(text: str, asked: int | None, backend: str) -> tuple[tuple[int, ...], str]:
    """The numbers that --gpus names; and in a line that GPUS is none of them, where it is not, else ''.

    Raises:
        InputError: it is no list of numbers, or more GPUs than GPUS gives the server's container.
    """
    counts = parse_counts(text)
    if asked is None or asked in counts:
        return counts, ""
    if backend == "fsdp" and asked < max(counts):
        raise InputError(f"--gpus {text}: GPUS={asked} gives the server's container fewer.\nLeave GPUS out, or name no more in --gpus.")
    return counts, f"GPUS={asked} is not taken, for --gpus {text} says which numbers are"


def gpus_here() -> int | None:
    """How many GPUs nvidia-smi lists, None where it does not tell."""
    try:
        told = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, timeout=LOOK_S, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return sum(line.startswith("GPU ") for line in told.splitlines())


def processors_here() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def backend_of(command: str | None, stack: str) -> str:
    """The backend that a server command names, or that of a stack; the launcher's default where a command names none."""
    if command is None:
        return "jax" if stack == "cpu" else "fsdp"
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"--server-command cannot be read ({error}): {command!r}.") from None
    for index, word in enumerate(words):
        if word == "--backend" and index + 1 < len(words):
            return words[index + 1]
        if word.startswith("--backend="):
            return word.partition("=")[2]
    return "fsdp"
