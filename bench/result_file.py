"""Reading a result file, ours or of the published shape, partial or complete, into what show, compare and export need."""

import statistics
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bench import path_names
from bench.errors import InputError
from bench.files import read_json
from bench.json_object import JsonObject, one_line, shown
from bench.results import SCHEMA

KIND = "gspo-bench"
PATHS = (path_names.NATIVE, path_names.CONTROL, path_names.TWO_PASS, path_names.SDK_CUSTOM)
MAX_RESULT_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 32
# Outside of these a step's time is a mistake in the file.
SHORTEST_STEP_S, LONGEST_STEP_S = 1e-9, 1e9


@dataclass(frozen=True)
class TimedPath:
    """A path's counted steps, seconds, in execution order, and what the file says of them; None where it does not.

    `timeline_mean_s` is its step by phases, `floor_s` and `mfu_pct` are what its arithmetic alone would take and the share of the device's
    rate that it reached.
    """

    name: str
    times_s: tuple[float, ...]
    count: int | None
    mean_s: float
    median_s: float | None
    stdev_s: float | None
    tokens_per_s: float | None
    client_overhead_s: float | None
    requests_per_step: int | None
    chunks_per_call: int | None
    timeline_mean_s: tuple[tuple[str, float], ...] = ()
    floor_s: float | None = None
    mfu_pct: float | None = None


@dataclass(frozen=True)
class Comparison:
    """The file's own saving of one path over another, percent; `savings_pct` has one entry a pair."""

    baseline: str
    candidate: str
    median_pct: float | None
    ci_low_pct: float | None
    ci_high_pct: float | None
    savings_pct: tuple[float, ...]


@dataclass(frozen=True)
class Step:
    """One step as taken, warm-ups (`counted` False) too. Of the published shape only the path and the time are known.

    `phases_s` are by the client's clock alone, `timeline_s` by both clocks; `wire` counts requests and body bytes. Older files lack these.
    """

    path: str
    step_s: float
    counted: bool
    round: int | None = None
    position: int | None = None
    started_at: str | None = None
    pause_s: float | None = None
    phases_s: tuple[tuple[str, float], ...] = ()
    timeline_s: tuple[tuple[str, float], ...] = ()
    wire: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Warned:
    """A warning that the run stored."""

    code: str
    text: str
    action: str
    unstable: bool


@dataclass(frozen=True)
class ResultFile:
    """One result file. `schema` is 0 for the published shape; the objects are as in the file, empty where it has none.

    `invalid` says why its numbers are not those of the training that was asked for; None where nothing is known against that.
    """

    name: str
    schema: int
    partial: bool
    reason: str | None
    invalid: str | None
    created_at: str | None
    model: str | None
    sequences: int | None
    tokens_per_step: int | None
    reduction_pct: float | None
    verdict: str | None
    paths: tuple[TimedPath, ...]
    comparisons: tuple[Comparison, ...]
    steps: tuple[Step, ...]
    warnings: tuple[Warned, ...]
    settings: JsonObject
    batch: JsonObject
    client: JsonObject
    server: JsonObject
    saving_bound_pct: float | None = None

    def path(self, name: str) -> TimedPath | None:
        return next((path for path in self.paths if path.name == name), None)

    def comparison(self, baseline: str, candidate: str) -> Comparison | None:
        return next((entry for entry in self.comparisons if (entry.baseline, entry.candidate) == (baseline, candidate)), None)


def read(path: Path) -> ResultFile:
    """Reads a result file of any schema up to ours.

    Raises:
        InputError: it is missing, unreadable, too large or no result file; the message names the value that is wrong.
    """
    return of_document(read_json(path, MAX_RESULT_BYTES, "result file"), one_line(str(path)))


def of_document(document: Any, name: str) -> ResultFile:
    """The same for a document that is read already; `name` stands in messages."""
    if not isinstance(document, dict):
        raise InputError(f"{name} is not a result file: it holds {shown(document)}, not an object.")
    if _too_deep(document):
        raise InputError(f"{name} is not a result file: it is nested too deeply.")
    root = JsonObject(name, "", document)
    schema = _schema(root)
    paths = tuple(found for path in PATHS if (found := _timed_path(root, path)))
    if not schema and not paths:
        raise InputError(f"{name} is not a result file: it has no schema and none of {', '.join(PATHS)}.")
    summary, batch, environment = root.object("summary"), root.object("batch"), root.object("environment")
    client, server = environment.object("client"), environment.object("server")
    _check(batch, client, server)
    return ResultFile(
        name=name,
        schema=schema,
        partial=root.choice("status", ["complete", "partial"]) == "partial",
        reason=root.text("reason"),
        invalid=_invalid(root),
        created_at=_moment(root, "created_at"),
        model=summary.text("model"),
        sequences=_first(summary.whole("batch_seqs"), batch.whole("sequences")),
        tokens_per_step=_first(summary.whole("total_tokens_per_step"), batch.whole("target_tokens")),
        reduction_pct=summary.number("step_time_reduction_pct"),
        verdict=summary.text("verdict"),
        paths=paths,
        comparisons=tuple(_comparison(entry) for entry in root.objects("comparisons")),
        steps=tuple(_step(entry) for entry in root.objects("steps")) or _bare_steps(paths),
        warnings=tuple(_warned(entry) for entry in root.objects("warnings")),
        settings=root.object("settings"),
        batch=batch,
        client=client,
        server=server,
        saving_bound_pct=root.object("roofline").number("saving_bound_pct"),
    )


