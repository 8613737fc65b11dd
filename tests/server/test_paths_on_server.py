"""The paths, the session and the whole command on a real SkyRL server."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tinker

from bench import datums, gspo, paths, session, synthetic
from bench.batch import FrozenBatch
from bench.clock import Clock
from bench.errors import UnsupportedError
from bench.gspo import Clip
from bench.outputs import logprobs_of
from bench.paths import Native, SdkCustom, StepSetup, TwoPass
from bench.probe import Probe
from bench.session import ModelRequest, open_session
from bench.wait import ResultWaiter
from tests.server.conftest import RunningServer

pytestmark = pytest.mark.server

SEED = 11
RANK = 8
LEARNING_RATE = 3e-3
CLIP = Clip(0.8, 1.2)
ROOT = Path(__file__).parents[2]

Rows = list[npt.NDArray[np.float64]]


def request(wait_for_tenant: bool = False) -> ModelRequest:
    return ModelRequest(None, RANK, SEED, wait_for_tenant)


def quiet(_text: str) -> None:
    pass


def around(server: RunningServer, step: Callable[[StepSetup], object]) -> tuple[Rows, Rows, FrozenBatch]:
    """A new model from the same seed, one step on the off-policy batch: logprobs before, after, and the batch."""
    probe = Probe(server.url)
    wait = ResultWaiter(probe, 120.0, quiet)
    with open_session(probe, wait, request(), quiet) as opened:
        made = synthetic.sequences(seed=1)

        def logprobs() -> Rows:
            data = [datums.forward_datum(sequence) for sequence in made]
            rows = logprobs_of(wait(opened.client.forward(data, "cross_entropy"), "forward"), made, "forward")
            return [row.astype(np.float64) for row in rows]

        before = logprobs()
        batch = FrozenBatch(synthetic.off_policy(made, [row.astype(np.float32) for row in before]), "tiny", "synthetic")
        adam = tinker.AdamParams(learning_rate=LEARNING_RATE, beta1=0.9, beta2=0.95, eps=1e-8)
        step(StepSetup(opened.client, batch, CLIP, adam, False, wait, Clock()))
        return before, logprobs(), batch


def gap(first: Rows, second: Rows) -> float:
    """The largest difference of two sets of logprobs."""
    return max(float(np.abs(one - other).max()) for one, other in zip(first, second, strict=True))


@pytest.fixture(scope="module")
def native(server: RunningServer) -> tuple[Rows, Rows, FrozenBatch]:
    """One fused step."""
    return around(server, Native().step)


def without_weights(setup: StepSetup) -> None:
    """The fused step as it was published: no `weights`, so that the server takes all ones, the prompt included."""
    data = []
    for sequence in setup.batch.sequences:
        datum = datums.gspo_datum(sequence)
        bare = {name: value for name, value in datum.loss_fn_inputs.items() if name != "weights"}
        data.append(tinker.Datum(model_input=datum.model_input, loss_fn_inputs=bare))
    gradient = setup.client.forward_backward(data, paths.GSPO, setup.clip.as_loss_fn_config())
    optimizer = setup.client.optim_step(setup.adam)
    setup.wait(gradient, "forward_backward")
    setup.wait(optimizer, "optim_step")


def test_the_batch_clips_on_both_sides_so_that_the_comparison_says_something(native: tuple[Rows, Rows, FrozenBatch]) -> None:
    before, _, batch = native
    flat = [
        gspo.gives_no_gradient(
            gspo.sequence_log_ratio(row, datums.old_logprobs_T(sequence), datums.mask_T(sequence)), sequence.advantage, CLIP
        )
        for row, sequence in zip(before, batch.sequences, strict=True)
    ]
    # Of each eight: log ratio 0.3 with advantage +1, and -0.3 with -1.
    assert [index for index, is_flat in enumerate(flat) if is_flat] == [1, 5, 9, 13]


def test_two_models_from_one_seed_start_alike_and_one_step_moves_them(
    server: RunningServer, native: tuple[Rows, Rows, FrozenBatch]
) -> None:
    before, after, _ = native
    other_before, other_after, _ = around(server, Native().step)
    assert gap(before, other_before) < 1e-5
    assert gap(before, after) > 1e-2
    assert gap(after, other_after) < 1e-4 * gap(before, after)


def test_fused_and_two_passes_leave_the_same_logprobs(server: RunningServer, native: tuple[Rows, Rows, FrozenBatch]) -> None:
    before, after, _ = native
    _, two_pass, _ = around(server, TwoPass().step)
    assert gap(after, two_pass) < 1e-4 * gap(before, after)


def test_without_weights_the_step_is_another_one(server: RunningServer, native: tuple[Rows, Rows, FrozenBatch]) -> None:
    before, after, _ = native
    _, bare, _ = around(server, without_weights)
    assert gap(after, bare) > 0.2 * gap(before, after)


def test_the_sdks_custom_loss_takes_another_step_on_jax(server: RunningServer, native: tuple[Rows, Rows, FrozenBatch]) -> None:
    """JAX divides by the sum of the weights, which are the gradient here: a known difference, named in the result file."""
    pytest.importorskip("torch")
    before, after, _ = native
    _, custom, _ = around(server, SdkCustom().step)
    assert gap(before, custom) > 0.0
    assert gap(after, custom) > 1e-2 * gap(before, after)


def tenants_in(server: RunningServer, count: int, within_s: float = 10.0) -> list[dict[str, Any]]:
    """The server's tenants, once there are `count`."""
    deadline_s = time.monotonic() + within_s
    while True:
        found = Probe(server.url).tenants()
        assert found is not None
        if len(found) == count or time.monotonic() > deadline_s:
            return found
        time.sleep(0.1)


