"""The parts of a result file, and how each is read: a path's steps, a comparison, a step as taken, a warning."""

import statistics
from dataclasses import dataclass
from datetime import datetime

from bench import path_names
from bench.json_object import JsonObject

PATHS = (path_names.NATIVE, path_names.CONTROL, path_names.TWO_PASS, path_names.SDK_CUSTOM)
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


def timed_path(root: JsonObject, name: str) -> TimedPath | None:
    """The path of that name; None where it has no timed step, as in a partial run. Raises InputError for a wrong value."""
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
        client_overhead_s=entry.number("client_overhead_s", 0.0),
        requests_per_step=entry.whole("requests_per_step"),
        chunks_per_call=entry.whole("chunks_per_call"),
        timeline_mean_s=tuple(entry.named_numbers("timeline_mean_s").items()),
        floor_s=entry.object("utilisation").number("floor_s", 0.0),
        mfu_pct=entry.object("utilisation").number("mfu_pct", 0.0),
    )


def comparison(entry: JsonObject) -> Comparison:
    """One entry of `comparisons`. Raises InputError for a wrong value."""
    return Comparison(
        baseline=entry.text("baseline") or "",
        candidate=entry.text("candidate") or "",
        median_pct=entry.number("saving_median_pct"),
        ci_low_pct=entry.number("ci_low_pct"),
        ci_high_pct=entry.number("ci_high_pct"),
        savings_pct=entry.numbers("savings_pct"),
    )


def step(entry: JsonObject) -> Step:
    """One entry of `steps`. Raises InputError for a wrong value."""
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
        started_at=moment(entry, "started_at"),
        pause_s=entry.number("pause_s"),
        phases_s=tuple(entry.named_numbers("phases_s").items()),
        timeline_s=tuple(entry.named_numbers("timeline_s").items()),
        wire=tuple(entry.named_numbers("wire").items()),
    )


def bare_steps(paths: tuple[TimedPath, ...]) -> tuple[Step, ...]:
    """The steps of a file that tells only times."""
    return tuple(Step(path.name, time_s, counted=True) for path in paths for time_s in path.times_s)


def warned(entry: JsonObject) -> Warned:
    """One entry of `warnings`. Raises InputError for a wrong value."""
    code, text, action = (entry.text(key) or "" for key in ("code", "text", "action"))
    return Warned(code, text, action, unstable=entry.flag("unstable") is not False)


def moment(entry: JsonObject, key: str) -> str | None:
    """A moment as ISO 8601 has it: a text that a spreadsheet cannot take for a formula."""
    text = entry.text(key)
    if text is not None:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            entry.fail(key, "a time such as 2026-11-30T09:00:00Z")
    return text
