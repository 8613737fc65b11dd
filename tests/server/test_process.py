"""The server as a process: how it ends, and what it says when SkyRL is not the one that it was written for."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVE = Path(__file__).parents[2] / "docker" / "server" / "serve.py"
PORT = 18765  # of this file alone: the other servers here take a free one

pytestmark = pytest.mark.server


class Running:
    """A server with a temporary folder of its own, so that what it leaves behind can be seen."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.temporary = folder
        command = [sys.executable, SERVE, "--model", model, "--backend", "jax", "--preset", "cpu", "--port", str(PORT)]
        environment = os.environ | {"TMPDIR": str(folder)}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)

    def wait_until_healthy(self) -> None:
        deadline_s = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < deadline_s:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{PORT}/api/v1/healthz", timeout=1).close()
                return
            except OSError:
                time.sleep(0.1)
        pytest.fail("the server did not start")

    def engine(self) -> int:
        """The engine's process id: the one child."""
        return int(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()[0])

    def end(self, within_s: float = 15) -> tuple[int, str]:
        """Waits for its end: exit code and log."""
        _, log = self.process.communicate(timeout=within_s)
        return self.process.returncode, log


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    subprocess.run([sys.executable, SERVE.parent / "make_tiny_qwen3.py", folder], check=True)
    return folder


@pytest.fixture
def running(tmp_path: Path, model: Path) -> Iterator[Running]:
    folder = tmp_path / "temporary"
    folder.mkdir()
    started = Running(folder, model)
    yield started
    started.process.kill()
    started.process.wait()


def is_alive(process_id: int) -> bool:
    """Whether it runs: not gone, and not merely waiting to be collected."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for_end_of(process_id: int) -> None:
    deadline_s = time.monotonic() + 10
    while is_alive(process_id) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert not is_alive(process_id)


def test_a_stop_ends_the_engine_too_and_leaves_nothing(running: Running) -> None:
    running.wait_until_healthy()
    engine = running.engine()
    asked_s = time.monotonic()
    running.process.send_signal(signal.SIGTERM)
    code, log = running.end()
    assert time.monotonic() - asked_s < 5
    assert code == 143
    assert "Traceback" not in log
    assert not is_alive(engine)
    assert not [path for path in running.temporary.iterdir() if path.name.startswith("gspo-bench")]


@pytest.mark.parametrize("later_s", [0.0, 1.0])
def test_an_engine_does_not_outlive_a_killed_server(running: Running, later_s: float) -> None:
    running.wait_until_healthy()
    time.sleep(later_s)
    engine = running.engine()
    running.process.kill()
    running.end()
    wait_for_end_of(engine)


def test_a_dead_engine_ends_the_server_with_its_exit_code_in_words(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    code, log = Running(tmp_path, empty).end(within_s=60)
    assert code == 1
    assert log.rstrip().endswith("error: the engine ended with exit code 1.\nIts own lines above say why.")


@pytest.fixture
def another_skyrl(tmp_path: Path) -> Path:
    """A SkyRL whose modules are there and are empty, but for what the settings are checked against."""
    for name in ("", "tinker", "backends"):
        (tmp_path / "skyrl" / name).mkdir(exist_ok=True)
        (tmp_path / "skyrl" / name / "__init__.py").touch()
    (tmp_path / "skyrl/backends/jax.py").write_text("class JaxBackendConfig:\n    use_ray: bool = False\n")
    (tmp_path / "skyrl/tinker/config.py").write_text("EngineConfig = None\n")
    for name in ("api", "types", "loss_fns"):
        (tmp_path / f"skyrl/tinker/{name}.py").touch()
    (tmp_path / "skyrl-0.5.0.dist-info").mkdir()
    (tmp_path / "skyrl-0.5.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: skyrl\nVersion: 0.5.0\n")
    return tmp_path


@pytest.mark.parametrize(("program", "missing"), [("serve.py", "_build_uv_run_cmd_engine"), ("engine.py", "LOSS_FUNCTION_MAP")])
def test_another_skyrl_is_named_with_what_it_lacks(another_skyrl: Path, program: str, missing: str) -> None:
    command = [sys.executable, SERVE.parent / program, "--model", "m", "--backend", "jax"]
    environment = os.environ | {"PYTHONPATH": str(another_skyrl)}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
    first, second = ended.stderr.strip().splitlines()
    assert ended.returncode == 1
    assert missing in first
    assert second == "This server was written for skyrl 0.4.0 and found 0.5.0: install skyrl==0.4.0."
