"""What a run says while it runs: a live line with rich on a terminal, plain lines elsewhere. All of it goes to stderr."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from bench import path_names
from bench.json_object import printable
from bench.measure import StepRecord
from bench.numbers import duration


class Reporter:
    """Says what happens. Use as a context manager; `total_steps` starts the bar."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self._start_s = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._progress is not None:
            self._progress.stop()

    def say(self, text: str) -> None:
        """One line, with the seconds since the run began."""
        self.console.print(f"[{time.monotonic() - self._start_s:6.1f} s] {printable(text)}", markup=False)

    def start_steps(self, total: int) -> None:
        """Before the first step; `total` counts warm-ups too."""
        if not self.console.is_terminal:
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=self.console, transient=True)
        self._progress.start()
        self._task = self._progress.add_task("steps", total=total)

    def step(self, record: StepRecord) -> None:
        """After each step."""
        kind = "not counted, a request was sent again" if record.reason else "step" if record.counted else "warm-up"
        text = f"{kind}: {path_names.label(record.path)} {duration(record.step_s)}"
        if self._progress is None or self._task is None:
            self.say(text)
        else:
            self._progress.update(self._task, advance=1, description=f"{text:<34}")
