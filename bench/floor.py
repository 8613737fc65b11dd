"""Near-empty steps: what the server cannot do, found before sampling, and what a step costs with next to no tokens."""

from collections.abc import Callable, Sequence

from bench import batch as batches
from bench import path_names
from bench.batch import FrozenBatch
from bench.errors import UnsupportedError
from bench.paths import Path, StepSetup
from bench.settings import RunSettings
from bench.wait import ResultWaiter
from bench.wire import WireCounter

WARMUP = 1


def take(
    settings: RunSettings,
    arms: Sequence[tuple[str, Path]],
    frozen: FrozenBatch | None,
    setup: Callable[[FrozenBatch, ResultWaiter], StepSetup],
    starting: ResultWaiter,
    wait: ResultWaiter,
    wire: WireCounter,
) -> dict[str, list[float]]:
    """Near-empty steps of every path: they find before sampling what the server cannot do, and how long polling and wire take alone.

    Where nothing is sampled and no floor is asked for, the steps themselves find the former. A step in which a request was sent again
    tells neither. Returns seconds by path.

    Raises:
        UnsupportedError: a path needs what the server does not have.
        BenchError: the server died or did not answer.
    """
    if frozen is not None and settings.floor_steps == 0:
        return {}
    starting.say("taking near-empty steps, to see what the server can do and what a step costs without tokens")
    count = len(frozen.sequences) if frozen else settings.prompts_count
    tiny = batches.tiny(count)
    floor_s: dict[str, list[float]] = {}
    for name, path in arms:
        if name == path_names.CONTROL:
            continue
        taken = []
        try:
            for _ in range(WARMUP):
                path.step(setup(tiny, starting))
            for _ in range(settings.floor_steps):
                wire.restart()
                step_s = path.step(setup(tiny, wait)).step_s
                if not wire.used().failed_requests:
                    taken.append(step_s)
        except UnsupportedError as error:
            raise _name_pair(error, name, [other for other, _ in arms]) from error
        if taken:
            floor_s[name] = taken
    return floor_s


def _name_pair(error: UnsupportedError, name: str, names: Sequence[str]) -> UnsupportedError:
    others = [other for other in names if other not in (name, path_names.CONTROL)]
    instead = f"time the others with --paths {','.join(others)}, or " if others else ""
    return UnsupportedError(
        f"{error}, which {name} needs.\n"
        f"To go on, {instead}use a server whose backend has it: SkyRL's fsdp or megatron, or this repository's CPU server."
    )
