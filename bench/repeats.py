"""The same benchmark on fresh servers, one after the other: how far their savings lie apart, beside each run's own interval."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bench import environment, path_names
from bench.compare import changes
from bench.compare.differences import differences
from bench.errors import CompareError
from bench.result_file import ResultFile

SCHEMA = 1
KIND = "gspo-bench-repeat"
LAST = "last_repeat.json"
COMPLETE, PARTIAL, FAILED = "complete", "partial", "failed"
# What makes it another measurement rather than the same again.
MUST_AGREE = (
    "settings.",
    "client.image",
    "server.image",
    "server.backend",
    "server.preset",
    "server.versions",
    "server.gpus",
    "server.weights",
)


@dataclass(frozen=True)
class Run:
    """One run. `file` stands in the document; a run without a result has None for both, and `exit_code` says how it ended."""

    file: str | None
    result: ResultFile | None
    exit_code: int | None = None


def document(runs: Sequence[Run], not_tried: int = 0, why: str | None = None) -> dict[str, Any]:
    """The repeat file's content: every run as a row, and over the complete ones the spread between beside the spread within.

    After these, `not_tried` more were asked for and not tried, for the reason `why`.

    A run that ended early is a row that says so and is not counted: what stopped it may have slowed it before. One that is not valid is
    not counted either.

    Raises:
        CompareError: two runs took another batch or model, so that their difference is not the servers'.
    """
    results = [run.result for run in runs if run.result and run.result.paths]
    for other in results[1:]:
        if refused := changes.refusals(results[0], other):
            raise CompareError(
                f"{results[0].name} and {other.name} are no repeat of each other: {'; '.join(refused)}.\n"
                "Give runs of one model on one batch: bench run --batch takes it again."
            )
    rows = [_row(run) for run in runs]
    first = results[0] if results else None
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "model": first.model if first else None,
        "gpu": environment.gpu_name(first.server.values or None) if first else None,
        "batch": {"sha256": first.batch.text("sha256") if first else None},
        "runs": rows,
        "not_tried": not_tried,
        "not_tried_reason": why,
        **_spread([row for row in rows if row["status"] == COMPLETE and row["saving_median_pct"] is not None]),
    }


def disagreements(results: Sequence[ResultFile]) -> list[str]:
    """Settings in which a run differs from the first, a line each: then the spread is not the servers' alone."""
    found = []
    for number, other in enumerate(results[1:], start=2):
        names = [row.name for row in differences(results[0], other).rows if row.name.startswith(MUST_AGREE)]
        if names:
            found.append(f"result {number} differs from the first in {', '.join(names[:6])}{' and more' if len(names) > 6 else ''}")
    return found


def _row(run: Run) -> dict[str, Any]:
    result = run.result
    if result is None:
        reason = f"no result; it ended with exit code {run.exit_code}"
        return _entry(None, FAILED, reason) | {"exit_code": run.exit_code}
    saving = result.comparison(path_names.TWO_PASS, path_names.NATIVE)
    native, two_pass = (result.path(name) for name in (path_names.NATIVE, path_names.TWO_PASS))
    finished = PARTIAL if result.partial else COMPLETE
    ended = _entry(run.file, FAILED, f"not valid: {result.invalid}") if result.invalid else _entry(run.file, finished, result.reason)
    return ended | {
        "saving_median_pct": saving.median_pct if saving else None,
        "ci_low_pct": saving.ci_low_pct if saving else None,
        "ci_high_pct": saving.ci_high_pct if saving else None,
        "native_1pass_s": native.median_s if native else None,
        "custom_2pass_s": two_pass.median_s if two_pass else None,
        "started_at": result.created_at,
    }


def _entry(file: str | None, status: str, reason: str | None) -> dict[str, Any]:
    numbers = ("saving_median_pct", "ci_low_pct", "ci_high_pct", "native_1pass_s", "custom_2pass_s")
    return {"file": file, "status": status, "reason": reason, **dict.fromkeys(numbers)}


def _spread(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    savings = [row["saving_median_pct"] for row in rows]
    widths = [row["ci_high_pct"] - row["ci_low_pct"] for row in rows if row["ci_low_pct"] is not None and row["ci_high_pct"] is not None]
    return {
        "between": {
            "n": len(savings),
            "saving_mean_pct": statistics.fmean(savings) if savings else None,
            "saving_stdev_pct": statistics.stdev(savings) if len(savings) > 1 else None,
            "saving_low_pct": min(savings, default=None),
            "saving_high_pct": max(savings, default=None),
        },
        "within_ci_width_median_pct": statistics.median(widths) if widths else None,
    }
