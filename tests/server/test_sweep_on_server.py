"""A sweep over real SkyRL servers: what its file says, and that its best can be started with next."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from backend_config import load_preset

from tests.server.conftest import PYTHON, SERVER, _free_port

pytestmark = pytest.mark.server

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "backend_config": {"max_lora_adapters": 2, "loss_chunk_size": 0},
    "rows": [
        {"label": "all-at-once", "backend_config": {"train_micro_batch_size": 0}},
        {"label": "misspelt", "backend_config": {"train_micro_batch": 4}},
        {"label": "four", "backend_config": {"train_micro_batch_size": 4}, "steps": 1},
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, compiled: Path) -> Path:
    made = tmp_path_factory.mktemp("sweep")
    (made / "compiled").symlink_to(compiled)
    subprocess.run([PYTHON, str(SERVER / "make_tiny_qwen3.py"), str(made / "tiny-qwen3")], check=True)
    (made / "settings.json").write_text(json.dumps(SETTINGS))
    return made


def sweep(folder: Path, port: int) -> subprocess.CompletedProcess[str]:
    server = (
        f"{PYTHON} {SERVER / 'serve.py'} --model {folder / 'tiny-qwen3'} --backend jax --port {port} --compile-cache {folder / 'compiled'}"
    )
    command = [sys.executable, "-m", "bench", "sweep", str(folder / "settings.json"), "--server-command", server]
    command += ["--results", str(folder / "results"), "--steps", "2", "--run-args", "--max-tokens 8 --prompts-count 4 --lora-rank 8"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope="module")
def swept(folder: Path) -> subprocess.CompletedProcess[str]:
    ended = sweep(folder, _free_port())
    logs = "".join(path.read_text()[-2000:] for path in (folder / "results").glob("sweep-logs/*"))
    assert ended.returncode == 0, ended.stderr + logs
    return ended


@pytest.fixture(scope="module")
def document(swept: subprocess.CompletedProcess[str], folder: Path) -> Any:
    return json.loads((folder / "results" / "last_sweep.json").read_text())


def test_each_setting_is_a_row_and_the_one_that_the_server_refuses_says_why(document: Any) -> None:
    assert document["status"] == "complete"
    assert [(row["label"], row["status"]) for row in document["rows"]] == [("all-at-once", "ok"), ("misspelt", "refused"), ("four", "ok")]
    assert document["rows"][1]["reason"].startswith("the jax backend has no setting train_micro_batch (train_micro_batch_size?). ")
    assert [len(row["native_times"]) for row in document["rows"]] == [2, 0, 1]
    assert all(row["ready_s"] > 0.0 for row in document["rows"] if row["status"] == "ok")


def test_all_rows_train_on_the_batch_that_the_first_sampled(document: Any, folder: Path) -> None:
    assert document["batch"]["sequences"] == 4
    results = [json.loads((folder / "results" / row["result_file"]).read_text()) for row in document["rows"] if row["result_file"]]
    assert [entry["batch"]["sha256"] for entry in results] == [document["batch"]["sha256"]] * 2
    assert [entry["environment"]["server"]["backend_config"]["train_micro_batch_size"] for entry in results] == [0, 4]


def test_the_best_row_is_the_fastest_and_its_preset_is_one_for_the_server(document: Any, folder: Path) -> None:
    times_s = {row["label"]: row["native_1pass_s"] for row in document["rows"] if row["status"] == "ok"}
    best = document["best"]
    assert best["native_1pass_s"] == min(times_s.values()) == times_s[best["label"]]
    settings = load_preset(str(folder / "results" / best["preset_file"]))
    size = 0 if best["label"] == "all-at-once" else 4
    assert settings == {"max_lora_adapters": 2, "loss_chunk_size": 0, "train_micro_batch_size": size}


def test_the_table_and_what_to_type_next_are_printed(swept: subprocess.CompletedProcess[str]) -> None:
    assert "│ misspelt" in swept.stdout and "refused" in swept.stdout
    assert "--preset" in swept.stdout.splitlines()[-2]


def test_nothing_is_left_running(swept: subprocess.CompletedProcess[str], folder: Path) -> None:
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [command for command in commands if str(folder / "tiny-qwen3").encode() in command]


def test_a_sweep_that_is_done_starts_no_server_again(swept: subprocess.CompletedProcess[str], folder: Path) -> None:
    before = (folder / "results" / "last_sweep.json").read_text()
    again = sweep(folder, _free_port())
    assert again.returncode == 0
    assert "row " not in again.stderr and "taken before: all-at-once, misspelt, four" in again.stderr
    assert (folder / "results" / "last_sweep.json").read_text() == before
