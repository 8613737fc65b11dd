"""The server's image by itself, as `docker run` starts it where nobody thinks of --init."""

import time

import pytest

from tests.stack.stack import PROJECT, docker, run

pytestmark = pytest.mark.stack

NAME = f"{PROJECT}-alone"
HEALTHY = "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/api/v1/healthz', timeout=4)"
ZOMBIES = "import glob; print(sum(' Z ' in open(path).read() for path in glob.glob('/proc/[0-9]*/stat')))"


@pytest.fixture
def server(tmp_path):
    built = run("docker", "compose", "--file", "compose.yaml", "--file", "compose.cpu.yaml", "build", "server", results=tmp_path)
    assert built.returncode == 0, built.stderr
    contained = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--network", "none"]
    yield docker("run", "--detach", "--name", NAME, *contained, "gspo-bench-server:cpu")
    docker("rm", "--force", "--volumes", NAME)


def inside(code):
    return docker("exec", NAME, "python", "-c", code, check=False)


def test_it_serves_as_the_first_process_collects_orphans_and_stops_when_told(server):
    deadline_s = time.monotonic() + 90
    while docker("exec", NAME, "python", "-c", f"{HEALTHY}; print('ok')", check=False) != "ok":
        assert docker("inspect", "--format", "{{.State.Running}}", NAME) == "true", docker("logs", NAME)
        assert time.monotonic() < deadline_s
        time.sleep(0.5)
    docker("exec", NAME, "sh", "-c", "sleep 0.2 & sleep 0.2 &")
    time.sleep(1)
    assert inside(ZOMBIES) == "0"
    asked_s = time.monotonic()
    docker("stop", "--time", "10", NAME)
    assert time.monotonic() - asked_s < 8
    assert docker("inspect", "--format", "{{.State.ExitCode}}", NAME) == "143"
