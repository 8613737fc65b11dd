"""How a command is typed so that the client's image runs it, for hosts without the packages; and whether this is that image."""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

COMMAND = "docker compose run --rm --no-deps bench bench"
RESULTS = Path("/results")  # where a container of this project has the host's results/
LAST = "last_gspo_bench.json"
# compose.yaml sets it in each of its clients; make says there which image it is.
MARK = "GSPO_BENCH_CLIENT_IMAGE"


def in_image(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this runs in a container that compose started."""
    return MARK in environment


def by_make(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether make started that container."""
    return bool(environment.get(MARK))


def program(environment: Mapping[str, str] = os.environ) -> str:
    """What stands before a command of bench where the user types: outside of the container, where this runs in one."""
    return COMMAND if in_image(environment) else "python -m bench"


def learn_on(flags: str = "--resume", environment: Mapping[str, str] = os.environ) -> str:
    """What is typed to go on with a learning run: of `make learn` the command, else the flags of the same command."""
    return f"LEARN_ARGS={shlex.quote(flags)} make learn" if by_make(environment) else flags


def run_with(flag: str, value: str = "", environment: Mapping[str, str] = os.environ) -> str:
    """What is added to a command for the same run with a flag: of `make bench` a setting, in which the number of steps has its own."""
    words = f"{flag} {value}".strip()
    if not by_make(environment):
        return words
    return f"STEPS={value}" if flag == "--steps" else f"{words} in BENCH_ARGS"


def typed(arguments: Sequence[str], here: Path) -> str:
    """The command for the same arguments in the image; paths of the results folder, which is `here`'s, are those that it has there."""
    words = [_in_results(word, here) for word in arguments]
    if words == ["show"]:  # its default is a path on the host
        words.append(str(RESULTS / LAST))
    return shlex.join([*COMMAND.split(), *words])


def mounted(path: Path) -> Path | None:
    """Where a path of the host's results/ is in the image; None where it is not there."""
    if path.is_absolute() or path.parts[:1] != ("results",):
        return None
    place = RESULTS.joinpath(*path.parts[1:])
    return place if os.path.lexists(place) else None


def _in_results(word: str, here: Path) -> str:
    flag, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    path = Path(value)
    for folder in (Path("results"), here / "results"):
        if path.is_relative_to(folder):
            return f"{flag}{equals}{RESULTS / path.relative_to(folder)}"
    return word
