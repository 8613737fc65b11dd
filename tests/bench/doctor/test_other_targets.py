"""What make sweep, make scale and make learn would refuse is named before."""

import json
from pathlib import Path

import pytest

from bench.doctor.asked import judge_asked
from bench.doctor.other_targets import judge_sweep, judge_task, judge_values
from bench.doctor.settings import Settings, read_settings


def test_sweeps_and_files_that_are_there_and_no_setting_are_no_finding(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps([{"label": "a", "backend_config": {}}]))
    assert [judge_sweep(name, tmp_path) for name in ("", "l4", "h200", "cpu", "mine.json", "./mine.json", str(tmp_path / "mine.json"))] == [
        None
    ] * 7
    assert [judge_task(name) for name in ("", "gsm8k", "arithmetic")] == [None] * 3


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("nofile", "there is no sweep 'nofile'"),
        ("nofile.json", "cannot read the sweep's settings nofile.json: No such file or directory"),
        ("empty.json", "empty.json has no rows: give a list of objects with a label and a backend_config"),
    ],
)
def test_a_sweep_that_cannot_be_taken_is_a_warning_with_those_there_are(tmp_path: Path, name: str, seen: str) -> None:
    (tmp_path / "empty.json").write_text("[]")
    finding = judge_sweep(name, tmp_path)
    assert finding is not None
    assert (finding.name, finding.status, finding.seen) == ("SWEEP", "warn", seen)
    assert finding.action == "SWEEP=cpu make sweep     # or: cpu, h200, l4, or the path of a JSON file"


def test_a_task_that_is_not_there_is_a_warning_with_the_nearest() -> None:
    finding = judge_task("gsm9k")
    assert finding is not None
    assert (finding.name, finding.status, finding.seen) == ("TASK", "warn", "there is no task 'gsm9k'")
    assert finding.action == "TASK=gsm8k make learn     # or: gsm8k, arithmetic"


@pytest.mark.parametrize(
    ("name", "text", "seen"),
    [
        ("SWEEP_ARGS", "--time-budget-s abc", "argument --time-budget-s: invalid number from 1 value: 'abc'"),
        ("SWEEP_ARGS", "--again --steps 0", "argument --steps: invalid number from 1 value: '0'"),
        ("SWEEP_ARGS", "--memory-limit-gib", "argument --memory-limit-gib: expected one argument"),
        ("SCALE_ARGS", "--row-deadline-s nan", "argument --row-deadline-s: invalid number from 1 value: 'nan'"),
    ],
)
def test_a_value_that_a_flag_cannot_have_is_a_warning(name: str, text: str, seen: str, capsys: pytest.CaptureFixture[str]) -> None:
    finding = judge_values(name, text)
    target = name.split("_")[0].lower()
    assert finding is not None
    assert (finding.name, finding.status, finding.seen) == (name, "warn", seen)
    assert finding.action == f"{name}='...' make {target}     # all flags: python3 -m bench {target} --help"
    assert capsys.readouterr() == ("", "")


def test_values_that_can_be_are_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    given = [("SWEEP_ARGS", "--time-budget-s 90 --run-args '--lora-rank 8'"), ("SWEEP_ARGS", "--help"), ("SCALE_ARGS", "--gpus 1,2")]
    assert [judge_values(name, text) for name, text in [*given, ("SWEEP_ARGS", ""), ("BENCH_ARGS", "--steps abc")]] == [None] * 5
    assert capsys.readouterr() == ("", "")


def test_what_was_set_is_named_where_it_is_well() -> None:
    settings = read_settings({"SWEEP": "cpu"}, {"TASK": "arithmetic"}, "p")
    assert (settings.sweep, settings.task) == ("cpu", "arithmetic")
    (finding,) = judge_asked(settings, "cpu", ["cpu"])
    assert finding.seen == "preset cpu, SWEEP=cpu, TASK=arithmetic"
    assert Settings().sweep == Settings().task == ""
