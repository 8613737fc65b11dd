"""`docker compose up` alone, without make, in a clone of root's or another user's: it measures and draws as that user."""

import json
import os
import shutil
import subprocess
import threading

import pytest

from tests.stack.stack import ROOT, container, environment, rights, run

pytestmark = [pytest.mark.stack, pytest.mark.skipif(os.geteuid() != 0, reason="gives folders to other users, which only root can")]

COMPOSE = ("docker", "compose", "--file", "compose.yaml", "--file", "compose.cpu.yaml")
PLOTS_DONE = "plots-1 exited with code"


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The repository's files as a clone of root's has them, with the images built; nothing says whose the results are."""
    folder = tmp_path_factory.mktemp("clone")
    built = run(*COMPOSE, "build", results=folder)
    assert built.returncode == 0, built.stderr
    for name in ("compose.yaml", "compose.cpu.yaml"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "results").mkdir()
    yield folder
    run("docker", "compose", "down", "--volumes", "--remove-orphans", results=folder)


def up(clone):
    """`docker compose up` until the plots have ended, then Ctrl-C; what it said, and what the bench's processes may meanwhile."""
    settings = {
        name: value for name, value in environment("unused", STEPS="2").items() if name not in ("RESULTS", "BENCH_UID", "BENCH_GID")
    }
    kept = {"cwd": clone, "env": settings, "text": True, "start_new_session": True}
    command = [*COMPOSE, "up", "--no-build", "--no-color"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kept)
    timer = threading.Timer(300, process.kill)
    timer.start()
    said, held = [], []
    for line in process.stdout:
        said.append(line)
        if "the model is ready" in line:
            held = rights(container("bench"))
        if PLOTS_DONE in line:
            break
    process.terminate()
    said += process.stdout
    process.wait()
    timer.cancel()
    return "".join(said), held


def in_results(clone):
    return [path for path in (clone / "results").rglob("*") if path.is_file()]


@pytest.mark.parametrize("owner", [0, 4321], ids=["roots-clone", "another-users-clone"])
def test_docker_compose_up_alone_measures_and_draws_into_a_folder_whose_owner_keeps_it(clone, owner):
    shutil.rmtree(clone / "results")
    (clone / "results").mkdir()
    os.chown(clone / "results", owner, owner)
    said, held = up(clone)
    assert "bench-1 exited with code 0" in said and "plots-1 exited with code 0" in said, said
    document = json.loads((clone / "results/last_gspo_bench.json").read_text())
    assert (document["status"], document["native_1pass"]["n"], document["custom_2pass"]["n"]) == ("complete", 2, 2)
    assert {"bench_gspo_bars.png", "report.html"} <= {path.name for path in in_results(clone)}
    assert {(path.stat().st_uid, path.stat().st_gid) for path in (clone / "results").rglob("*")} == {(owner, owner)}
    assert "Ctrl-C ends `docker compose up` with it; from elsewhere: docker compose down" in said
    assert held and all(ids == {owner} and capabilities == 0 for ids, capabilities in held)


def test_a_results_folder_that_is_not_there_yet_is_written_to(clone):
    shutil.rmtree(clone / "results")
    said, _ = up(clone)
    assert "bench-1 exited with code 0" in said and "plots-1 exited with code 0" in said, said
    assert (clone / "results/report.html").is_file()


def test_make_goes_on_in_a_folder_that_compose_up_wrote_to_as_root(clone):
    ended = run("docker/bench.sh", results=clone / "results", STEPS="2", BENCH_ARGS="--floor-steps 0")
    assert ended.returncode == 0, ended.stderr
    owners = {path.stat().st_uid for path in (clone / "results").rglob("*") if path.name in ("runs", "batches", "last_gspo_bench.json")}
    assert owners == {int(os.environ.get("SUDO_UID", "0")) or 1000}
