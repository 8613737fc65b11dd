"""The stack's containers as servers: the commands that are run, against a `docker` that is a script."""

import json
import os
import re
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from bench.errors import BenchError, InputError
from bench.sweep.compose_servers import ComposeServers

# Writes down each call with the two settings that compose reads; the server "c0ffee" ends as the file `ends` says, once it is there.
DOCKER = """#!{python}
import json, os, pathlib, sys, time
here = pathlib.Path(__file__).parent
call = {{"arguments": sys.argv[1:], **{{name: os.environ.get(name) for name in ("PRESET", "BACKEND_CONFIG")}}}}
with open(here / "calls", "a") as file:
    print(json.dumps(call), file=file)
words = sys.argv[1:]
if "up" in words and (here / "fails").exists():
    sys.exit("Error: port is already allocated")
if "ps" in words:
    print("c0ffee")
elif words[0] == "logs":
    print("the server's log", flush=True)
elif words[0] == "wait":
    while not (here / "ends").exists():
        time.sleep(0.02)
    print((here / "ends").read_text())
elif words[0] == "stop":
    (here / "ends").write_text("143")
elif "run" in words:
    print("bench: done", flush=True)
    sys.exit(4)
"""


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the script, first on PATH."""
    script = tmp_path / "docker"
    script.write_text(DOCKER.format(python=sys.executable))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def calls(docker: Path) -> list[list[str]]:
    return [json.loads(line)["arguments"] for line in (docker / "calls").read_text().splitlines()]


def until_ended(thing: object, limit_s: float = 20.0) -> int:
    deadline_s = time.monotonic() + limit_s
    while (code := thing.ended()) is None:  # type: ignore[attr-defined]
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    return int(code)


CPU = ["compose", "--progress", "quiet", "--file", "compose.yaml", "--file", "compose.cpu.yaml"]


def test_a_server_is_started_with_the_rows_settings_alone_and_goes_when_it_is_stopped(docker: Path) -> None:
    servers = ComposeServers({"STACK": "cpu", "PORT": "8123"}, 1.0)
    assert servers.url == "http://127.0.0.1:8123"
    servers.start({"b": 1, "a": "x"}, docker / "server.log")
    first = json.loads((docker / "calls").read_text().splitlines()[0])
    assert first["arguments"] == [*CPU, "up", "--detach", "--no-build", "--force-recreate", "server"]
    assert (first["PRESET"], first["BACKEND_CONFIG"]) == ("stock", '{"a":"x","b":1}')
    assert servers.ended() is None
    servers.stop()
    assert ["rm", "--force", "--volumes", "c0ffee"] in calls(docker)
    assert (docker / "server.log").read_text() == "the server's log\n"
    servers.stop()  # nothing to do


def test_a_server_that_ended_tells_its_exit_code_and_the_next_one_has_not_ended(docker: Path) -> None:
    servers = ComposeServers({"STACK": "cuda"}, 1.0)
    (docker / "ends").write_text("2")
    servers.start({}, docker / "server.log")
    assert until_ended(servers) == 2
    servers.stop()
    (docker / "ends").unlink()
    servers.start({}, docker / "server.log")
    assert servers.ended() is None
    servers.stop()


def test_the_client_is_a_container_of_the_stack_and_gets_its_signals_there(docker: Path) -> None:
    servers = ComposeServers({"STACK": "cpu"}, 1.0)
    client = servers.client(["run", "--base-url", servers.client_url], docker / "client.log")
    assert until_ended(client) == 4
    name = f"gspo-bench-sweep-{os.getpid()}"
    run = [*CPU, "run", "--rm", "--no-deps", "--no-TTY", "--name", name]
    assert calls(docker)[-1] == [*run, "bench", "bench", "run", "--base-url", "http://server:8000"]
    assert (docker / "client.log").read_text() == "bench: done\n"
    client.send(signal.SIGUSR1)
    assert calls(docker)[-1] == ["kill", "--signal", "SIGUSR1", name]


def test_a_container_that_does_not_start_ends_the_sweep_with_dockers_words(docker: Path) -> None:
    (docker / "fails").touch()
    with pytest.raises(BenchError, match=r"did not start: Error: port is already allocated\.\nmake doctor"):
        ComposeServers({"STACK": "cpu", "PORT": str(_free_port())}, 1.0).start({}, docker / "server.log")


def test_a_port_that_is_taken_is_named_with_one_that_is_free(docker: Path) -> None:
    (docker / "fails").touch()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(BenchError) as raised:
            ComposeServers({"STACK": "cpu", "PORT": str(port)}, 1.0).start({}, docker / "server.log")
        first, second = str(raised.value).splitlines()
    assert first == f"the server's container did not start: port {port} of this machine is taken by something else."
    told = re.fullmatch(r"Take another: the same command with PORT=(\d+) before it\.", second)
    assert told is not None and port < int(told[1]) <= port + 20


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_stack_what_it_runs_and_the_image_are_what_a_server_is() -> None:
    environment = {"STACK": "cuda", "MODEL": "Q/m", "GPUS": "", "NODES": "2", "GSPO_BENCH_SERVER_IMAGE": "sha256:0123456789abcdef"}
    assert ComposeServers(environment, 1.0).identity == "STACK=cuda MODEL=Q/m NODES=2 image 0123456789ab"
    with pytest.raises(InputError, match="nothing says which server to start"):
        ComposeServers({}, 1.0)


def test_the_next_time_is_one_line_for_a_shell() -> None:
    line = ComposeServers({"STACK": "cpu"}, 1.0).next_time({"a": {"b": "it's"}}, Path("unused"))
    assert line == """PRESET=stock BACKEND_CONFIG='{"a":{"b":"it'"'"'s"}}' make bench"""
