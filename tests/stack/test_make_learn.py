"""make learn on the CPU stack: a short run, gone on with on a new server, and ended by Ctrl-C. Imports nothing of this repository."""

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.stack

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "gspo-bench-learn-test"
PNG = b"\x89PNG\r\n\x1a\n"
SMALL = "--groups 2 --group-size 4 --test-every 0 --checkpoint-every 1"


def environment(results, arguments):
    """A project, and so a volume for checkpoints, of its own beside whatever else runs here."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
    settings = {"COMPOSE_PROJECT_NAME": PROJECT, "RESULTS": str(results), "PORT": port, "STACK": "cpu", "LEARN_ARGS": arguments}
    return {**os.environ, **settings}


def make_learn(results, arguments):
    return subprocess.run(
        ["make", "learn"], cwd=ROOT, env=environment(results, arguments), capture_output=True, text=True, timeout=900, check=False
    )


def folder_of(results):
    return results / json.loads((results / "last_learn.json").read_text())["run"]


def steps_of(results):
    return [json.loads(line)["step"] for line in (folder_of(results) / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learn") / "results"
    yield folder
    subprocess.run(
        ["docker", "compose", "down", "--volumes", "--remove-orphans"],
        cwd=ROOT,
        env=environment(folder, ""),
        capture_output=True,
        check=False,
    )


@pytest.fixture(scope="module")
def learnt(results):
    """Two steps, then a third on a new server, from the checkpoint that outlived the first."""
    first = make_learn(results, f"{SMALL} --steps 2")
    assert first.returncode == 0, first.stdout + first.stderr
    assert steps_of(results) == [0, 1]
    second = make_learn(results, "--resume --steps 3")
    assert second.returncode == 0, second.stdout + second.stderr
    return results


def test_a_run_goes_on_after_its_server_has_gone(learnt):
    assert steps_of(learnt) == [0, 1, 2]
    document = json.loads((folder_of(learnt) / "run.json").read_text())
    assert (document["status"], document["task"], document["weights"]) == ("complete", "arithmetic", "arithmetic")
    assert [entry["next_step"] for entry in document["resumed"]] == [2]


def test_the_curve_is_drawn(learnt):
    assert (learnt / "curve_gsm8k_gspo.png").read_bytes().startswith(PNG)


def test_ctrl_c_ends_it_after_a_step_with_a_checkpoint_and_leaves_nothing_running(learnt):
    started_s = time.time()
    # Tests that run in the background ignore it, and so would all that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        ["make", "learn"],
        cwd=ROOT,
        env=environment(learnt, f"{SMALL} --steps 1000"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    before = folder_of(learnt)
    while folder_of(learnt) == before or not (folder_of(learnt) / "metrics.jsonl").exists():
        assert process.poll() is None and time.time() < started_s + 600
        time.sleep(0.2)
    # A terminal's Ctrl-C goes to all processes of its foreground group.
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=300)
    assert "ending after this step, with a checkpoint" in output
    assert json.loads((folder_of(learnt) / "checkpoint.json").read_text())["next_step"] == len(steps_of(learnt))
    assert json.loads((folder_of(learnt) / "run.json").read_text())["status"] == "partial"
    listed = subprocess.run(
        ["docker", "container", "ls", "--all", "--quiet", "--filter", f"label=com.docker.compose.project={PROJECT}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout == ""
