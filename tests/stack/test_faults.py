"""What a rented machine does to a run, done to the real stack: each leaves a valid results folder, and words on what happened where."""

import contextlib
import json
import os
import subprocess
import threading
import time

import pytest

from tests.stack.stack import PROJECT, ROOT, container, docker, documents, environment, left_over, partial, rights, run

pytestmark = pytest.mark.stack

KILL_ENGINE = """
import os, pathlib
for entry in pathlib.Path("/proc").glob("[0-9]*"):
    if int(entry.name) != os.getpid() and b"engine.py" in (entry / "cmdline").read_bytes():
        os.kill(int(entry.name), 9)
"""


class Running:
    """A command from the repository's root whose lines are read as they come."""

    def __init__(self, command, results, **settings):
        kept = {"cwd": ROOT, "env": environment(results, **settings), "text": True, "start_new_session": True}
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kept)
        self.lines = []

    def until(self, text, times=1):
        """Reads on to the line with this text, for the so-manieth time."""
        for line in self.process.stdout:
            self.lines.append(line)
            if sum(text in entry for entry in self.lines) == times:
                return
        pytest.fail(f"it ended before it said {text!r}:\n{self.said}", pytrace=False)

    def end(self, within_s=120):
        """The exit code, once it has ended."""
        timer = threading.Timer(within_s, self.process.kill)
        timer.start()
        self.lines += self.process.stdout
        timer.cancel()
        code = self.process.wait(timeout=within_s)
        assert code != -9, f"it did not end within {within_s} s:\n{self.said}"
        return code

    @property
    def said(self):
        return "".join(self.lines)


@pytest.fixture(scope="module", autouse=True)
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    built = run("docker", "compose", "--file", "compose.yaml", "--file", "compose.cpu.yaml", "build", results=folder)
    assert built.returncode == 0, built.stderr
    yield
    run("docker", "compose", "down", "--volumes", "--remove-orphans", results=folder)


# --- the server dies: the whole of make bench --------------------------------------------------------------------------------------------


def kill_server():
    docker("kill", container("server"))


def kill_server_in_a_step():
    """Stopped first, so that a step is under way for certain when it dies."""
    docker("pause", container("server"))
    time.sleep(1)
    docker("kill", container("server"))


def kill_engine():
    docker("exec", container("server"), "python", "-c", KILL_ENGINE)


@pytest.mark.parametrize(
    ("when", "fault", "measured"),
    [
        (("creating a LoRA model",), kill_server, False),
        (("sampling 16 rollouts",), kill_server, False),
        (("step: two-pass", 2), kill_server_in_a_step, True),
        (("step: two-pass", 2), kill_engine, True),
    ],
    ids=["killed-in-the-wait", "killed-while-sampling", "killed-in-a-step", "engine-killed"],
)
def test_a_server_that_dies_ends_the_run_soon_with_what_its_log_says_and_what_was_measured(tmp_path, when, fault, measured):
    running = Running(["docker/bench.sh"], tmp_path, STEPS="500")
    running.until(*when)
    fault()
    struck_s = time.monotonic()
    assert running.end() == 3, running.said
    assert time.monotonic() - struck_s < 40
    assert "The server ended by itself, with exit code" in running.said
    assert "\nIt says: " in running.said and "\nThe server's whole log is in " in running.said
    assert "Traceback" not in running.said and "\x1b[" not in running.said.split("The server ended by itself")[1]
    if measured:
        assert partial(tmp_path)["reason"].startswith("ended early: ")
    else:
        assert not [name for name in documents(tmp_path) if not name.startswith("batches/")]
    assert left_over("container") == []


def test_a_stop_of_the_script_saves_what_was_measured_and_takes_everything_down(tmp_path):
    running = Running(["docker/bench.sh"], tmp_path, STEPS="500")
    running.until("step: two-pass", 2)
    running.process.terminate()
    stopped_s = time.monotonic()
    assert running.end() == 143, running.said
    # A spot machine gives thirty.
    assert time.monotonic() - stopped_s < 30
    assert partial(tmp_path)["reason"] == "ended early: interrupted"
    assert left_over("container") == []


# --- the server stays, or comes back: one of them for all that follows -------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(images, tmp_path_factory):
    """A server that stays up; gives its container's id."""
    folder = tmp_path_factory.mktemp("server")
    started = run(*COMPOSE, "up", "--detach", "--no-build", "server", results=folder, HF_TOKEN=SECRET)
    assert started.returncode == 0, started.stderr
    yield container("server")
    run(*COMPOSE, "down", "--timeout", "2", results=folder)


SECRET = "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"
COMPOSE = ("docker", "compose", "--file", "compose.yaml", "--file", "compose.cpu.yaml")
SMALL = ("--steps", "500", "--max-tokens", "24", "--prompts-count", "4", "--floor-steps", "1")


def bench(results, *flags):
    """A benchmark of small steps in a container of its own, against the server that is up."""
    results.chmod(0o777)
    name = f"{PROJECT}-client-{results.name}"
    command = [*COMPOSE, "run", "--rm", "--no-deps", "--no-TTY", "--name", name, "bench", "bench", "run"]
    command += ["--base-url", "http://server:8000", "--results", "/results", *SMALL, *flags]
    running = Running(command, results, BENCH_UID=str(os.getuid() or 1000), BENCH_GID=str(os.getgid() or 1000), HF_TOKEN=SECRET)
    running.name = name
    return running


@contextlib.contextmanager
def paused(identity):
    docker("pause", identity)
    try:
        yield
    finally:
        docker("unpause", identity)