def test_a_session_gives_its_place_back_also_when_it_is_interrupted(server: RunningServer) -> None:
    probe = Probe(server.url)
    wait = ResultWaiter(probe, 120.0, quiet)
    with pytest.raises(KeyboardInterrupt), open_session(probe, wait, request(), quiet):
        assert len(tenants_in(server, 1)) == 1
        raise KeyboardInterrupt
    assert tenants_in(server, 0) == []


def test_a_second_session_is_told_who_holds_the_server(server: RunningServer) -> None:
    probe = Probe(server.url)
    wait = ResultWaiter(probe, 120.0, quiet)
    with open_session(probe, wait, request(), quiet) as first:
        with pytest.raises(UnsupportedError) as raised, open_session(probe, wait, request(), quiet):
            pass
        assert first.client.model_id in str(raised.value)
        assert "gspo-bench on" in str(raised.value) and "freed in" in str(raised.value)
        assert "--wait-for-tenant" in str(raised.value)
        assert raised.value.exit_code == 4


def test_a_second_session_that_waits_goes_on_when_the_first_ends(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "TENANT_POLL_S", 0.5)
    probe = Probe(server.url)
    wait = ResultWaiter(probe, 120.0, quiet)
    waiting, said, ended = threading.Event(), list[str](), list[str]()

    def say(text: str) -> None:
        said.append(text)
        if "still taken" in text:
            waiting.set()

    def second() -> None:
        with open_session(probe, wait, request(wait_for_tenant=True), say) as opened:
            ended.append(opened.model)

    thread = threading.Thread(target=second, daemon=True)
    with open_session(probe, wait, request(), quiet):
        thread.start()
        assert waiting.wait(60.0), said
        assert ended == []
    thread.join(60.0)
    assert len(ended) == 1
    assert any("Waiting for that" in text for text in said)


def test_the_whole_command_writes_a_complete_file(server: RunningServer, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", "run", "--base-url", server.url, "--tokenizer", str(server.model), "--results", str(tmp_path)]
    command += ["--steps", "4", "--max-tokens", "16", "--prompts-count", "4", "--lora-rank", "8", "--floor-steps", "1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "last_gspo_bench.json").read_text())
    assert (document["schema"], document["status"]) == (1, "complete")
    assert (document["native_1pass"]["n"], document["custom_2pass"]["n"]) == (4, 4)
    assert document["batch"]["sequences"] == 4
    assert all(1 <= length <= 16 for length in document["batch"]["response_lengths"])
    for step in document["steps"]:
        assert sum(step["phases_s"].values()) == pytest.approx(step["step_s"])
    for name, training_requests in (("native_1pass", 2), ("custom_2pass", 3)):
        path = document[name]
        assert sum(path["timeline_mean_s"].values()) == pytest.approx(path["mean_s"])
        assert path["timeline_mean_s"]["unexplained"] <= 0.02 * path["mean_s"]
        assert {"queued", "engine_forward_backward", "engine_optim_step", "fetch"} <= path["timeline_mean_s"].keys()
        assert path["wire_mean"]["training_requests"] == training_requests
        assert path["wire_mean"]["up_bytes"] > 0
        assert path["wire_mean"]["down_bytes"] > 0
    assert "engine_forward" in document["custom_2pass"]["timeline_mean_s"]
    assert "engine_forward" not in document["native_1pass"]["timeline_mean_s"]
    assert document["roofline"]["shape"]["hidden_size"] == document["environment"]["server"]["model_config"]["hidden_size"]
    assert document["environment"]["server"]["backend"] == "jax"
    assert document["environment"]["server"]["weights"] == "arithmetic"
    assert "RANDOM_WEIGHTS" not in [warning["code"] for warning in document["warnings"]]
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("BENCH_RESULT ")]
    assert json.loads(line.removeprefix("BENCH_RESULT ")) == document["summary"]
    assert tenants_in(server, 0) == []
    # The very batch again, without sampling.
    batch = tmp_path / document["batch"]["file"]
    again = subprocess.run(
        [*command, "--batch", str(batch), "--steps", "1"], capture_output=True, text=True, cwd=ROOT, timeout=240, check=False
    )
    assert again.returncode == 0, again.stderr
    assert json.loads((tmp_path / "last_gspo_bench.json").read_text())["batch"]["sha256"] == document["batch"]["sha256"]
