"""What differs between two runs' configurations and environments, as far as both files tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.json_object import LARGEST, JsonObject, one_line
from bench.numbers import GIB, memory, plural
from bench.result_file import ResultFile

MAX_ROWS = 60
MAX_VALUE = 120
NOT_TOLD = "not told"
# What says where a file lay, or follows from what is shown already; used memory is not of the configuration.
SKIPPED = {
    "settings.batch",
    "batch.file",
    "batch.response_lengths",
    "batch.sequences",
    "batch.target_tokens",
    "server.gpus",
    "server.preset_changed",
    "client.peak_memory_bytes",
}


@dataclass(frozen=True)
class Difference:
    """A fact's dotted name and its text in either file."""

    name: str
    a: str
    b: str


@dataclass(frozen=True)
class Differences:
    """`rows` are what both could tell and is not equal; `left_out` counts rows beyond `MAX_ROWS`; `untold` says what a file leaves out."""

    rows: tuple[Difference, ...]
    left_out: int
    a_untold: tuple[str, ...]
    b_untold: tuple[str, ...]


def differences(a: ResultFile, b: ResultFile) -> Differences:
    """Model, batch, settings, server, client and wire pattern, in this order."""
    common = [path.name for path in a.paths if b.path(path.name)]
    a_groups, b_groups = groups(a, common), groups(b, common)
    rows = []
    for name in a_groups:
        ours, theirs = a_groups[name], b_groups[name]
        if ours and theirs:
            rows += _rows(ours, theirs)
    a_untold = tuple(name for name in a_groups if b_groups[name] and not a_groups[name])
    b_untold = tuple(name for name in a_groups if a_groups[name] and not b_groups[name])
    return Differences(tuple(rows[:MAX_ROWS]), max(0, len(rows) - MAX_ROWS), a_untold, b_untold)


def _rows(ours: dict[str, str], theirs: dict[str, str]) -> list[Difference]:
    """What is not equal; a section that one side lacks whole, such as an older file, is one row."""
    rows: dict[str, Difference] = {}
    for key in dict.fromkeys((*ours, *theirs)):
        a, b = ours.get(key, NOT_TOLD), theirs.get(key, NOT_TOLD)
        if a == b:
            continue
        section = ".".join(key.split(".")[:2])
        if section != key and (key not in ours or key not in theirs):
            lacking = ours if key not in ours else theirs
            if not any(name == section or name.startswith(f"{section}.") for name in lacking):
                told = sum(name.startswith(f"{section}.") for name in (*ours, *theirs))
                words = plural(told, "fact")
                rows[section] = Difference(section, *((NOT_TOLD, words) if lacking is ours else (words, NOT_TOLD)))
                continue
        rows[key] = Difference(key, a, b)
    return list(rows.values())


def groups(result: ResultFile, paths: Sequence[str]) -> dict[str, dict[str, str]]:
    """All facts by group, of the paths only those named; a text is equal only for equal facts, a group that is not told is empty."""
    sizes = {"sequences": result.sequences, "target tokens a step": result.tokens_per_step}
    timed = [path for path in result.paths if path.name in paths]
    wire = {f"{path.name}.requests_per_step": path.requests_per_step for path in timed}
    wire |= {f"{path.name}.chunks_per_call": path.chunks_per_call for path in timed}
    return {
        "model": {"model": result.model} if result.model else {},
        "batch size": {name: text_of(value, name) for name, value in sizes.items() if value is not None},
        "batch": _facts("batch", result.batch),
        "settings": _facts("settings", result.settings),
        "server": _gpu_facts(result.server) | _facts("server", result.server),
        "client": _facts("client", result.client),
        "requests": {name: str(count) for name, count in wire.items() if count is not None},
    }


def text_of(value: Any, name: str) -> str:
    """A JSON value in words: bytes in GiB, lists by commas, null as none."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if name.endswith("_bytes") and GIB / 10 <= value <= LARGEST:
            return memory(value)
        # An integer may have more digits than a float can hold.
        return str(int(value)) if abs(value) <= LARGEST and float(value).is_integer() else repr(value)
    if isinstance(value, str):
        return one_line(value) or '""'
    if isinstance(value, list):
        return ", ".join(text_of(item, "") for item in value) or "none"
    return "{" + ", ".join(f"{one_line(key)}: {text_of(item, key)}" for key, item in value.items()) + "}"


def short(text: str) -> str:
    """The text as it may stand in a table's cell; a hash or an image's id by its first digits."""
    bare = text.removeprefix("sha256:")
    if len(bare) == 64 and all(char in "0123456789abcdef" for char in bare):
        return bare[:12]
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 3] + "..."


def _facts(prefix: str, section: JsonObject) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in section.values.items():
        name = f"{prefix}.{one_line(key)}"
        if name in SKIPPED:
            continue
        if isinstance(value, dict):
            found |= _facts(name, section.object(key))
        else:
            found[name] = text_of(value, key)
    return found


def _gpu_facts(server: JsonObject) -> dict[str, str]:
    gpus = server.objects("gpus")
    if not gpus:
        return {"server.gpus": "none"} if "gpus" in server.values else {}
    return {
        "server.gpus": ", ".join(gpu.text("name") or "unnamed" for gpu in gpus),
        "server.gpus.driver": ", ".join(dict.fromkeys(gpu.text("driver") or NOT_TOLD for gpu in gpus)),
        "server.gpus.memory": ", ".join(text_of(gpu.whole("total_bytes"), "total_bytes") for gpu in gpus),
    }