def test_a_server_that_stops_for_half_a_minute_is_waited_for(server, tmp_path):
    running = bench(tmp_path, "--steps", "6")
    running.until("step: two-pass", 2)
    with paused(server):
        time.sleep(30)
    assert running.end() == 0, running.said
    assert "the server does not answer" in running.said
    document = documents(tmp_path)["last_gspo_bench.json"]
    assert document["status"] == "complete"
    assert max(step["step_s"] for step in document["steps"]) > 28


def test_a_server_that_stops_for_longer_than_the_deadline_ends_the_run_at_it(server, tmp_path):
    running = bench(tmp_path, "--deadline-s", "12")
    running.until("step: two-pass", 2)
    with paused(server):
        assert running.end(within_s=60) == 3, running.said
    assert "no answer from http://server:8000 within 12 s." in running.said
    assert partial(tmp_path)["custom_2pass"]["n"] >= 1


def test_a_network_that_is_cut_and_comes_back_is_waited_for(server, tmp_path):
    running = bench(tmp_path, "--steps", "6")
    running.until("step: two-pass", 2)
    network = f"{PROJECT}_default"
    docker("network", "disconnect", network, server)
    time.sleep(12)
    docker("network", "connect", "--alias", "server", network, server)
    assert running.end(within_s=180) == 0, running.said
    assert documents(tmp_path)["last_gspo_bench.json"]["status"] == "complete"


def test_what_runs_is_contained_and_its_secret_is_in_no_file_log_or_image(server, tmp_path):
    running = bench(tmp_path, "--steps", "2")
    running.until("step: two-pass", 1)
    for identity in (server, running.name):
        (found,) = json.loads(docker("inspect", identity))
        host = found["HostConfig"]
        assert host["CapDrop"] == ["ALL"] and not host["Privileged"]
        # The client's are for root alone, which it is only where nobody says whose the results are: here no process has them.
        assert set(host["CapAdd"] or []) <= (set() if identity == server else {"SETUID", "SETGID"})
        assert all(0 not in ids and capabilities == 0 for ids, capabilities in rights(identity))
        assert host["SecurityOpt"] == ["no-new-privileges:true"] and host["ReadonlyRootfs"] is True
        assert found["Config"]["User"] not in ("", "root", "0", "0:0")
        assert not [mount for mount in found["Mounts"] if "docker.sock" in mount["Source"]]
        assert {entry["HostIp"] for ports in host["PortBindings"].values() for entry in ports} <= {"127.0.0.1"}
        # Else it would be looked for in vain below.
        assert f"HF_TOKEN={SECRET}" in found["Config"]["Env"]
    assert running.end() == 0, running.said
    assert SECRET not in running.said
    logs = subprocess.run(["docker", "logs", server], capture_output=True, text=True, check=True)
    assert SECRET not in logs.stdout + logs.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    for image in ("gspo-bench-server:cpu", "gspo-bench-client"):
        assert SECRET not in docker("history", "--no-trunc", image) + docker("inspect", image)


def test_a_client_that_is_killed_has_its_rounds_on_disk(server, tmp_path):
    running = bench(tmp_path)
    running.until("step: two-pass", 3)
    docker("kill", "--signal", "KILL", running.name)
    assert running.end() == 137
    assert partial(tmp_path)["reason"] == "still running, or killed"


def test_a_second_benchmark_is_told_of_the_first_and_a_stop_of_the_first_keeps_what_it_measured(server, tmp_path):
    folders = [tmp_path / name for name in ("first", "second", "third")]
    for folder in folders:
        folder.mkdir()
    first = bench(folders[0])
    first.until("step: two-pass", 1)
    second = bench(folders[1])
    assert second.end() == 4, second.said
    assert "Each would be timed into the other's steps." in second.said
    assert documents(folders[1]) == {}
    third = run("docker/bench.sh", results=folders[2])
    assert third.returncode == 2
    assert "Another benchmark runs on this machine" in third.stderr
    assert docker("inspect", "--format", "{{.State.Running}}", server) == "true"
    docker("stop", first.name)
    assert first.end(within_s=15) == 130, first.said
    assert partial(folders[0])["reason"] == "ended early: interrupted"


def test_a_disk_that_is_full_is_told_and_the_numbers_are_printed(server, tmp_path):
    command = ["docker", "run", "--rm", "--read-only", "--tmpfs", "/tmp", "--tmpfs", "/results:size=32k,mode=1777"]
    command += ["--network", f"{PROJECT}_default", "gspo-bench-client", "bench", "run", "--base-url", "http://server:8000"]
    ended = subprocess.run([*command, "--results", "/results", *SMALL, "--steps", "20"], capture_output=True, text=True, check=False)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.count("The run goes on.") == 1
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "BENCH_RESULT {" in ended.stdout


@pytest.mark.parametrize(("mount", "says"), [(":ro", "Read-only file system"), ("", "belongs to uid")], ids=["read-only", "another-users"])
def test_a_results_folder_that_cannot_be_written_to_is_told_before_anything_runs(tmp_path, mount, says):
    tmp_path.chmod(0o755)
    command = ["docker", "run", "--rm", "--network", "none", "--user", "12345:12345", "--volume", f"{tmp_path}:/results{mount}"]
    command += ["gspo-bench-client", "bench", "run", "--base-url", "http://server:8000", "--results", "/results"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2
    assert ended.stderr.startswith("bench: cannot write to /results: ") and says in ended.stderr
    assert ended.stderr.count("\n") <= 2
