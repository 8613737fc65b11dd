"""Where rows go besides metrics.jsonl: TensorBoard, where it is asked for."""

from pathlib import Path
from typing import Any

from bench.errors import InputError
from bench.learn.metrics import Row


class Sink:
    """Writes each row's numbers as TensorBoard scalars below a folder; without a folder it does nothing.

    Raises:
        InputError: the writer's package is missing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._writer: Any = None
        if folder is None:
            return
        try:
            import tensorboardX
        except ModuleNotFoundError as error:
            raise InputError("--tensorboard needs the package tensorboardX: pip install tensorboardX, or leave it out.") from error
        # Its own thread writes, at once.
        self._writer = tensorboardX.SummaryWriter(str(folder), max_queue=1, flush_secs=0)

    def write(self, row: Row) -> None:
        if self._writer is None:
            return
        for key, value in row.items():
            if key != "step" and value is not None:
                self._writer.add_scalar(key, value, row["step"])

    def close(self) -> None:
        """Waits until all is written."""
        if self._writer is not None:
            self._writer.close()
