"""Learning runs of the whole command on a real SkyRL server with the small model that can read."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench.probe import Probe
from tests.server.conftest import RunningServer

pytestmark = pytest.mark.server

ROOT = Path(__file__).parents[2]
# Two problems a step and short answers: few and small shapes to compile.
SMALL = ["--task", "arithmetic", "--groups", "2", "--test-problems", "8", "--lora-rank", "8", "--learning-rate", "1e-3"]
DEADLINE_S = 600.0


def command(server: RunningServer, results: Path, *more: str) -> list[str]:
    base = [sys.executable, "-m", "bench", "learn", "--base-url", server.url, "--tokenizer", str(server.model), "--results", str(results)]
    return [*base, *more]


def learn(server: RunningServer, results: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(server, results, *more), capture_output=True, text=True, cwd=ROOT, timeout=DEADLINE_S, check=False)


def folder_of(results: Path) -> Path:
    return results / str(json.loads((results / "last_learn.json").read_text())["run"])


def rows_of(results: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder_of(results) / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def whole(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four steps without a pause."""
    results = tmp_path_factory.mktemp("whole")
    done = learn(server, results, *SMALL, "--steps", "4", "--test-every", "2", "--checkpoint-every", "2")
    assert done.returncode == 0, done.stderr
    assert "held-out problems of arithmetic are right." in done.stdout
    return results


def test_a_run_is_complete_and_its_rows_make_sense(whole: Path) -> None:
    document = json.loads((folder_of(whole) / "run.json").read_text())
    assert (document["status"], document["weights"], document["loss"]["reduction"]) == (
        "complete",
        "arithmetic",
        "mean over tokens, then over sequences: by the server",
    )
    rows = rows_of(whole)
    assert [row["step"] for row in rows] == [0, 1, 2, 3]
    assert rows[0]["optim/kl_start"] == pytest.approx(0.0, abs=1e-6)  # the first sampling is from the start itself
    assert rows[2]["optim/kl_start"] >= 0.0
    assert [row["step"] for row in rows if "test/env/all/correct" in row] == [0, 2]
    trained = [row for row in rows if row["loss/clip_fraction"] is not None]
    assert trained, "no group of four steps had a signal"
    for row in trained:
        # One update a batch, so the trainer sees what the sampler saw: ratios of 1, nothing clipped.
        assert abs(row["optim/kl_sample_train_v1"]) < 1e-4 and row["loss/clip_fraction"] == 0.0
        assert row["optim/grad_norm"] > 0.0
    assert all(row["time/client"] < 0.1 * row["time/total"] for row in rows)


def test_a_killed_run_goes_on_as_if_it_had_not_been(server: RunningServer, whole: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        command(server, tmp_path, *SMALL, "--steps", "4", "--test-every", "2", "--checkpoint-every", "2"),
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    deadline_s = time.monotonic() + DEADLINE_S
    while not list(tmp_path.glob("runs/*/checkpoint.json")):
        assert process.poll() is None and time.monotonic() < deadline_s
        time.sleep(0.05)
    process.kill()
    process.wait()
    free_place(server)
    resumed = learn(server, tmp_path, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    again, once = rows_of(tmp_path), rows_of(whole)
    assert [row["step"] for row in again] == [0, 1, 2, 3]
    # The same samples and the same updates: weights, optimizer, problems and seeds are what they would have been.
    for key in ("env/all/correct", "tokens/response", "optim/entropy", "optim/grad_norm"):
        assert [row[key] for row in again] == pytest.approx([row[key] for row in once], rel=1e-3), key


def test_sigterm_ends_it_after_a_step_with_a_checkpoint(server: RunningServer, tmp_path: Path) -> None:
    process = subprocess.Popen(
        command(server, tmp_path, *SMALL, "--steps", "50", "--test-every", "0", "--checkpoint-every", "0"),
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline_s = time.monotonic() + DEADLINE_S
    while not any(path.stat().st_size for path in tmp_path.glob("runs/*/metrics.jsonl")):
        assert process.poll() is None and time.monotonic() < deadline_s
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130, errors
    steps = [row["step"] for row in rows_of(tmp_path)]
    assert steps == list(range(len(steps)))
    assert json.loads((folder_of(tmp_path) / "checkpoint.json").read_text())["next_step"] == len(steps)
    assert json.loads((folder_of(tmp_path) / "run.json").read_text())["status"] == "partial"
    assert Probe(server.url).tenants() == []


def free_place(server: RunningServer) -> None:
    """Unloads what the killed client left, which this server with one place would keep for five minutes."""
    probe = Probe(server.url)
    for tenant in probe.tenants() or []:
        answer = probe.post("/api/v1/unload_model", {"model_id": tenant["model_id"]}, timeout_s=10.0)
        probe.post("/api/v1/retrieve_future", {"request_id": answer["request_id"]}, timeout_s=60.0)
