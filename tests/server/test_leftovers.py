"""What a server that keeps its state finds of the one before it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import leftovers
import pytest
import serve

TABLES = """
CREATE TABLE sessions (session_id TEXT, status TEXT);
CREATE TABLE models (model_id TEXT, status TEXT);
CREATE TABLE futures (request_id INTEGER, status TEXT);
CREATE TABLE sampling_sessions (sampling_session_id TEXT);
CREATE TABLE engine_state (singleton_id INTEGER, inference_proxy_url TEXT);
CREATE TABLE checkpoints (model_id TEXT, checkpoint_id TEXT, checkpoint_type TEXT, status TEXT);
INSERT INTO sessions VALUES ('s', 'active');
INSERT INTO models VALUES ('m', 'created');
INSERT INTO futures VALUES (1, 'PENDING'), (2, 'COMPLETED');
INSERT INTO sampling_sessions VALUES ('a');
INSERT INTO engine_state VALUES (1, 'http://127.0.0.1:1');
INSERT INTO checkpoints VALUES ('m', 'step-000005', 'TRAINING', 'COMPLETED'), ('m', 'step-000010', 'TRAINING', 'PENDING'),
    ('m', 'ss0_seq1', 'SAMPLER', 'COMPLETED');
"""


def database_of(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "tinker.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES)
    return path


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def test_finished_checkpoints_stay_and_what_was_left_open_goes(tmp_path: Path) -> None:
    database = database_of(tmp_path)
    sampler, training = tmp_path / "checkpoints/m/sampler_weights", tmp_path / "checkpoints/m/step-000005.tar.gz"
    sampler.mkdir(parents=True)
    (sampler / "ss0_seq1.tar.gz").write_bytes(b"weights")
    training.write_bytes(b"weights")
    assert leftovers.settle(database, tmp_path / "checkpoints") == 1
    assert rows(database, "SELECT checkpoint_id FROM checkpoints") == [("step-000005",)]
    assert rows(database, "SELECT status FROM sessions") == [("expired",)]
    assert rows(database, "SELECT status FROM models") == [("unloaded",)]
    for table in ("futures", "sampling_sessions", "engine_state"):
        assert rows(database, f"SELECT * FROM {table}") == []
    assert training.exists() and not sampler.exists()
    assert leftovers.settle(database, tmp_path / "checkpoints") == 1


def test_a_first_start_finds_nothing(tmp_path: Path) -> None:
    assert serve.kept_state(tmp_path / "new" / "state") == (tmp_path / "new" / "state").resolve()
    assert (tmp_path / "new" / "state").is_dir()


def test_a_folder_that_is_a_file_or_holds_no_database_is_refused_in_two_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "tinker.db").write_text("no database at all, but text that is long enough")
    for folder in (tmp_path / "file", tmp_path):
        with pytest.raises(SystemExit) as ended:
            serve.kept_state(folder)
        assert ended.value.code == 2
        assert capsys.readouterr().err.startswith(f"error: --state {folder} cannot be used")
