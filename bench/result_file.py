"""Reading a result file, ours or of the published shape, partial or complete, into what show, compare and export need."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import other_kinds
from bench.errors import InputError
from bench.files import read_json
from bench.json_object import JsonObject, one_line, shown
from bench.result_parts import PATHS, Comparison, Step, TimedPath, Warned, bare_steps, comparison, moment, step, timed_path, warned
from bench.results import SCHEMA

KIND = "gspo-bench"
MAX_RESULT_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 32


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
    name = one_line(str(path))
    if _is_learning_run(path):
        raise InputError(str(other_kinds.refusal(name, "gspo-bench-learn")))
    return of_document(read_json(path, MAX_RESULT_BYTES, "result file"), name)


def of_document(document: Any, name: str) -> ResultFile:
    """The same for a document that is read already; `name` stands in messages."""
    if not isinstance(document, dict):
        raise InputError(f"{name} is not a result file: it holds {shown(document)}, not an object. {other_kinds.RESULT}")
    if _too_deep(document):
        raise InputError(f"{name} is not a result file: it is nested too deeply. {other_kinds.RESULT}")
    if refused := other_kinds.refusal(name, other_kinds.told(document)):
        raise InputError(refused)
    root = JsonObject(name, "", document)
    schema = _schema(root)
    paths = tuple(found for path in PATHS if (found := timed_path(root, path)))
    if not schema and not paths:
        raise InputError(f"{name} is not a result file: it has no schema and none of {', '.join(PATHS)}. {other_kinds.RESULT}")
    summary, batch, environment = root.object("summary"), root.object("batch"), root.object("environment")
    client, server = environment.object("client"), environment.object("server")
    _check(batch, client, server)
    return ResultFile(
        name=name,
        schema=schema,
        partial=root.choice("status", ["complete", "partial"]) == "partial",
        reason=root.text("reason"),
        invalid=_invalid(root),
        created_at=moment(root, "created_at"),
        model=summary.text("model"),
        sequences=_first(summary.whole("batch_seqs"), batch.whole("sequences")),
        tokens_per_step=_first(summary.whole("total_tokens_per_step"), batch.whole("target_tokens")),
        reduction_pct=summary.number("step_time_reduction_pct"),
        verdict=summary.text("verdict"),
        paths=paths,
        comparisons=tuple(comparison(entry) for entry in root.objects("comparisons")),
        steps=tuple(step(entry) for entry in root.objects("steps")) or bare_steps(paths),
        warnings=tuple(warned(entry) for entry in root.objects("warnings")),
        settings=root.object("settings"),
        batch=batch,
        client=client,
        server=server,
        saving_bound_pct=root.object("roofline").number("saving_bound_pct"),
    )


def _is_learning_run(path: Path) -> bool:
    """Whether it is a learning run's folder; its record and its pointer tell their kind themselves."""
    try:
        return (path / "run.json").is_file()
    except OSError:  # such as a name that is too long: the reader says it
        return False


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
        raise InputError(f"{root.file} is not a result file: its kind is {shown(kind)}, not {shown(KIND)}. {other_kinds.RESULT}")
    return schema


def _invalid(root: JsonObject) -> str | None:
    why = root.text("invalid") or root.object("order_check").text("text")
    return (why or "the file does not say why") if root.flag("valid") is False else None


def _check(batch: JsonObject, client: JsonObject, server: JsonObject) -> None:
    """Meets wrong types of what is taken by its name later here, before anything is printed."""
    for key in ("sha256", "tokens_sha256"):
        batch.text(key)
    client.text("image")
    for key in ("image", "cpu", "weights", "preset"):
        server.text(key)
    server.texts("preset_changed")
    for key in ("backend_config", "placement", "versions"):
        server.object(key)
    for gpu in server.objects("gpus"):
        gpu.whole("total_bytes")
        for key in ("name", "driver"):
            gpu.text(key)


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
