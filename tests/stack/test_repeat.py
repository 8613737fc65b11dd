"""make bench REPEAT=2 on the CPU stack, the second server killed: the batch stays the same, the failure is a row."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.stack

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "gspo-bench-repeat-test"


@pytest.fixture(scope="module")
def port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


@pytest.fixture(scope="module")
def repeated(tmp_path_factory, port):
    """Both runs: the second one's server is killed after its first pair of steps."""
    results = tmp_path_factory.mktemp("repeat") / "results"
    settings = {"COMPOSE_PROJECT_NAME": PROJECT, "RESULTS": str(results), "PORT": port, "STACK": "cpu", "STEPS": "4"}
    environment = {**os.environ, **settings, "REPEAT": "2", "BENCH_ARGS": "--floor-steps 0"}
    lines = []
    with subprocess.Popen(
        ["docker/bench.sh"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        for line in running.stdout:
            lines.append(line)
            second = lines[next((n for n, said in enumerate(lines) if said.startswith("Run 2 of 2")), len(lines)) :]
            if "step: two-pass" in line and second and sum("step: two-pass" in said for said in second) == 1:
                kill_server()
    yield running.returncode, "".join(lines), results
    subprocess.run(
        ["docker", "compose", "down", "--volumes", "--remove-orphans"], cwd=ROOT, env=environment, capture_output=True, check=False
    )


def kill_server():
    labels = [f"label=com.docker.compose.project={PROJECT}", "label=com.docker.compose.service=server"]
    filters = [part for label in labels for part in ("--filter", label)]
    found = subprocess.run(["docker", "ps", "--quiet", *filters], capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(["docker", "kill", *found], capture_output=True, check=True)


@pytest.fixture(scope="module")
def document(repeated):
    _, said, results = repeated
    assert (results / "last_repeat.json").exists(), said
    return json.loads((results / "last_repeat.json").read_text())


def test_the_run_that_failed_is_a_row_and_the_one_before_it_is_kept(repeated, document):
    code, said, results = repeated
    assert code == 3, said
    assert [row["status"] for row in document["runs"]] == ["complete", "partial"]
    assert (document["between"]["n"], document["runs"][0]["saving_median_pct"]) == (1, document["between"]["saving_mean_pct"])
    for row in document["runs"]:
        assert json.loads((results / row["file"]).read_text())["kind"] == "gspo-bench"


def test_both_runs_took_the_same_batch(repeated, document):
    _, _, results = repeated
    hashes = {json.loads((results / row["file"]).read_text())["batch"]["sha256"] for row in document["runs"]}
    assert len(hashes) == 1


def test_the_table_and_the_page_show_both(repeated):
    _, said, results = repeated
    assert "2 runs, each on a fresh server" in said
    page = (results / "report.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert "Again, on fresh servers" in page and "1 of 2 runs did not finish with a valid saving, and is not counted" in page


def test_a_number_of_runs_that_is_none_is_wrong_usage(tmp_path):
    settings = {**os.environ, "RESULTS": str(tmp_path), "REPEAT": "many"}
    ended = subprocess.run(["docker/bench.sh"], cwd=ROOT, env=settings, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.splitlines()[0]) == (2, "REPEAT is 'many'.")
