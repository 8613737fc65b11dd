"""What a row came to, in a word and a reason, from how its client and server ended and from what they wrote."""

import re

from bench.errors import ServerGoneError, UnsupportedError
from bench.fault import of_log, short, without_escapes
from bench.sweep.take import Ending

OK, OUT_OF_MEMORY, CRASHED, TIMED_OUT, REFUSED = "ok", "out_of_memory", "crashed", "timed_out", "refused"
STATUSES = (OK, OUT_OF_MEMORY, CRASHED, TIMED_OUT, REFUSED)
# What can end otherwise another time is taken again; what cannot is not.
FINISHED = (OK, OUT_OF_MEMORY, REFUSED)

LONGEST_REASON = 400  # room for a fault and for whose it is
USAGE_CODE = 2
# As PyTorch, CUDA, XLA, NumPy, glibc and Ray word it when it happens, not when they advise against it.
_NO_MEMORY = re.compile(
    r"OutOfMemoryError|CUDA(?: error:)? out of memory|RESOURCE_EXHAUSTED|Unable to allocate .* for an array|std::bad_alloc"
    r"|not enough memory|Cannot allocate memory"
)
_KILLED = (137, -9)


def outcome(ending: Ending, deadline_s: float) -> tuple[str, str | None]:
    """One of STATUSES, and why for all but OK.

    Raises:
        UnsupportedError: the client found that no setting will do, such as a loss that the backend lacks.
    """
    if ending.client_code == 0 and ending.document is not None and ending.document.get("status") == "complete":
        return OK, None
    if ending.server_code == USAGE_CODE:
        return REFUSED, _short(_after_error(ending.server_text))
    if told := _last(_NO_MEMORY, ending.client_text) or _last(_NO_MEMORY, ending.server_text):
        return OUT_OF_MEMORY, _short(told)
    words = client_words(ending.client_text)
    if ending.client_code == UnsupportedError.exit_code and ending.server_code is None:
        raise UnsupportedError(words)
    if ending.out_of_time:
        return TIMED_OUT, f"not done within {deadline_s:.0f} s" + ("" if ending.ready_s else "; the model never was ready")
    if ending.server_code is not None:
        killed = " (killed, as the system does when memory runs out)" if was_killed(ending) else ""
        return CRASHED, _short(
            f"the server ended with exit code {ending.server_code}{killed}: {of_log(ending.server_text) or 'it said nothing'}"
        )
    if ending.client_code == ServerGoneError.exit_code and "no answer from" in words:
        return TIMED_OUT, _short(words)
    if ending.client_code is None:
        return CRASHED, "the client did not end when it was asked to"
    return CRASHED, _short(words.partition("\n")[0] or f"the client ended with exit code {ending.client_code}")


def client_words(text: str) -> str:
    """What a client said at its end: from its last line that begins with `bench:`, without that."""
    lines = text.splitlines()
    start = max((index for index, line in enumerate(lines) if line.startswith("bench: ")), default=None)
    return "" if start is None else "\n".join(lines[start : start + 2]).removeprefix("bench: ")


def _after_error(text: str) -> str:
    """What follows the last `error:` of a server that refused its settings."""
    return text.rpartition("error: ")[2].strip() or "the server refused its settings"


def was_killed(ending: Ending) -> bool:
    """Whether the server or its engine was, as the system does when memory runs out."""
    return ending.server_code in _KILLED or "exit code -9" in ending.server_text


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    return next((line for line in reversed(without_escapes(text).splitlines()) if pattern.search(line)), None)


def _short(text: str) -> str:
    return short(text, LONGEST_REASON)
