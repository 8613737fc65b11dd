"""What `bench verify` sends, on the fake client; its verdicts are in test_checks.py and on the real server."""

import numpy as np
import pytest

from bench import synthetic
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
