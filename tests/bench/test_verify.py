"""What `bench verify` sends, on the fake client; its verdicts are in test_checks.py and on the real server."""

import json
from pathlib import Path

import numpy as np
import pytest

from bench import synthetic, verify_command
from bench.datums import forward_datum
from bench.gspo import Clip
from bench.verify import Verifier
from tests.bench.fakes import BigramModel, FakeClient, FakeTime


@pytest.mark.parametrize(("devices", "sent"), [(1, [16, 4, 12]), (2, [16, 4, 12]), (8, [16, 8, 24]), (16, [16, 16, 48])])
def test_the_clips_parts_divide_by_the_devices_so_that_no_padding_counts(devices: int, sent: list[int]) -> None:
    client = FakeClient(FakeTime(), model=BigramModel(vocabulary=256))
    made = synthetic.sequences(seed=0)
    rows = [row["logprobs"].to_numpy() for row in client._rows([forward_datum(sequence) for sequence in made]).loss_fn_outputs]
    sequences = synthetic.off_policy(made, [np.asarray(row, dtype=np.float32) for row in rows])
    verifier = Verifier(None, lambda future, stage: future.result(), Clip(), 0.1, 0, lambda text: None, devices)  # type: ignore[arg-type]
    verifier._mask(client, sequences)  # type: ignore[arg-type]
    # Of each 8 synthetic sequences two lie beyond the clip: 1.35 with a positive advantage, 0.74 with a negative one.
    assert [len(data) for data, loss in zip(client.sent, client.losses, strict=True) if loss == "gspo"] == sent


def test_two_files_of_one_second_are_two(tmp_path: Path) -> None:
    document = {"created_at": "2026-11-30T09:00:00Z", "model": "Qwen/toy", "environment": {"server": {"gpus": []}}}
    written = [verify_command._save(document | {"number": number}, tmp_path) for number in (1, 2)]
    assert [path.name for path in written] == ["20261130T090000Z-verify-toy-cpu.json", "20261130T090000Z-verify-toy-cpu-2.json"]
    assert [json.loads(path.read_text())["number"] for path in written] == [1, 2]