def _schema(root: JsonObject) -> int:
    if "schema" not in root.values:
        return 0
    schema = root.whole("schema")
    if not schema:
        root.fail("schema", f"a whole number from 1 to {SCHEMA}")
    if schema > SCHEMA:
        raise InputError(f"{root.file} has schema {schema} and this version reads up to {SCHEMA}: use a newer gspo-bench.")
    kind = root.text("kind")
    if kind != KIND:
        raise InputError(f"{root.file} is not a result file: its kind is {shown(kind)}, not {shown(KIND)}.")
    return schema


def _invalid(root: JsonObject) -> str | None:
    why = root.object("order_check").text("text")
    return (why or "the file does not say why") if root.flag("valid") is False else None


def _check(batch: JsonObject, client: JsonObject, server: JsonObject) -> None:
    """Meets wrong types of what is taken by its name later here, before anything is printed."""
    for key in ("sha256", "tokens_sha256"):
        batch.text(key)
    client.text("image")
    for key in ("image", "cpu", "weights"):
        server.text(key)
    for key in ("backend_config", "placement", "versions"):
        server.object(key)
    for gpu in server.objects("gpus"):
        gpu.whole("total_bytes")
        for key in ("name", "driver"):
            gpu.text(key)


def _timed_path(root: JsonObject, name: str) -> TimedPath | None:
    entry = root.object(name)
    times_s = entry.numbers("times", SHORTEST_STEP_S, LONGEST_STEP_S)
    mean_s = entry.number("mean_s", SHORTEST_STEP_S, LONGEST_STEP_S)
    if mean_s is None and not times_s:
        return None
    median_s = entry.number("median_s", SHORTEST_STEP_S, LONGEST_STEP_S)
    return TimedPath(
        name=name,
        times_s=times_s,
        count=len(times_s) or entry.whole("n"),
        mean_s=statistics.fmean(times_s) if mean_s is None else mean_s,
        median_s=statistics.median(times_s) if median_s is None and times_s else median_s,
        stdev_s=entry.number("stdev_s", 0.0),
        tokens_per_s=entry.number("tokens_per_s", 0.0),
        client_overhead_s=entry.number("client_overhead_s"),
        requests_per_step=entry.whole("requests_per_step"),
        chunks_per_call=entry.whole("chunks_per_call"),
        timeline_mean_s=tuple(entry.named_numbers("timeline_mean_s").items()),
        floor_s=entry.object("utilisation").number("floor_s", 0.0),
        mfu_pct=entry.object("utilisation").number("mfu_pct", 0.0),
    )


def _comparison(entry: JsonObject) -> Comparison:
    return Comparison(
        baseline=entry.text("baseline") or "",
        candidate=entry.text("candidate") or "",
        median_pct=entry.number("saving_median_pct"),
        ci_low_pct=entry.number("ci_low_pct"),
        ci_high_pct=entry.number("ci_high_pct"),
        savings_pct=entry.numbers("savings_pct"),
    )


def _step(entry: JsonObject) -> Step:
    path, step_s = entry.choice("path", PATHS), entry.number("step_s", SHORTEST_STEP_S, LONGEST_STEP_S)
    if path is None:
        entry.fail("path", "the name of a path")
    if step_s is None:
        entry.fail("step_s", "a time in seconds")
    return Step(
        path=path,
        step_s=step_s,
        counted=entry.flag("counted") is not False,
        round=entry.whole("round"),
        position=entry.whole("position"),
        started_at=_moment(entry, "started_at"),
        pause_s=entry.number("pause_s"),
        phases_s=tuple(entry.named_numbers("phases_s").items()),
        timeline_s=tuple(entry.named_numbers("timeline_s").items()),
        wire=tuple(entry.named_numbers("wire").items()),
    )


def _bare_steps(paths: tuple[TimedPath, ...]) -> tuple[Step, ...]:
    return tuple(Step(path.name, time_s, counted=True) for path in paths for time_s in path.times_s)


def _warned(entry: JsonObject) -> Warned:
    code, text, action = (entry.text(key) or "" for key in ("code", "text", "action"))
    return Warned(code, text, action, unstable=entry.flag("unstable") is not False)


def _moment(entry: JsonObject, key: str) -> str | None:
    """A moment as ISO 8601 has it: a text that a spreadsheet cannot take for a formula."""
    text = entry.text(key)
    if text is not None:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            entry.fail(key, "a time such as 2026-11-30T09:00:00Z")
    return text


def _too_deep(document: dict[str, Any]) -> bool:
    level: list[Any] = [document]
    for _ in range(MAX_DEPTH):
        level = [
            item for value in level for item in (value.values() if isinstance(value, dict) else value) if isinstance(item, dict | list)
        ]
        if not level:
            return False
    return True


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
