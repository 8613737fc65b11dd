"""How a command is typed so that the client's image runs it, for hosts without the packages; and whether this is that image."""

import contextlib
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from bench.errors import BenchError, ServerGoneError

COMMAND = "docker compose run --rm --no-deps bench bench"
RESULTS = Path("/results")  # where a container of this project has the host's results/
LAST = "last_gspo_bench.json"
# compose.yaml sets it in each of its clients; make says there which image it is.
MARK = "GSPO_BENCH_CLIENT_IMAGE"
SERVER_STAYS = "The server stays up for the next run. Ctrl-C ends `docker compose up` with it; from elsewhere: docker compose down"


def in_image(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this runs in a container that compose started."""
    return MARK in environment


def by_make(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether make started that container."""
    return bool(environment.get(MARK))


@contextlib.contextmanager
def leaving_server(say: Callable[[str], None], environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Says at the end of a run how its server is ended, where nobody does: make does, and one that died needs it not."""
    try:
        yield
    except BenchError as error:
        if _is_left(environment) and not isinstance(error, ServerGoneError):
            say(SERVER_STAYS)
        raise
    if _is_left(environment):
        say(SERVER_STAYS)


def _is_left(environment: Mapping[str, str]) -> bool:
    return in_image(environment) and not by_make(environment)


@contextlib.contextmanager
def shared_cache(environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Lets everybody write what is put into the cache meanwhile: the stack's volume is the server's and other users' clients' too."""
    before = os.umask(0) if in_image(environment) else None
    try:
        yield
    finally:
        if before is not None:
            os.umask(before)


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
