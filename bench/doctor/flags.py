"""BENCH_ARGS and the like: flags that their commands do not have, found by reading the commands' own source, which needs no package."""

import ast
import difflib
import re
import reprlib
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bench import image
from bench.doctor.finding import Finding, fail, warn

Value = Literal["none", "maybe", "one"]  # what a flag takes


@dataclass(frozen=True)
class Command:
    """Of which target of make and which command of bench they are flags, and where it declares them: files, or functions of files.
    `shortens`: it takes the start of a flag for the flag, as argparse does."""

    target: str
    command: str
    sources: tuple[tuple[str, str], ...]
    shortens: bool = False

    @property
    def help(self) -> str:
        """Typed on a host that may have no package: sweep and scale need none, the others' is the image's."""
        bare = self.command in ("sweep", "scale")
        return f"{'python3 -m bench' if bare else image.COMMAND} {self.command} --help"


COMMANDS = {
    "BENCH_ARGS": Command("bench", "run", (("bench/run_command.py", ""), ("bench/flags.py", ""))),
    "LEARN_ARGS": Command("learn", "learn", (("bench/learn_command.py", ""), ("bench/flags.py", ""))),
    "SWEEP_ARGS": Command("sweep", "sweep", (("bench/sweep/main.py", ""),), shortens=True),
    "SCALE_ARGS": Command("scale", "scale", (("bench/scale/main.py", ""), ("bench/sweep/main.py", "add_flags")), shortens=True),
}


def judge_flags(name: str, text: str, read: Callable[[str], str]) -> Finding | None:
    """What is wrong with the setting's flags; None where nothing is, or where it cannot be said. `read` gives a source file's text."""
    command = COMMANDS[name]
    known = {flag: value for path, function in command.sources for flag, value in flags_of(read(path), function).items()}
    if not text or not known:
        return None
    judge = fail if command.target == "bench" else warn  # of no other target does `make bench` depend
    try:
        wrong = _first_wrong(shlex.split(text), known, command.shortens)
    except ValueError as error:
        return judge(name, f"{str(error).rstrip('.').lower()}: {reprlib.repr(text)}", f"{name}='...' make {command.target}")
    if wrong is None:
        return None
    near = difflib.get_close_matches(wrong, known, n=1)
    instead = shlex.quote(re.sub(rf"(?<!\S){re.escape(wrong)}(?![^\s=])", near[0], text, count=1)) if near else "'...'"
    seen = f"{command.command} has no flag {reprlib.repr(wrong)}" if wrong.startswith("-") else f"{reprlib.repr(wrong)} is no flag"
    return judge(name, seen, f"{name}={instead} make {command.target}     # all flags: {command.help}")


def flags_of(source: str, function: str = "") -> Mapping[str, Value]:
    """The flags that a module, or one function of it, declares for click or argparse. Empty where it cannot be read."""
    try:
        tree: ast.AST = ast.parse(source)
    except SyntaxError:  # written for a newer Python than the host's
        return {}
    if function:
        tree = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function), ast.Module([], []))
    return {flag: value for call in _calls(tree) for flag, value in _declared(call)}


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("option", "add_argument"):
            yield node


def _declared(call: ast.Call) -> Iterator[tuple[str, Value]]:
    names = [argument.value for argument in call.args if isinstance(argument, ast.Constant) and isinstance(argument.value, str)]
    given = {keyword.arg: keyword.value.value for keyword in call.keywords if isinstance(keyword.value, ast.Constant)}
    takes: Value = "one"
    if given.get("is_flag") or str(given.get("action", "")).startswith("store_"):
        takes = "none"
    elif "flag_value" in given:
        takes = "maybe"
    for name in names:
        parts = name.split("/")
        yield from ((part.strip(), "none" if len(parts) > 1 else takes) for part in parts if part.strip().startswith("--"))


def _first_wrong(words: Sequence[str], known: Mapping[str, Value], shortened: bool) -> str | None:
    """The first word that is neither a flag nor the value of one."""
    left = list(words)
    while left:
        word = left.pop(0)
        name, equals, _ = word.partition("=")
        if name in ("-h", "--help"):
            continue
        fitting = [name] if name in known else [flag for flag in known if shortened and name.startswith("--") and flag.startswith(name)]
        if len(fitting) != 1:
            return name if name.startswith("-") else word
        takes = known[fitting[0]]
        if left and not equals and (takes == "one" or (takes == "maybe" and not left[0].startswith("-"))):
            left.pop(0)
    return None
