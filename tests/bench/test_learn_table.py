"""What `bench show` prints of a learning run."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from bench.errors import InputError
from bench.learn_table import is_learn, print_learn
from bench.show_command import show_command

RECORD: dict[str, Any] = {
    "schema": 1,
    "kind": "gspo-bench-learn",
    "status": "partial",
    "reason": "interrupted",
    "model": "Qwen/[red]x",
    "weights": "pretrained",
    "task": "gsm8k",
    "path": "native_1pass",
    "steps": 40,
    "final": None,
}


def printed(folder: Path, record: dict[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"step": 2, "torn')
    out = io.StringIO()
    print_learn(record, folder / "run.json", Console(file=out, width=110, highlight=False))
    return out.getvalue().splitlines()


def test_a_run_is_told_by_its_record_and_its_first_and_last_accuracies(tmp_path: Path) -> None:
    rows = [{"step": 0, "env/all/correct": 0.02, "test/env/all/correct": 0.03}, {"step": 1, "env/all/correct": 0.605}]
    assert printed(tmp_path, RECORD, rows) == [
        "Qwen/[red]x (pretrained weights), gsm8k, native_1pass: 2 of 40 steps, partial (interrupted)",
        "Accuracy in training: 2.0 % at the start, 60.5 % at the end (of the first step and of the last).",
        "Held out: 3.0 %.",
    ]


def test_the_test_after_the_last_update_is_the_end_of_what_was_held_out(tmp_path: Path) -> None:
    rows = [{"step": 0, "env/all/correct": 0.5, "test/env/all/correct": 0.4}]
    done = RECORD | {"status": "complete", "reason": None, "final": {"step": 1, "test/env/all/correct": 0.75}}
    assert printed(tmp_path, done, rows)[2] == "Held out: 40.0 % at the start, 75.0 % at the end."


def test_a_run_without_a_row_says_only_what_it_is(tmp_path: Path) -> None:
    assert printed(tmp_path, RECORD, []) == ["Qwen/[red]x (pretrained weights), gsm8k, native_1pass: 0 of 40 steps, partial (interrupted)"]


def test_a_row_that_no_run_wrote_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"step 0: env/all/correct is 7"):
        printed(tmp_path, RECORD, [{"step": 0, "env/all/correct": 7}])


def test_the_pointer_to_the_last_run_is_no_run() -> None:
    assert is_learn(RECORD)
    assert not is_learn({"schema": 1, "kind": "gspo-bench-learn", "run": "runs/x"})


def test_show_prints_the_published_run() -> None:
    path = Path(__file__).parents[2] / "results" / "published" / "cpu-learn-arithmetic" / "run.json"
    shown = CliRunner().invoke(show_command, [str(path)])
    assert shown.exit_code == 0
    assert CliRunner().invoke(show_command, [str(path.parent)]).output == shown.output  # a run is its folder
    assert "arithmetic, native_1pass: 30 of 30 steps, complete" in shown.output
    assert "Held out: 43.0 % at the start, 85.2 % at the end." in shown.output
