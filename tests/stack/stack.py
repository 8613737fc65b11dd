"""How the tests drive the stack from outside: a project of its own, beside whatever else runs on this machine."""

import json
import os
import socket
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "gspo-bench-stack-test"


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def environment(results, **settings):
    """A project of its own beside whatever else runs here."""
    return {
        **os.environ,
        "COMPOSE_PROJECT_NAME": PROJECT,
        "RESULTS": str(results),
        "PORT": str(free_port()),
        "STACK": "cpu",
        **settings,
    }


def run(*command, results, **settings):
    """A command from the repository's root."""
    settings = environment(results, **settings)
    return subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True, timeout=900, check=False)


def left_over(kind):
    """What is left of the project: the ids of containers or networks."""
    command = ["docker", kind, "ls", "--quiet", "--filter", f"label=com.docker.compose.project={PROJECT}"]
    return subprocess.run(command + (["--all"] if kind == "container" else []), capture_output=True, text=True, check=True).stdout.split()


def compose_config(*files):
    """The services as compose understands them."""
    command = ["docker", "compose", *[part for file in files for part in ("--file", file)], "config", "--format", "json"]
    return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)["services"]


def docker(*arguments, check=True):
    """A docker command's output."""
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=check, timeout=120).stdout.strip()


def container(service):
    """The id of a service's running container."""
    of_service = f"label=com.docker.compose.service={service}"
    return docker("ps", "--quiet", "--filter", f"label=com.docker.compose.project={PROJECT}", "--filter", of_service)


STATUS = """
import os, pathlib
found = [entry for entry in pathlib.Path("/proc").glob("[0-9]*") if int(entry.name) not in (1, os.getpid())]
print(*[(entry / "status").read_text() for entry in found], sep="---")
"""


def rights(identity):
    """Of each process of a running container, but for its init: user and group ids, and the capabilities that it holds."""
    held = []
    for text in docker("exec", identity, "python", "-c", STATUS).split("---"):
        status = dict(row.split(":\t", 1) for row in text.splitlines() if ":\t" in row)
        assert status["NoNewPrivs"] == "1"
        ids = {int(number) for name in ("Uid", "Gid") for number in status[name].split()}
        held.append((ids, sum(int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"))))
    assert held
    return held


def documents(results):
    """Every JSON file below the results folder, by its place in it; a file that is half written or left behind fails."""
    files = [path for path in results.rglob("*") if path.is_file()]
    assert not [path for path in files if path.name.startswith(".")]
    return {str(path.relative_to(results)): json.loads(path.read_text()) for path in files if path.suffix == ".json"}


def partial(results):
    """The one run's own file, marked partial, with steps that were counted."""
    (own,) = [document for name, document in documents(results).items() if name.startswith("runs/")]
    assert (own["kind"], own["status"]) == ("gspo-bench", "partial")
    assert own["native_1pass"]["n"] >= 1
    return own
