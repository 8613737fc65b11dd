"""`python3 -m bench scale`: what it refuses, what it hands to the machinery, what it ends with."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.scale import main as program
from bench.scale.main import main
from bench.sweep.compose_servers import ComposeServers

SERVER = ["--server-command", "true --backend jax --port 8123"]


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


class FakeLooper:
    """Saves a sweep with one row for each planned one, all ending as `status` says."""

    status, saved = "ok", "last_sweep.json"
    plan: Any = None
    servers: Any = None
    options: Any = None

    def __init__(self, plan: Any, servers: Any, options: Any, say: Any, on_save: Any) -> None:
        FakeLooper.plan, FakeLooper.servers, FakeLooper.options = plan, servers, options
        self.on_save = on_save
        self.saved_in = options.results / self.saved

    def run(self) -> dict[str, Any]:
        rows = [self._row(planned) for planned in self.plan]
        facts = dict.fromkeys(("reason", "created_at", "server", "model", "weights", "gpu", "backend"))
        batch = {"sha256": "a", "sequences": 4, "target_tokens": 100}
        document = facts | {"status": "complete", "batch": batch, "rows": rows, "environment": {}}
        if self.saved == "last_sweep.json":
            self.on_save(document)
        return document

    def _row(self, planned: Any) -> dict[str, Any]:
        taken_s = 1.0 if self.status == "ok" else None
        names = ("reason", "custom_2pass_s", "saving_pct", "ready_s", "peak_memory_bytes", "result_file")
        row = dict.fromkeys(names) | {"native_times": [], "custom_2pass_times": [], "native_1pass_s": taken_s}
        return row | {"backend_config": planned.backend_config, "batch_times": planned.times, "status": self.status}


@pytest.fixture
def looper(monkeypatch: pytest.MonkeyPatch) -> type[FakeLooper]:
    monkeypatch.setattr(program, "Looper", FakeLooper)
    monkeypatch.setattr(program, "print_table", lambda *_: None)
    monkeypatch.setattr(FakeLooper, "status", "ok")
    for name in ("STACK", "PRESET", "GPUS"):
        monkeypatch.delenv(name, raising=False)
    return FakeLooper


def test_the_rows_of_a_server_command_keep_their_files_apart(
    looper: type[FakeLooper], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SERVER, "--gpus", "1,2", "--results", str(tmp_path), "--steps", "3"]) == 0
    assert [row.backend_config for row in looper.plan] == [{"fully_sharded_data_parallel_size": count} for count in (1, 2, 2)]
    assert (looper.options.results, looper.options.steps) == (tmp_path / "scale", 3)
    assert looper.servers.results_seen == str(tmp_path / "scale")
    file = json.loads((tmp_path / "last_scale.json").read_text())
    # The growing batch on two has twice the tokens in the same second.
    assert [row["tokens_per_s"] for row in file["rows"]] == [100.0, 100.0, 200.0]
    assert [row["efficiency_pct"] for row in file["rows"]] == [100.0, 50.0, 100.0]
    assert capsys.readouterr().out == f"Wrote {tmp_path}/last_scale.json.\n"


def test_containers_take_the_stacks_preset_under_every_row(
    looper: type[FakeLooper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACK", "cuda")
    assert main(["--gpus", "1,2", "--results", str(tmp_path)]) == 0
    assert isinstance(looper.servers, ComposeServers)
    assert looper.servers.results_seen == "/results/scale"
    assert looper.plan[1].backend_config["trainer.micro_train_batch_size_per_gpu"] == 3
    assert looper.plan[1].backend_config["trainer.placement.policy_num_gpus_per_node"] == 2
    monkeypatch.setenv("PRESET", "h100-h200")
    assert main(["--gpus", "1,2", "--results", str(tmp_path)]) == 0
    assert looper.plan[1].backend_config["trainer.micro_train_batch_size_per_gpu"] == 16


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--gpus", "2,1"], "--gpus 2,1: give numbers from 1 that rise"),
        (["--gpus", "two"], "--gpus 'two': give numbers with commas between"),
        (["--gpus", "1,2", "--preset", "nowhere"], "nowhere.json"),
    ],
)
def test_what_cannot_be_is_two_lines_and_exit_code_2(
    looper: type[FakeLooper], tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], says: str
) -> None:
    assert main([*SERVER, *flags, "--results", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("bench: ") and says in said and said.count("\n") <= 2


def test_a_machine_of_one_gpu_is_refused_before_anything_starts(
    looper: type[FakeLooper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "gpus_here", lambda: 1)
    assert main(["--server-command", "true --backend fsdp", "--results", str(tmp_path)]) == 2
    assert "there is nothing to scale over: this machine has 1 GPU." in capsys.readouterr().err


def test_gpus_that_the_cpu_stack_does_not_take_are_told_in_a_line_with_why(
    looper: type[FakeLooper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The machine's GPU is none of the CPU stack's.
    monkeypatch.setattr(program, "gpus_here", lambda: 1)
    monkeypatch.setattr(program, "processors_here", lambda: 2)
    monkeypatch.setenv("STACK", "cpu")
    monkeypatch.setenv("GPUS", "3")
    assert main(["--results", str(tmp_path)]) == 0
    assert [row.label for row in looper.plan] == ["1-gpus-same", "2-gpus-same", "2-gpus-grown"]
    (said,) = capsys.readouterr().err.splitlines()
    assert said.endswith("] GPUS=3: 3 is not taken, for this machine has 2 processors; SCALE_ARGS='--gpus 1,2,3' asks for all")


def test_a_server_command_has_no_use_for_gpus(
    looper: type[FakeLooper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPUS", "many")
    assert main([*SERVER, "--gpus", "1,2", "--results", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("STACK", "cpu")
    assert main(["--gpus", "1,2", "--results", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "bench: GPUS is 'many'.\nGive a whole number from 1, or all.\n"


def test_gpus_are_the_rows_own_and_make_no_other_server(looper: type[FakeLooper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACK", "cpu")
    monkeypatch.setattr(program, "processors_here", lambda: 2)
    said = []
    for gpus in ("all", "3", "2"):
        monkeypatch.setenv("GPUS", gpus)
        assert main(["--results", str(tmp_path)]) == 0
        said.append(looper.servers.identity)
    assert len(set(said)) == 1 and "GPUS" not in said[0]


def test_its_rows_are_no_settings_to_choose_a_best_of(looper: type[FakeLooper], tmp_path: Path) -> None:
    assert main([*SERVER, "--gpus", "1,2", "--results", str(tmp_path)]) == 0
    assert not looper.options.names_best


def test_its_own_file_is_what_is_spoken_of(looper: type[FakeLooper], tmp_path: Path) -> None:
    assert main([*SERVER, "--gpus", "1,2", "--results", str(tmp_path)]) == 0
    assert looper.options.file == tmp_path / "last_scale.json"


def test_a_run_without_a_row_that_went_well_failed(looper: type[FakeLooper], tmp_path: Path) -> None:
    looper.status = "crashed"
    assert main([*SERVER, "--gpus", "1,2", "--results", str(tmp_path)]) == 1


def test_a_scaling_run_that_left_the_last_ones_file_alone_shows_and_names_its_own(
    looper: type[FakeLooper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(looper, "status", "crashed")
    monkeypatch.setattr(looper, "saved", "runs/x.json")
    shown: list[str] = []
    monkeypatch.setattr(program, "print_table", lambda servers, file, logs: shown.append(file))
    assert main([*SERVER, "--gpus", "1,2", "--results", str(tmp_path)]) == 1
    own = f"{tmp_path}/scale/runs/x.json"
    assert shown == [own]
    assert capsys.readouterr().out == f"Wrote {own}; last_scale.json stays the one before, for no row of this one went well.\n"
    assert not (tmp_path / "last_scale.json").exists()
