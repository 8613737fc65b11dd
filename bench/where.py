"""Where a step goes, in a line a path, and what its arithmetic alone would take: what is printed under a result's table."""

from bench import path_names
from bench.numbers import duration, percent, share
from bench.result_file import ResultFile
from bench.result_parts import TimedPath
from bench.timeline import CLIENT_WORK, ENGINE, UNEXPLAINED

SHARES = (
    ("the server's engine", lambda phase: phase.startswith(ENGINE)),
    ("queued", lambda phase: phase == "queued"),
    ("on the wire and waiting to be fetched", lambda phase: phase in ("submit", "fetch")),
    ("the client without its hand-over", lambda phase: phase in CLIENT_WORK),
    ("unexplained", lambda phase: phase == UNEXPLAINED),
)
LEAST_REST = 1e-4  # of a step; less is rounding


def lines(result: ResultFile) -> list[str]:
    """One line for each path that the server kept a record of; then one for the arithmetic, where the file knows it."""
    shown = [path for path in result.paths if path.name != path_names.CONTROL]
    found = [_goes(path) for path in shown if path.timeline_mean_s]
    native = result.path(path_names.NATIVE)
    return found + ([_arithmetic(native, result)] if native and result.saving_bound_pct is not None else [])


def _goes(path: TimedPath) -> str:
    rest_s = path.mean_s - sum(seconds for _, seconds in path.timeline_mean_s)
    phases = [*path.timeline_mean_s, *([(UNEXPLAINED, rest_s)] if rest_s > LEAST_REST * path.mean_s else [])]
    parts = []
    for words, belongs in SHARES:
        seconds = sum(seconds for phase, seconds in phases if belongs(phase))
        parts.append(f"{share(seconds / path.mean_s)} {words}")
    return f"Where the {path_names.label(path.name)} step goes: {', '.join(parts)}."


def _arithmetic(native: TimedPath, result: ResultFile) -> str:
    saving = f"If arithmetic were all, the saving would be {percent(result.saving_bound_pct or 0.0)}"
    if native.floor_s is None or native.mfu_pct is None:
        return f"{saving}; this device's rate is not known (--peak-tflops)."
    used = f"{share(native.mfu_pct / 100)} of the device's peak is used"
    return f"The fused step's arithmetic alone would take {duration(native.floor_s)} ({used}). {saving}."
