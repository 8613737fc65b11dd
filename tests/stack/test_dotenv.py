"""What stands in .env: make's scripts, doctor and compose read the same of it."""

import json
import os
import subprocess

import pytest

from tests.stack.stack import ROOT

pytestmark = pytest.mark.stack

LINES = {
    "STACK": "STACK=cpu",
    "PORT": "PORT = 8123 # taken",
    "MODEL": 'export MODEL="a b" # x',
    "BENCH_ARGS": "BENCH_ARGS=--control --x",
    "TASK": "TASK='q # r'",
    "RESULTS": "RESULTS=#here",
    "SWEEP": "SWEEP=  a#b",
    "PRESET": "PRESET= # l4",
}
MEANT = {
    "STACK": "cpu",
    "PORT": "8123",
    "MODEL": "a b",
    "BENCH_ARGS": "--control --x",
    "TASK": "q # r",
    "RESULTS": "#here",
    "SWEEP": "a#b",
    "PRESET": "# l4",
}
DOCTOR = (
    "import json, pathlib; from bench.doctor.settings import read_dotenv; from bench.doctor.world import World; "
    "print(json.dumps(read_dotenv(World(pathlib.Path('.')).read('.env'))))"
)
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in LINES}


def printed(folder, *command, **environment):
    ended = subprocess.run(command, cwd=folder, env=ENVIRONMENT | environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize(("start", "end"), [("", "\n"), ("\ufeff", "\n"), ("", "\r\n"), ("\ufeff", "\r\n")])
def test_every_reader_takes_the_same_from_a_file_of_any_editor(tmp_path, start, end):
    (tmp_path / ".env").write_bytes((start + end.join(LINES.values()) + end).encode())
    assert json.loads(printed(tmp_path, "python3", "-c", DOCTOR, PYTHONPATH=str(ROOT))) == MEANT
    script = f"source {ROOT}/docker/stack.sh; for name in {' '.join(MEANT)}; do setting $name unset; done"
    assert printed(tmp_path, "bash", "-c", script).splitlines() == list(MEANT.values())
    services = {"server": {"image": "none", "environment": {name: f"${{{name}}}" for name in MEANT}}}
    (tmp_path / "compose.yaml").write_text(json.dumps({"services": services}))
    configured = json.loads(printed(tmp_path, "docker", "compose", "config", "--format", "json"))
    assert configured["services"]["server"]["environment"] == MEANT
