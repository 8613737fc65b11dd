"""What went wrong, in one line, from the error text or the log of a server: the last exception's own words, and the library it lacked.

`python -m bench.fault <LOG` prints it. Standard library only: a sweep runs on a machine's own Python.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from bench.json_object import LONGEST_TEXT, one_line

# What fails is named at a message's beginning, and by what, such as sizes that do not fit, at its end.
LONGEST, KEPT_END = 300, 120
MAX_SEARCHED = 200_000

_ESCAPES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[()][0-9A-Z]|\x1b[@-Z\\^_]")
# Before a line of a worker's: Ray's and vLLM's process, vLLM's time and file, PyTorch's rank.
_PREFIX = re.compile(r"(?:\([^()]*\bpid=[^()]*\) ?)?(?:[A-Z]+ \d\d-\d\d [\d:.]+ \[[^]]*\] ?)?(?:\[rank\d+\]: ?)?")
_TRACE = re.compile(r'Traceback \(most recent call last\):|ray::|  File "')
_LINK = re.compile(r"During handling of the above exception|The above exception was the direct cause")
_NAMED = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception)(?:\([\w.]+\))?(?:: |:?$)")
_AFTER_TRACE = re.compile(r"(?!(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b)(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:: |:?$)")
# How a process is ended, which is never why.
_ENDING = re.compile(r"(?:\w+\.)*(?:CancelledError|KeyboardInterrupt|SystemExit|GeneratorExit)\b")
_LOG_LINE = re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL|error)\b|\[?\d{4}-\d\d-\d\d|\(\w+\) ")
# For want of an exception: a line that mentions one, else what the launcher said at its end.
_SECOND_BEST = (re.compile(r"\b\w*(?:Error|Exception)\b|Fatal Python error"), re.compile(r"error: "), re.compile(""))

_FILE_MISSING = re.compile(r"([\w.+-]+\.so(?:\.\d+)*): cannot open shared object file")
_MODULE_MISSING = re.compile(r"No module named ['\"]([\w.]+)['\"]")
# Looked for in the program itself, as after a library that was not found; of a library that is named, it is another version's.
_SYMBOL_MISSING = re.compile(r"(?P<where>\S*?)(?:: )?undefined symbol: (?P<symbol>\w+)")
_OWNERS = {"numa_": "libnuma.so.1", "ibv_": "libibverbs.so.1", "nvml": "libnvidia-ml.so.1", "nccl": "libnccl.so.2", "cuda": "libcudart.so"}


@dataclass
class _Found:
    """An exception of a text: its lines, and those that it followed from."""

    lines: list[str]
    before: list[str] = field(default_factory=list)


def of_error(text: str) -> str:
    """An error text in one line of at most LONGEST characters: the exception that stands last in it, else all of it; '' for no words."""
    return _exception(text) or short(text)


def of_log(text: str) -> str:
    """The same of a log: its last exception, else its last line that mentions one, else its last line."""
    lines = [line for line in without_escapes(_ends(text, MAX_SEARCHED)).splitlines() if line.strip()]
    others = (line for pattern in _SECOND_BEST for line in reversed(lines) if pattern.search(line))
    return _exception(text) or short(next(others, ""))


def short(text: str, longest: int = LONGEST) -> str:
    """The text without colour codes, on one line of at most so many characters; its middle is left out of a longer one."""
    line = one_line(_ends(without_escapes(_ends(text, MAX_SEARCHED)), LONGEST_TEXT))
    return line if len(line) <= longest else f"{line[: longest - KEPT_END - 1]}…{line[-KEPT_END:]}"


def without_escapes(text: str) -> str:
    """The text without a terminal's control sequences."""
    return _ESCAPES.sub("", text)


def _exception(text: str) -> str:
    found = list(_exceptions(without_escapes(_ends(text, MAX_SEARCHED)).splitlines()))
    if not found:
        return ""
    told, all_of_it = " ".join(found[-1].lines), " ".join([*found[-1].before, *found[-1].lines])
    missing = _missing(told) or _missing(all_of_it)
    shown = short(told)
    if missing is None or missing in shown:
        return shown
    hint = f" (missing library: {missing})"
    return short(told, LONGEST - len(hint)) + hint


def _exceptions(lines: list[str]) -> Iterator[_Found]:
    """The exceptions in order. What follows one on lines of its own is part of it, up to an empty line or a line of the log."""
    found: _Found | None = None
    earlier: list[str] = []
    in_trace = linked = open_ = False
    side = ""
    for whole in lines:
        prefix = _PREFIX.match(whole)
        start = prefix.group() if prefix else ""
        line = whole[len(start) :].rstrip()
        if _TRACE.match(line):
            if not in_trace and not linked:
                earlier = []
            in_trace, linked, open_ = True, False, False
        elif _LINK.match(line):
            linked, open_ = True, False
        elif (_NAMED.match(line) or (in_trace and _AFTER_TRACE.match(line))) and not _ENDING.match(line):
            found = _Found([line], earlier)
            earlier = [*earlier, line]
            in_trace, open_, side = False, True, start[:1]
            yield found
        elif open_ and found is not None and line and start[:1] == side and not _LOG_LINE.match(line):
            found.lines.append(line)
        else:
            open_ = False


def _missing(text: str) -> str | None:
    """The library or Python module that an exception says it lacks."""
    if named := _FILE_MISSING.search(text) or _MODULE_MISSING.search(text):
        return named[1]
    symbol = _SYMBOL_MISSING.search(text)
    if symbol is None or ".so" in symbol["where"]:
        return None
    return next((library for start, library in _OWNERS.items() if symbol["symbol"].startswith(start)), None)


def _ends(text: str, longest: int) -> str:
    """The text, or both its ends where it is longer."""
    half = longest // 2 - 2
    return text if len(text) <= longest else f"{text[:half]}\n…\n{text[-half:]}"


if __name__ == "__main__":
    print(of_log(sys.stdin.buffer.read().decode(errors="replace")))
