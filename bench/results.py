"""The result file: assembled from what was measured so far, so that a partial run's file is as valid as a complete one's."""

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import path_names, run_warnings
from bench.batch import FrozenBatch
from bench.checks import Check, Outcome
from bench.environment import gpu_name
from bench.files import write_json, write_new_json
from bench.measure import StepRecord
from bench.projection import PathUse, projection
from bench.roofline import roofline, utilisation
from bench.run_warnings import RunWarning
from bench.stats import CI_LEVEL, METHOD, Saving, counted_times, path_times, saving
from bench.timeline import PHASES
from bench.verdict import verdict

SCHEMA = 1
LAST = "last_gspo_bench.json"
# Phases that are the client's own work rather than the wire's or the server's.
CLIENT_PHASES = ("encode", "decode", "weights", "submit")


@dataclass(frozen=True)
class RunFacts:
    """All that a result file says besides the steps. `arms` are the paths that were asked for, the control included, in order;
    `round_trips` are those of a path's step that follow one another; `order` is None where the server's outputs were not checked,
    `company` where no other client was seen on the server.
    """

    model: str
    batch: FrozenBatch
    batch_file: str
    arms: tuple[str, ...]
    requests: dict[str, int]
    round_trips: dict[str, int]
    chunks: int
    settings: dict[str, Any]
    floor_s: dict[str, list[float]]
    client: dict[str, Any]
    server: dict[str, Any] | None
    memory: list[dict[str, Any]]
    clock: dict[str, float] | None = None
    peak_tflops: float | None = None
    order: Check | None = None
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    extra_warnings: tuple[RunWarning, ...] = ()
    company: str | None = None


def assemble(facts: RunFacts, records: Sequence[StepRecord], reason: str | None) -> dict[str, Any]:
    """The result document. `reason` is None for a complete run, else why it is partial."""
    names = [name for name in facts.arms if counted_times(records, name)]
    comparisons = compare(facts, records)
    found = all_warnings(facts, records, comparisons)
    floor = roofline(
        facts.server, gpu_name(facts.server), _lengths(facts.batch), int(facts.settings["lora_rank"]), names, facts.peak_tflops
    )
    entries = {name: _path_entry(name, facts, records) for name in names}
    invalid = facts.order.text if facts.order and facts.order.outcome is Outcome.FAIL else facts.company
    return {
        "schema": SCHEMA,
        "kind": "gspo-bench",
        "status": "complete" if reason is None else "partial",
        "reason": reason,
        "valid": invalid is None,
        "invalid": invalid,
        "order_check": _order_entry(facts.order),
        "created_at": facts.created_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        **{name: entry | {"utilisation": utilisation(floor, name, entry["median_s"])} for name, entry in entries.items()},
        "summary": _summary(facts, records, comparisons),
        "comparisons": [_comparison_entry(entry) for entry in comparisons],
        "floor": {name: {"median_s": statistics.median(times), "times": times} for name, times in facts.floor_s.items()} or None,
        "roofline": floor,
        "projection": projection(_wire_uses(entries)),
        "clock": facts.clock,
        "steps": [asdict(record) for record in records],
        "warnings": [asdict(entry) for entry in found],
        "settings": facts.settings,
        "batch": facts.batch.facts() | {"file": facts.batch_file},
        "environment": {"client": facts.client, "server": facts.server, "memory": facts.memory},
    }


def _order_entry(check: Check | None) -> dict[str, Any] | None:
    return {"outcome": check.outcome.value, "text": check.text, "numbers": check.numbers} if check else None


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
        *run_warnings.of_company(facts.company),
        *run_warnings.of_saving(by_pair.get((path_names.TWO_PASS, path_names.NATIVE)), facts.settings["order"], records),
        *run_warnings.of_control(by_pair.get((path_names.NATIVE, path_names.CONTROL))),
        *run_warnings.of_repeats(records),
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


def save(document: dict[str, Any], folder: Path, name: str, last: bool, new: bool = False) -> Path:
    """Writes the run's own file, and with `last` the one that the plots take too. Returns the run's own, which `new` gives a free name."""
    own = folder / "runs" / name
    if new:
        own = write_new_json(own, document)
    else:
        write_json(own, document)
    if last:
        write_json(folder / LAST, document)
    return own


def own_file_of_last(folder: Path) -> Path | None:
    """The run's own copy of the file that plots take; None where there is none."""
    try:
        content = (folder / LAST).read_bytes()
        same = (path for path in (folder / "runs").glob("*.json") if path.stat().st_size == len(content) and path.read_bytes() == content)
        return next(same, None)
    except OSError:  # it is only spoken of
        return None


def _path_entry(name: str, facts: RunFacts, records: Sequence[StepRecord]) -> dict[str, Any]:
    times = path_times(counted_times(records, name))
    taken = [record for record in records if record.counted and record.path == name]
    means = _means([record.phases_s for record in taken], list(taken[0].phases_s))
    timelines = [record.timeline_s for record in taken if record.timeline_s is not None]
    # Of failed requests a counted step has none.
    wires = [{name: used for name, used in record.wire.items() if name != "failed_requests"} for record in taken if record.wire is not None]
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
        "timeline_mean_s": _means(timelines, PHASES) if len(timelines) == len(taken) else None,
        "wire_mean": _means(wires, list(wires[0])) | {"round_trips": facts.round_trips[name]} if wires else None,
        "client_overhead_s": sum(seconds for phase, seconds in means.items() if phase in CLIENT_PHASES),
    }


def _means(entries: Sequence[Mapping[str, float]], names: Sequence[str]) -> dict[str, float]:
    """The mean of each name over the entries, 0 where one lacks it; names that none has are left out."""
    return {name: statistics.fmean(entry.get(name, 0.0) for entry in entries) for name in names if any(name in entry for entry in entries)}


def _wire_uses(entries: Mapping[str, dict[str, Any]]) -> dict[str, PathUse]:
    return {
        name: PathUse(entry["mean_s"], wire["up_bytes"] + wire["down_bytes"], wire["round_trips"])
        for name, entry in entries.items()
        if (wire := entry["wire_mean"])
    }


def _lengths(batch: FrozenBatch) -> list[int]:
    return [sequence.target_count for sequence in batch.sequences]


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
