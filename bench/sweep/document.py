"""The sweep's file: assembled and written anew after every row, and read again to go on where a sweep ended."""

import hashlib
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.environment import gpu_name
from bench.errors import InputError
from bench.files import read_json, write_json
from bench.sweep.outcome import OK, STATUSES
from bench.sweep.rows import key_of

SCHEMA = 1
KIND = "gspo-bench-sweep"
LAST = "last_sweep.json"
MAX_BYTES = 16 * 1024 * 1024


@dataclass
class Sweep:
    """The rows taken so far, by their settings, and what they have in common, which the first of their servers told.

    `server` is the server's and the client's command but for the rows' settings, folders left out; `server_id` stands for all of it.
    `facts` has the file's model, weights, gpu, backend, batch and environment.
    """

    server: str
    server_id: str
    created_at: str = field(default_factory=lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def batch_sha256(self) -> str | None:
        return (self.facts.get("batch") or {}).get("sha256")

    def document(
        self, order: Sequence[str], best: dict[str, Any] | None, roofline: Any, reason: str | None, not_tried: Sequence[str]
    ) -> dict[str, Any]:
        """The file's content. `order` has the keys of the rows that were planned; others that were taken before follow them.

        `not_tried` has the labels of those that were left since rows before them failed alike at start-up.
        """
        keys = [key for key in order if key in self.rows] + [key for key in self.rows if key not in order]
        return {
            "schema": SCHEMA,
            "kind": KIND,
            "status": "complete" if reason is None else "partial",
            "reason": reason,
            "not_tried": list(not_tried),
            "created_at": self.created_at,
            "server": self.server,
            "server_id": self.server_id,
            **{name: self.facts.get(name) for name in ("model", "weights", "gpu", "backend", "batch")},
            "rows": [self.rows[key] for key in keys],
            "best": best,
            "roofline": roofline,
            "environment": self.facts.get("environment") or {"client": None, "server": None},
        }

    def file_name(self) -> str:
        """The name of its own copy under runs/, which a later sweep does not replace."""
        model = str(self.facts.get("model") or "").rstrip("/").rpartition("/")[2]
        parts = (re.sub(r"[^A-Za-z0-9.-]+", "_", part).strip("_.-")[:60] or "unnamed" for part in (model, str(self.facts.get("gpu") or "")))
        return "-".join([re.sub(r"[^0-9TZ]", "", self.created_at), "sweep", *parts]) + ".json"


def facts_of(document: dict[str, Any] | None, told: dict[str, Any] | None) -> dict[str, Any]:
    """What a row's result file says beyond its times; of a row without one, what its server told."""
    if document is None:
        if told is None:
            return {}
        return _server_facts(told) | {"model": told.get("base_model"), "environment": {"client": None, "server": told}}
    batch = document["batch"]
    environment = document["environment"]
    return _server_facts(environment["server"]) | {
        "model": document["summary"]["model"],
        "batch": {name: batch[name] for name in ("sha256", "sequences", "target_tokens")},
        "environment": {name: environment[name] for name in ("client", "server")},
    }


def _server_facts(server: dict[str, Any] | None) -> dict[str, Any]:
    return {"weights": (server or {}).get("weights"), "gpu": gpu_name(server), "backend": (server or {}).get("backend")}


def save(document: dict[str, Any], results: Path, own_name: str) -> Path:
    """Writes the sweep's own copy and the file that plots take; returns the latter, or the former where the latter stays another sweep's.

    A sweep without a row that went well does not take the place of one that has such a row.
    """
    own, last = results / "runs" / own_name, results / LAST
    write_json(own, document)
    if _stays(results, document):
        return own
    write_json(last, document)
    return last


def _stays(results: Path, document: dict[str, Any]) -> bool:
    if _went_well(document["rows"]):
        return False
    try:
        earlier = load(results)
    except InputError:
        return False
    same = earlier is not None and (earlier.server_id, earlier.created_at) == (document["server_id"], document["created_at"])
    return earlier is not None and not same and _went_well(earlier.rows.values())


def _went_well(rows: Iterable[dict[str, Any]]) -> bool:
    return any(row["status"] == OK for row in rows)


def load(results: Path) -> Sweep | None:
    """The last sweep, None where there is none.

    Raises:
        InputError: the file is there and is no sweep's.
    """
    path = results / LAST
    if not path.exists():
        return None
    found = read_json(path, MAX_BYTES, "sweep's file")
    if not isinstance(found, dict) or found.get("kind") != KIND or found.get("schema") != SCHEMA or not _has_rows(found.get("rows")):
        raise InputError(f"{path} is no file of a sweep that this version wrote.\nMove it away, or start anew with --again.")
    facts = {name: found.get(name) for name in ("model", "weights", "gpu", "backend", "batch", "environment")}
    rows = {key_of(row): row for row in found["rows"]}
    return Sweep(str(found.get("server")), str(found.get("server_id")), str(found.get("created_at")), rows, facts)


def begin(identity: str) -> Sweep:
    """A sweep without rows; `identity` has the server's command and the client's flags in full."""
    words = " ".join(word.rstrip("/").rpartition("/")[2] if word.startswith(("/", ".")) else word for word in identity.split())
    return Sweep(words, hashlib.sha256(identity.encode()).hexdigest()[:16])


def _has_rows(rows: Any) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, dict)
        and isinstance(row.get("backend_config"), dict)
        and row.get("status") in STATUSES
        and (row.get("native_1pass_s") is None or isinstance(row["native_1pass_s"], int | float))
        and isinstance(row.get("native_times", []), list)
        and all(isinstance(time_s, int | float) for time_s in row.get("native_times", []))
        for row in rows
    )
