"""Servers as processes: real ones, of nothing but Python, that serve, crash, hang, refuse and leave daemons behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.errors import BenchError, InputError
from bench.sweep import reaper
from bench.sweep.outcome import outcome
from bench.sweep.process_servers import ProcessClient, ProcessServers
from bench.sweep.take import Ending, Place, take
from tests.bench.documents import document

HERE = Path(__file__).parent
ROOT = HERE.parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans, which Linux alone allows"),
]


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(condition: Callable[[], Any], limit_s: float = 20.0) -> None:
    deadline_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline_s, "it did not come to that"
        time.sleep(0.02)


class FakeServers(ProcessServers):
    """The fake server, with the fake client beside it."""

    def __init__(self, results: Path, *flags: str) -> None:
        self.port = free_port()
        words = [sys.executable, str(HERE / "fake_serve.py"), "--port", str(self.port), *flags]
        super().__init__(" ".join(words), None, results, settle_s=1.0)

    def client(self, arguments: Sequence[str], log: Path) -> ProcessClient:
        return ProcessClient([sys.executable, str(HERE / "fake_client.py"), *arguments], log)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "document.json").write_text(json.dumps(document([1.0, 2.0], [3.0, 4.0], status="complete")))
    monkeypatch.setenv("FAKE_DOCUMENT", str(tmp_path / "document.json"))
    return tmp_path / "results"


def row(servers: FakeServers, results: Path, deadline_s: float = 30.0, **config: Any) -> tuple[Ending, str, str]:
    """One row with these settings: how it ended, and what it came to."""
    results.mkdir(exist_ok=True)
    place = Place(results / "sweep", results / "server.log", results / "client.log")
    arguments = ["run", "--base-url", servers.client_url, "--results", str(place.results)]
    ending = take(servers, config, arguments, place, deadline_s)
    status, reason = outcome(ending, deadline_s)
    return ending, status, reason or ""


def test_a_row_that_goes_well_has_its_document_and_leaves_the_port_closed(results: Path) -> None:
    servers = FakeServers(results)
    ending, status, _ = row(servers, results, says="hello from the log")
    assert status == "ok"
    assert ending.document is not None and ending.document["native_1pass"]["times"] == [1.0, 2.0]
    assert ending.ready_s is not None and 0.0 < ending.ready_s <= ending.wall_s
    assert "hello from the log" in ending.server_text
    assert not listens(servers.port)


@pytest.mark.parametrize(
    ("config", "status", "reason"),
    [
        ({"does": "crash", "says": "RuntimeError: no driver"}, "crashed", "the server ended with exit code 1: RuntimeError: no driver"),
        ({"does": "die"}, "crashed", "exit code 137 (killed, as the system does when memory runs out): an engine at work"),
        ({"does": "crash", "says": "torch.OutOfMemoryError: CUDA out of memory."}, "out_of_memory", "CUDA out of memory"),
        ({"does": "refuse"}, "refused", "the fake backend has no setting 'does'. Its settings are others."),
        ({"client": "oom"}, "out_of_memory", "CUDA out of memory. Tried to allocate 2 GiB"),
    ],
)
def test_a_row_that_fails_says_why(results: Path, config: dict[str, Any], status: str, reason: str) -> None:
    servers = FakeServers(results)
    ending, found, why = row(servers, results, **config)
    assert found == status
    assert reason in why
    assert ending.wall_s < 25.0
    assert not listens(servers.port)


def test_what_a_server_had_in_use_is_known_though_its_row_failed(results: Path) -> None:
    ending, _, _ = row(FakeServers(results), results, client="oom")
    assert ending.told is not None and ending.told["gpus"][0]["peak_bytes"] == 3 << 30


def test_a_row_that_hangs_is_ended_at_its_deadline_with_all_its_processes(results: Path, tmp_path: Path) -> None:
    family = tmp_path / "family"
    family.touch()
    servers = FakeServers(results, "--family", str(family))
    ending, status, reason = row(servers, results, deadline_s=6.0, client="hang")
    assert (status, reason) == ("timed_out", "not done within 6 s")
    assert ending.client_code == 130
    orphan = int(family.read_text())
    assert not is_alive(orphan) and not listens(servers.port)


def test_another_server_on_the_port_is_not_measured(results: Path) -> None:
    servers = FakeServers(results)
    with socket.create_server(("127.0.0.1", servers.port)), pytest.raises(BenchError, match=f"something listens on port {servers.port} "):
        row(servers, results)


def keep(tmp_path: Path, *flags: str) -> tuple[subprocess.Popen[bytes], int, Path]:
    """The fake server under a reaper, once it listens and has left an orphan behind: the reaper, the port, the orphan's id in a file."""
    family, port = tmp_path / "family", free_port()
    family.touch()
    command = [sys.executable, str(HERE / "fake_serve.py"), "--port", str(port), "--family", str(family), *flags]
    started = subprocess.Popen([sys.executable, "-I", str(reaper.__file__), *command], start_new_session=True)
    until(lambda: family.read_text().strip() and listens(port))
    return started, port, family


