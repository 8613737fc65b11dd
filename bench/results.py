"""The result file: assembled from what was measured so far, so that a partial run's file is as valid as a complete one's."""

import re
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import path_names, run_warnings
from bench.batch import FrozenBatch
from bench.environment import gpu_name
from bench.files import write_json
from bench.measure import StepRecord
from bench.run_warnings import RunWarning
from bench.stats import CI_LEVEL, METHOD, Saving, counted_times, path_times, saving
from bench.verdict import verdict

SCHEMA = 1
LAST = "last_gspo_bench.json"
# Phases that are the client's own work rather than the wire's or the server's.
CLIENT_PHASES = ("encode", "weights", "submit")


@dataclass(frozen=True)
class RunFacts:
    """All that a result file says besides the steps. `arms` are the paths that were asked for, the control included, in order."""

    model: str
    batch: FrozenBatch
    batch_file: str
    arms: tuple[str, ...]
    requests: dict[str, int]
    chunks: int
    settings: dict[str, Any]
    floor_s: dict[str, list[float]]
    client: dict[str, Any]
    server: dict[str, Any] | None
    memory: list[dict[str, Any]]
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    extra_warnings: tuple[RunWarning, ...] = ()


def assemble(facts: RunFacts, records: Sequence[StepRecord], reason: str | None) -> dict[str, Any]:
    """The result document. `reason` is None for a complete run, else why it is partial."""
    names = [name for name in facts.arms if counted_times(records, name)]
    comparisons = compare(facts, records)
    found = all_warnings(facts, records, comparisons)
    return {
        "schema": SCHEMA,
        "kind": "gspo-bench",
        "status": "complete" if reason is None else "partial",
        "reason": reason,
        "created_at": facts.created_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        **{name: _path_entry(name, facts, records) for name in names},
        "summary": _summary(facts, records, comparisons),
        "comparisons": [_comparison_entry(entry) for entry in comparisons],
        "floor": {name: {"median_s": statistics.median(times), "times": times} for name, times in facts.floor_s.items()} or None,
        "steps": [asdict(record) for record in records],
        "warnings": [asdict(entry) for entry in found],
        "settings": facts.settings,
        "batch": facts.batch.facts() | {"file": facts.batch_file},
        "environment": {"client": facts.client, "server": facts.server, "memory": facts.memory},
    }


def compare(facts: RunFacts, records: Sequence[StepRecord]) -> list[Saving]:
    """Every comparison that the steps allow: the headline first, then the SDK's custom loss, then the control."""
    wanted = [(path_names.TWO_PASS, path_names.NATIVE), (path_names.SDK_CUSTOM, path_names.NATIVE), (path_names.NATIVE, path_names.CONTROL)]
    seed = int(facts.settings["seed"])
    found = [saving(records, baseline, candidate, seed) for baseline, candidate in wanted]
    return [entry for entry in found if entry is not None]


def all_warnings(facts: RunFacts, records: Sequence[StepRecord], comparisons: Sequence[Saving]) -> list[RunWarning]:
    """What speaks against the numbers, found anew from the steps."""
    by_pair = {(entry.baseline, entry.candidate): entry for entry in comparisons}
    medians_s = {name: statistics.median(times) for name in facts.arms if (times := counted_times(records, name))}
    floor_s = {name: statistics.median(times) for name, times in facts.floor_s.items()}
    return [
        *facts.extra_warnings,
        *run_warnings.of_saving(by_pair.get((path_names.TWO_PASS, path_names.NATIVE)), facts.settings["order"], records),
        *run_warnings.of_control(by_pair.get((path_names.NATIVE, path_names.CONTROL))),
        *run_warnings.of_steps(records, facts.arms),
        *run_warnings.of_floor(floor_s, medians_s),
    ]


def file_name(facts: RunFacts) -> str:
    """The name of the run's own file."""
    return run_name(facts.created_at, short_name(facts.model), facts.server)


def short_name(model: str) -> str:
    """A model's name without its owner or folder."""
    return model.rstrip("/").rsplit("/", 1)[-1]


def run_name(created_at: datetime, title: str, server: dict[str, Any] | None) -> str:
    """`<time>-<title>-<gpu>.json`, safe for any file system."""
    stamp = created_at.strftime("%Y%m%dT%H%M%SZ")
    parts = (re.sub(r"[^A-Za-z0-9.-]+", "_", part).strip("_.-")[:60] or "unnamed" for part in (title, gpu_name(server)))
    return "-".join([stamp, *parts]) + ".json"


def save(document: dict[str, Any], folder: Path, name: str, last: bool) -> Path:
    """Writes the run's own file, and with `last` the one that the plots take too. Returns the run's own."""
    own = folder / "runs" / name
    write_json(own, document)
    if last:
        write_json(folder / LAST, document)
    return own


def _path_entry(name: str, facts: RunFacts, records: Sequence[StepRecord]) -> dict[str, Any]:
    times = path_times(counted_times(records, name))
    phases = [record.phases_s for record in records if record.counted and record.path == name]
    means = {phase: statistics.fmean(entry.get(phase, 0.0) for entry in phases) for phase in phases[0]}
    return {
        "mean_s": times.mean_s,
        "stdev_s": times.stdev_s,
        "median_s": times.median_s,
        "tokens_per_s": facts.batch.target_tokens / times.mean_s,
        "times": list(times.times_s),
        "n": len(times.times_s),
        "requests_per_step": facts.requests[name],
        "chunks_per_call": facts.chunks,
        "phases_mean_s": means,
        "client_overhead_s": sum(seconds for phase, seconds in means.items() if phase in CLIENT_PHASES),
    }


def _summary(facts: RunFacts, records: Sequence[StepRecord], comparisons: Sequence[Saving]) -> dict[str, Any]:
    native, two_pass = (counted_times(records, name) for name in (path_names.NATIVE, path_names.TWO_PASS))
    reduction = gain = None
    if native and two_pass:
        native_s, two_pass_s = statistics.fmean(native), statistics.fmean(two_pass)
        reduction, gain = 100.0 * (1.0 - native_s / two_pass_s), 100.0 * (two_pass_s / native_s - 1.0)
    return {
        "model": facts.model,
        "batch_seqs": len(facts.batch.sequences),
        "total_tokens_per_step": facts.batch.target_tokens,
        "step_time_reduction_pct": reduction,
        "throughput_gain_pct": gain,
        "verdict": verdict(comparisons),
    }


def _comparison_entry(entry: Saving) -> dict[str, Any]:
    return {
        "baseline": entry.baseline,
        "candidate": entry.candidate,
        "saving_median_pct": entry.median_pct,
        "ci_low_pct": entry.ci_low_pct,
        "ci_high_pct": entry.ci_high_pct,
        "ci_level": CI_LEVEL,
        "method": METHOD,
        "pairs": entry.pairs,
        "faster_in": entry.faster_in,
        "savings_pct": list(entry.savings_pct),
    }
