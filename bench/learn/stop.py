"""Ctrl-C and SIGTERM while a run learns: the first ends it after the step in hand, the second at once."""

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self


class StopAfterStep:
    """Use as a context manager around the steps; `requested` says whether to end."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self.requested = False

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._on_signal) for number in self.SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        self._say("ending after this step, with a checkpoint; once more ends at once")