def test_the_reaper_ends_daemons_that_left_the_servers_session(tmp_path: Path) -> None:
    started, port, family = keep(tmp_path)
    orphan = int(family.read_text())
    assert is_alive(orphan) and os.getsid(orphan) != os.getsid(started.pid)
    started.send_signal(signal.SIGTERM)
    assert started.wait(timeout=20) == 128 + signal.SIGTERM
    assert not is_alive(orphan) and not listens(port)


def test_the_reaper_passes_the_servers_own_exit_code_on_and_ends_what_it_left(tmp_path: Path) -> None:
    family = tmp_path / "family"
    family.touch()
    command = [sys.executable, str(HERE / "fake_serve.py"), "--family", str(family), "--backend-config", '{"does": "crash"}']
    ended = subprocess.run([sys.executable, "-I", str(reaper.__file__), *command], timeout=30, check=False)
    assert ended.returncode == 1
    assert not is_alive(int(family.read_text()))


def test_nothing_outlives_a_sweep_that_was_killed(tmp_path: Path) -> None:
    family, port = tmp_path / "family", free_port()
    family.touch()
    command = [sys.executable, str(HERE / "fake_serve.py"), "--port", str(port), "--family", str(family)]
    code = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-I', {str(reaper.__file__)!r}, *sys.argv[1:]], start_new_session=True)\n"
        "time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code, *command]) as killed:
        until(lambda: family.read_text().strip() and listens(port))
        killed.kill()
    orphan = int(family.read_text())
    until(lambda: not is_alive(orphan) and not listens(port))


def test_settings_of_the_command_are_under_each_rows(tmp_path: Path) -> None:
    command = f'{sys.executable} serve.py --port 81 --backend-config \'{{"a": 1, "b": 1}}\' --model m'
    servers = ProcessServers(command, None, tmp_path, 1.0)
    assert servers.url == "http://127.0.0.1:81"
    assert servers.identity == f"""{sys.executable} serve.py --model m --backend-config '{{"a":1,"b":1}}'"""
    assert servers.next_time({"c": 1}, Path("p.json")) == f"{sys.executable} serve.py --port 81 --model m --preset p.json"


@pytest.mark.parametrize(
    ("command", "base_url", "says"),
    [
        ("no-such-program --port 1", None, "there is no program 'no-such-program' to run"),
        ("", None, "there is no program '' to run"),
        ("python 'x", None, "cannot be read"),
        ("sh --backend-config [1]", None, "its --backend-config is no JSON object"),
        ("sh", "http://elsewhere:80", "no address of a server that the sweep starts here"),
        ("sh --port x", None, "no address of a server that the sweep starts here"),
    ],
)
def test_a_command_that_cannot_be_is_refused_before_anything_starts(tmp_path: Path, command: str, base_url: str | None, says: str) -> None:
    with pytest.raises(InputError, match=says):
        ProcessServers(command, base_url, tmp_path, 1.0)


def test_a_sweep_whose_servers_all_crash_for_one_reason_stops_after_two_and_says_it_without_colours(tmp_path: Path) -> None:
    crash = {
        "does": "crash",
        "says": '\x1b[36mray::W.init_model()\x1b[39m (pid=7)\n  File "/w.py", line 9\nAttributeError: undefined symbol: numa_x',
    }
    rows = [{"label": f"row-{size}", "backend_config": crash | {"size": size}} for size in range(1, 8)]
    (tmp_path / "settings.json").write_text(json.dumps(rows))
    server = f"{sys.executable} {HERE / 'fake_serve.py'} --port {free_port()}"
    command = [sys.executable, "-m", "bench", "sweep", str(tmp_path / "settings.json"), "--server-command", server]
    ended = subprocess.run(
        [*command, "--results", str(tmp_path / "results")], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 1, ended.stderr
    reason = "the server ended with exit code 1: AttributeError: undefined symbol: numa_x (missing library: libnuma.so.1)"
    assert (ended.stderr.count(reason), ended.stdout.count(reason)) == (1, 1)
    assert "\x1b" not in ended.stdout + ended.stderr and "ray::" not in ended.stdout + ended.stderr
    (partial,) = [line for line in ended.stdout.splitlines() if line.startswith("Partial: ")]
    assert partial.startswith(f"Partial: row-1 and row-2 failed at start-up for the same reason, {reason}; not tried: row-3, row-4, ")
    assert ended.stderr.splitlines()[-2:] == ["bench: 5 rows not tried, for the reason above.", "Fix it, then run the same command."]
    file = json.loads((tmp_path / "results" / "last_sweep.json").read_text())
    assert [row["label"] for row in file["rows"]] == ["row-1", "row-2"]
    assert file["not_tried"] == [f"row-{size}" for size in range(3, 8)]
