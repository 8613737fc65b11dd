"""The run's folder: what a crash may leave, and what is made of it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.errors import InputError
from bench.learn import record
from bench.learn.record import Checkpoint, RunFolder

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


def folder_of(tmp_path: Path, steps: int, torn: str = "") -> RunFolder:
    folder = RunFolder(tmp_path)
    for step in range(steps):
        folder.append({"step": step, "env/all/correct": step / 10})
    with folder.metrics.open("a") as file:
        file.write(torn)
    return folder


def test_a_row_is_a_line_of_json(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 2)
    assert folder.metrics.read_text() == '{"step": 0, "env/all/correct": 0.0}\n{"step": 1, "env/all/correct": 0.1}\n'


def test_a_torn_last_line_is_no_row(tmp_path: Path) -> None:
    assert [row["step"] for row in folder_of(tmp_path, 2, '{"step": 2, "env/al').rows()] == [0, 1]


def test_a_whole_last_line_without_its_end_is_not_trusted(tmp_path: Path) -> None:
    assert [row["step"] for row in folder_of(tmp_path, 1, '{"step": 1}').rows()] == [0]


def test_rows_from_the_checkpoint_on_are_cut_and_the_file_goes_on_whole(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 5, '{"step"')
    assert [row["step"] for row in folder.cut(3)] == [0, 1, 2]
    folder.append({"step": 3})
    assert [json.loads(line)["step"] for line in folder.metrics.read_text().splitlines()] == [0, 1, 2, 3]


def test_rows_that_are_missing_or_double_end_it(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 2)
    with pytest.raises(InputError, match="does not hold steps 0 to 2 one by one"):
        folder.cut(3)
    folder.append({"step": 1})
    with pytest.raises(InputError, match="one by one"):
        folder.cut(2)


@pytest.mark.parametrize(
    "line",
    [
        "no json\n",
        "[]\n",
        "{}\n",
        '{"step": "1"}\n',
        '{"step": true}\n',
        "\n",
        "\xff\n",
        '{"step": 1, "a": NaN}\n',
        '{"step": 1, "a": 1e999}\n',
        "[" * 100_000 + "\n",
    ],
)
def test_a_wrong_line_in_the_middle_is_named(tmp_path: Path, line: str) -> None:
    folder = folder_of(tmp_path, 1, line)
    with pytest.raises(InputError, match=r"metrics\.jsonl, line 2"):
        folder.rows()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(keep=st.integers(0, 400))
def test_a_file_cut_anywhere_gives_its_whole_rows(tmp_path: Path, keep: int) -> None:
    (tmp_path / "metrics.jsonl").unlink(missing_ok=True)
    folder = folder_of(tmp_path, 8)
    content = folder.metrics.read_bytes()[:keep]
    folder.metrics.write_bytes(content)
    assert [row["step"] for row in folder.rows()] == list(range(content.count(b"\n")))


def test_a_checkpoint_is_read_back_and_a_changed_one_refused(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.read_checkpoint() is None
    folder.write_checkpoint(Checkpoint(10, "tinker://m/weights/step-000010", 12.5))
    assert folder.read_checkpoint() == Checkpoint(10, "tinker://m/weights/step-000010", 12.5)
    huge = "1" + "0" * 400
    entry = '{"next_step": 1, "state": "s", "elapsed_s": %s}'
    for text in (
        entry % "1e999",
        entry % huge,
        entry % "-1",
        entry % "true",
        "[]",
        '{"next_step": -1, "state": "s", "elapsed_s": 1}',
        '{"next_step": 1, "state": 2, "elapsed_s": 1}',
    ):
        (tmp_path / "checkpoint.json").write_text(text)
        with pytest.raises(InputError, match="was changed"):
            folder.read_checkpoint()


def test_a_checkpoint_of_a_step_beyond_counting_does_not_hang(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one by one"):
        folder_of(tmp_path, 2).cut(10**18)


def test_a_metrics_file_larger_than_any_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "MAX_BYTES", 10)
    with pytest.raises(InputError, match="at most 10"):
        folder_of(tmp_path, 2).rows()


def test_runs_of_one_second_have_folders_of_their_own_and_the_last_is_pointed_to(tmp_path: Path) -> None:
    first = record.new_folder(tmp_path, NOW, "/models/tiny-qwen3", "native_1pass")
    second = record.new_folder(tmp_path, NOW, "/models/tiny-qwen3", "native_1pass")
    assert first.path.name == "20261130T090000Z-learn-tiny-qwen3-native_1pass"
    assert second.path.name == "20261130T090000Z-learn-tiny-qwen3-native_1pass-1"
    pointer = json.loads((tmp_path / "last_learn.json").read_text())
    assert pointer == {"schema": 1, "kind": "gspo-bench-learn", "run": f"runs/{second.path.name}"}
    assert record.find(tmp_path, "last").path == second.path
    first.write_run({"schema": 1, "kind": "gspo-bench-learn"})
    for given_name in (str(first.path), f"runs/{first.path.name}", first.path.name):
        assert record.find(tmp_path, given_name).path == first.path


def test_what_cannot_be_resumed_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no run to resume"):
        record.find(tmp_path, "last")
    with pytest.raises(InputError, match="there is no run nowhere"):
        record.find(tmp_path, "nowhere")
    (tmp_path / "last_learn.json").write_text("{}")
    with pytest.raises(InputError, match="names no run"):
        record.find(tmp_path, "last")
    (tmp_path / "run.json").write_text('{"schema": 1, "kind": "gspo-bench"}')
    with pytest.raises(InputError, match="is not the record of a learning run"):
        RunFolder(tmp_path).read_run()


@pytest.mark.parametrize("schema", ["a" * 100_000, ["b"] * 50_000, None, 2])
def test_a_schema_that_is_not_read_is_named_in_a_short_line(schema: object, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"schema": schema, "kind": "gspo-bench-learn"}))
    with pytest.raises(InputError, match=r"has schema .*; this version reads 1") as raised:
        RunFolder(tmp_path).read_run()
    assert len(str(raised.value)) < len(str(tmp_path)) + 200
