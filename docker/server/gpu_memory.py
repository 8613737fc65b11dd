"""The most memory that each GPU had in use, by the device's own counter, while this server ran: a thread looks ten times a second."""

import threading
from collections.abc import Callable
from typing import Any

LOOK_EVERY_S = 0.1


class PeakMemory:
    """Watches what `look` returns: for each GPU an object with `used_bytes`."""

    def __init__(self, look: Callable[[], list[dict[str, Any]]]) -> None:
        self._look = look
        self._peaks_bytes: dict[int, int] = {}
        self._stop = threading.Event()

    def start(self) -> None:
        """Starts to watch, where the look finds a GPU."""
        try:
            found = self._look()
        except Exception:  # no driver or no library for it: each with an error of its own
            return
        if found:
            threading.Thread(target=self._watch, name="gpu-memory", daemon=True).start()

    def stop(self) -> None:
        """Ends the watch."""
        self._stop.set()

    def with_peaks(self, gpus: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The GPUs with `peak_bytes` since the start added to each, at least what is in use now."""
        self._take(gpus)
        return [gpu | {"peak_bytes": self._peaks_bytes[index]} for index, gpu in enumerate(gpus)]

    def _take(self, gpus: list[dict[str, Any]]) -> None:
        for index, gpu in enumerate(gpus):
            self._peaks_bytes[index] = max(self._peaks_bytes.get(index, 0), int(gpu["used_bytes"]))

    def _watch(self) -> None:
        while not self._stop.wait(LOOK_EVERY_S):
            self._take(self._look())
