"""What the SDK raises, as one or two lines that say what the server answered and what to do."""

import re

import tinker

from bench.errors import BenchError, ServerGoneError, UnsupportedError
from bench.json_object import one_line
from bench.probe import Probe

MAX_DETAIL = 300
# Of what a server answers, which may be a page of HTML or a whole batch.
MAX_SEARCHED = 20_000

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
    if _UNREADABLE.search(detail):
        return BenchError(
            f"{stage}: the server at {probe.base_url} sent an answer that is none of Tinker's: {detail}\n"
            "Look whether a proxy answers in its place, and whether it goes with tinker 0.25 (SkyRL 0.4.0 does)."
        )
    return BenchError(f"{stage}: the server at {probe.base_url} failed: {detail}")


def is_occupied(error: Exception) -> bool:
    """Whether a model could not be created because another one lives on a server that holds one at a time."""
    return bool(_OCCUPIED.search(str(error)[:MAX_SEARCHED]))


def detail_of(error: Exception) -> str:
    """The server's own words in an SDK error, on one line of bounded length."""
    text = str(error)[:MAX_SEARCHED]
    if found := re.search(r"['\"]detail['\"]: *(?P<quote>['\"])(?P<detail>.*?)(?P=quote)\}", text, re.DOTALL):
        text = found["detail"]
    text = one_line(text) or type(error).__name__
    return text if len(text) <= MAX_DETAIL else text[: MAX_DETAIL - 1] + "…"
