"""Rows as TensorBoard scalars."""

import struct
from pathlib import Path

import pytest

from bench.learn.sinks import Sink


def test_each_number_of_a_row_is_a_scalar_of_its_step(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    from tensorboardX.proto.event_pb2 import Event

    sink = Sink(tmp_path)
    sink.write({"step": 0, "env/all/correct": 0.25, "optim/grad_norm": None})
    sink.write({"step": 1, "env/all/correct": 0.75, "optim/grad_norm": 1.5})
    sink.close()
    (path,) = tmp_path.iterdir()
    content, found = path.read_bytes(), []
    while content:
        # A record: its length, the length's checksum, the event, its checksum.
        (length,) = struct.unpack("<Q", content[:8])
        event = Event.FromString(content[12 : 12 + length])
        found += [(value.tag, event.step, value.simple_value) for value in event.summary.value]
        content = content[12 + length + 4 :]
    assert found == [("env/all/correct", 0, 0.25), ("env/all/correct", 1, 0.75), ("optim/grad_norm", 1, 1.5)]


def test_without_a_folder_nothing_is_imported_or_written() -> None:
    sink = Sink(None)
    sink.write({"step": 0, "env/all/correct": 0.25})
    sink.close()
