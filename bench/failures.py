"""What the SDK raises, as one or two lines that say what the server answered and what to do."""

import re

import tinker

from bench import fault
from bench.errors import BenchError, ServerGoneError, UnsupportedError
from bench.probe import Probe

# Of what a server answers, which may be a page of HTML or a whole batch: its beginning, and its end, where a traceback has its exception.
MAX_SEARCHED = 20_000

# What the SDK puts around the words of a server.
_WRAPPED = re.compile(r"Request failed: (?P<detail>.*) for self\.request_id=.*", re.DOTALL)
_DETAIL = re.compile(r"['\"]detail['\"]: *(?P<quote>['\"])(?P<detail>.*?)(?P=quote)\}", re.DOTALL)
_ESCAPED = {"\\n": "\n", "\\t": "\t", "\\x1b": "\x1b", "\\u001b": "\x1b"}
_LOSS_MISSING = re.compile(r"Loss functions? \[?'?(?P<loss>\w+)'?\]? (?:are|is) not supported by the (?P<backend>\w+) backend")
_CANNOT_SAMPLE = re.compile(r"trainer-only|[Ss]ampling is unavailable|cannot sample|inference is unavailable", re.IGNORECASE)
# An answer that the SDK cannot read: a page of HTML, another server's JSON, a torn message.
_UNREADABLE = re.compile(
    r"expected a JSON value|EOF while parsing|Expecting value|JSON payload|Proto deserialization|expected schema|Content-Type response|"
    r"object has no attribute|object is not subscriptable"
)
_OCCUPIED = re.compile(
    r"single LoRA adapter|already has a '?policy'? model|Maximum number of LoRA adapters|LoRA signature mismatch",
    re.IGNORECASE,
)


def explain(error: Exception, stage: str, probe: Probe) -> BenchError:
    """The error that a run ends with, for an exception of the SDK in the named stage."""
    detail = detail_of(error)
    if missing := _LOSS_MISSING.search(detail):
        return UnsupportedError(f"the server's {missing['backend']} backend has no loss {missing['loss']!r}")
    if isinstance(error, tinker.APIConnectionError):
        return ServerGoneError(f"{stage}: the connection to {probe.base_url} was lost: {detail}")
    if _CANNOT_SAMPLE.search(detail):
        return UnsupportedError(f"{stage}: this server does not sample ({detail}).\nGive it a saved batch with --batch FILE.")
    # What failed in the server may be worded like what fails in reading its answer.
    if not isinstance(error, tinker.RequestFailedError) and _UNREADABLE.search(detail):
        return BenchError(
            f"{stage}: the server at {probe.base_url} sent an answer that is none of Tinker's: {detail}\n"
            "Look whether a proxy answers in its place, and whether it goes with tinker 0.25 (SkyRL 0.4.0 does)."
        )
    return BenchError(f"{stage}: the server at {probe.base_url} failed: {detail}\nIts log has the rest.")


def is_occupied(error: Exception) -> bool:
    """Whether a model could not be created because another one lives on a server that holds one at a time."""
    return bool(_OCCUPIED.search(_searched(error)))


def detail_of(error: Exception) -> str:
    """The server's own words in an SDK error, on one line of bounded length: of a traceback the exception itself."""
    text = _searched(error)
    if found := _WRAPPED.match(text):
        text = found["detail"]
    if found := _DETAIL.search(text):
        text = re.sub(r"\\(?:[nt]|x1b|u001b)", lambda escaped: _ESCAPED[escaped.group()], found["detail"])
    return fault.of_error(text) or type(error).__name__


def _searched(error: Exception) -> str:
    text = str(error)
    half = MAX_SEARCHED // 2
    return text if len(text) <= MAX_SEARCHED else f"{text[:half]}\n{text[-half:]}"
