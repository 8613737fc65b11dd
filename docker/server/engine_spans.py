"""When the engine worked on which request: one JSON line each, appended to a file that the API reads. Wraps SkyRL's engine class."""

import json
import os
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

SPANS = "GSPO_BENCH_SPANS"  # the variable that names the file


class SpanLog:
    """Appends spans: request ids, and Unix times in seconds of the start and the end of the work on them."""

    def __init__(self, path: Path, now_s: Callable[[], float] = time.time) -> None:
        self._file = path.open("a", buffering=1, encoding="ascii")
        self._now_s = now_s

    def around[T](self, request_ids: list[int], work: Callable[[], T]) -> T:
        """Does the work and writes its span, also where it raises."""
        start_s = self._now_s()
        try:
            return work()
        finally:
            self._file.write(json.dumps({"ids": request_ids, "start_s": start_s, "end_s": self._now_s()}) + "\n")


def install(engine_class: Any, log: SpanLog) -> None:
    """Makes the engine write a span for each batch and each single request. Raises ImportError for an engine of another shape."""
    names = ("process_batch_requests", "process_single_requests", "process_single_request")
    missing = [name for name in names if not callable(getattr(engine_class, name, None))]
    if missing:
        raise ImportError(f"SkyRL's engine has no {missing[0]}.")
    batch, singles, single = (getattr(engine_class, name) for name in names)
    at_work: deque[int] = deque()  # single requests come one by one in the order of their dict, without their ids

    def process_batch_requests(self: Any, requests: Any, processor: Any, *args: Any, **kwargs: Any) -> Any:
        def timed(group: dict[str, Any]) -> Any:
            return log.around([int(key) for key in group], lambda: processor(group))

        return batch(self, requests, timed, *args, **kwargs)

    def process_single_requests(self: Any, requests: dict[str, Any]) -> Any:
        at_work.clear()
        at_work.extend(int(key) for key in requests)
        return singles(self, requests)

    def process_single_request(self: Any, *args: Any, **kwargs: Any) -> Any:
        ids = [at_work.popleft()] if at_work else []
        return log.around(ids, lambda: single(self, *args, **kwargs))

    for name, wrapped in zip(names, (process_batch_requests, process_single_requests, process_single_request), strict=True):
        setattr(engine_class, name, wrapped)


def log_from_environment() -> SpanLog | None:
    """The log that the API asked for, or None."""
    path = os.environ.get(SPANS)
    return SpanLog(Path(path)) if path else None


class SpanReader:
    """Reads what was appended since its last look: request id -> (start, end) in Unix seconds. Keeps the newest `keep`."""

    def __init__(self, path: Path, keep: int = 4096) -> None:
        self._path = path
        self._keep = keep
        self._offset = 0
        self._spans: dict[int, tuple[float, float]] = {}

    def spans(self) -> dict[int, tuple[float, float]]:
        """All spans that it keeps, the newly written among them; a line that is half written is left for the next look."""
        if self._path.exists():
            with self._path.open("rb") as file:
                file.seek(self._offset)
                whole, newline, _torn = file.read().rpartition(b"\n")
            self._offset += len(whole) + len(newline)
            for line in whole.splitlines():
                span = json.loads(line)
                self._spans |= dict.fromkeys(span["ids"], (span["start_s"], span["end_s"]))
            for old in list(self._spans)[: max(0, len(self._spans) - self._keep)]:
                del self._spans[old]
        return self._spans
