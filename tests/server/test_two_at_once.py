"""Runs at one time on one server that has room for several models."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from tests.server.conftest import RunningServer, _started

pytestmark = pytest.mark.server

ROOT = Path(__file__).parents[2]
TRIES = 3


@pytest.fixture(scope="module")
def roomy(server: RunningServer, tmp_path_factory: pytest.TempPathFactory, compiled: Path) -> Iterator[RunningServer]:
    log = tmp_path_factory.mktemp("roomy") / "server.log"
    with _started(server.model, log, "--backend-config", '{"max_lora_adapters": 4}', f"--compile-cache={compiled}") as running:
        yield running


def started(server: RunningServer, results: Path, *flags: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench", "run", "--base-url", server.url, "--results", str(results), "--tokenizer", str(server.model)]
    command += ["--steps", "4", "--max-tokens", "16", "--prompts-count", "4", "--floor-steps", "1", *flags]
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def ended(running: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = running.communicate(timeout=180)
    return running.returncode, said


def steps_s(results: Path) -> tuple[float, float]:
    """When a valid result's first step began, and its last."""
    document = json.loads((results / "last_gspo_bench.json").read_text())
    assert (document["status"], document["valid"]) == ("complete", True)
    begun = [datetime.fromisoformat(step["started_at"]).timestamp() for step in document["steps"]]
    return begun[0], begun[-1]


def test_of_runs_that_start_at_once_none_measures_beside_another(roomy: RunningServer, tmp_path: Path) -> None:
    for number in range(TRIES):
        folders = [tmp_path / f"{number}-{name}" for name in ("a", "b")]
        runs = [started(roomy, folder) for folder in folders]
        codes = []
        for running in runs:
            code, said = ended(running)
            codes.append(code)
            assert code == 0 or (code == 4 and "Each would be timed into the other's steps." in said), said
        # The later one may find that the first has ended while it looked whether that lives.
        spans = sorted(steps_s(folder) for folder, code in zip(folders, codes, strict=True) if code == 0)
        assert len(spans) == 1 or (len(spans) == 2 and spans[0][1] < spans[1][0])


def test_a_later_one_that_may_wait_measures_after_the_first(roomy: RunningServer, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a", "b")]
    runs = [started(roomy, folder, "--wait-for-tenant") for folder in folders]
    for running in runs:
        code, said = ended(running)
        assert code == 0, said
    first, second = sorted(map(steps_s, folders))
    assert first[1] < second[0]
