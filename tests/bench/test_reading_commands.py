"""show, compare and export on the command line: what they print, where they end, and what they leave alone."""

import csv
import io
import json
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import other_kinds
from bench.cli import main
from tests.bench.documents import DATA, PUBLISHED, SCHEMA1, document, with_value

EIGHT = [1.00, 1.01, 0.99, 1.02, 0.98, 1.00, 1.01, 0.99]
SLOWER = [1.1 * time_s for time_s in EIGHT]


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """`main` takes SIGTERM over."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def ended(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as raised:
        main([str(argument) for argument in arguments])
    assert isinstance(raised.value.code, int)
    return raised.value.code


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with the files a (8 steps), same, slower, other (another model) and partial (no counted step)."""
    monkeypatch.chdir(tmp_path)
    files: dict[str, dict[str, Any]] = {
        "a": document(EIGHT, SLOWER),
        "partial": document([], status="partial", reason="it died"),
        "same": document(EIGHT, SLOWER),
        "slower": document(SLOWER, SLOWER),
        "other": with_value(document(EIGHT, SLOWER), ("summary", "model"), "m2"),
    }
    for name, content in files.items():
        Path(f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def test_show_prints_the_table_and_where_it_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("show", DATA / "schema1_gspo_bench.json") == 0
    printed = capsys.readouterr().out
    assert "sdk_custom" in printed and SCHEMA1["summary"]["verdict"] in printed
    assert "server   no GPU, " in printed and f"; backend {SCHEMA1['environment']['server']['backend']}" in printed
    assert f"batch    sha256 {SCHEMA1['batch']['sha256'][:12]};" in printed
    assert ended("show", DATA / "published_gspo_bench.json") == 0
    assert "saves 23.0 %" in capsys.readouterr().out


def test_show_takes_the_last_result_by_default(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("show") == 2
    assert "results/last_gspo_bench.json" in capsys.readouterr().err
    (folder / "results").mkdir()
    (folder / "a.json").rename(folder / "results" / "last_gspo_bench.json")
    assert ended("show") == 0


def test_compare_of_equal_runs_ends_with_0(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("compare", "a.json", "same.json", "--max-regression-pct", "0") == 0
    printed = capsys.readouterr()
    assert "no difference that 8 steps can show" in " ".join(printed.out.replace("│", " ").split())
    assert printed.err == ""


def test_a_regression_beyond_what_is_allowed_ends_with_7_after_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("compare", "a.json", "slower.json") == 0
    assert "Within the limit" not in capsys.readouterr().out
    assert ended("compare", "a.json", "slower.json", "--max-regression-pct", "12") == 0
    assert "Within the limit: no path of slower.json is shown to be more than 12 % slower." in capsys.readouterr().out
    assert ended("compare", "a.json", "slower.json", "--max-regression-pct", "5") == 7
    printed = capsys.readouterr()
    assert "10.0 % slower" in printed.out and "Within the limit" not in printed.out
    assert printed.err == "bench: native_1pass of slower.json is 10.00 % slower, more than 5 %.\n"


def test_what_cannot_be_compared_ends_with_7_after_the_differences_unless_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("compare", "a.json", "other.json") == 7
    printed = capsys.readouterr()
    assert "m2" in printed.out and "what they show" not in printed.out
    assert printed.err.startswith("bench: cannot compare a.json and other.json: another model (tiny-qwen3; m2).\nGive --anyway")
    assert ended("compare", "a.json", "other.json", "--anyway") == 0
    assert "Compared all the same: another model (tiny-qwen3; m2)." in capsys.readouterr().out
    assert ended("compare", "a.json", "partial.json", "--anyway") == 7
    assert "no path with timed steps in both" in capsys.readouterr().err


def test_a_result_that_is_not_valid_is_compared_with_nothing_and_never_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mixed = document(EIGHT, SLOWER, valid=False, order_check={"outcome": "fail", "text": "row 1 came as row 2"})
    (folder / "mixed.json").write_text(json.dumps(mixed))
    for files in (("a.json", "mixed.json"), ("mixed.json", "a.json")):
        for flags in ((), ("--anyway",), ("--max-regression-pct", "50"), ("--markdown",)):
            assert ended("compare", *files, *flags) == 7
            printed = capsys.readouterr()
            assert printed.err == (
                f"bench: cannot compare {files[0]} and {files[1]}: mixed.json is not valid (row 1 came as row 2).\n"
                "Measure again on another server setting or version, whose outputs come in order: bench verify says.\n"
            )
            assert "mixed.json; taken" in printed.out and "NOT VALID (row 1 came as row 2)" in printed.out
            assert "what they show" not in printed.out
    (folder / "both").mkdir()
    (folder / "mixed.json").rename(folder / "both" / "mixed.json")
    (folder / "both" / "same.json").write_text(json.dumps(document(EIGHT, SLOWER)))
    assert ended("compare", "a.json", "both", "--anyway") == 0
    assert capsys.readouterr().err == "bench: passed over: both/mixed.json: both/mixed.json is not valid (row 1 came as row 2).\n"


def test_what_the_gate_cannot_judge_fails_unless_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "short.json").write_text(json.dumps(document(EIGHT, SLOWER[:3])))
    assert ended("compare", "a.json", "short.json") == 0
    assert ended("compare", "a.json", "short.json", "--max-regression-pct", "5") == 7
    assert "cannot judge custom_2pass of short.json" in capsys.readouterr().err
    assert ended("compare", "a.json", "short.json", "--max-regression-pct", "5", "--anyway") == 0


def test_a_folder_stands_for_its_results_and_what_does_not_fit_is_passed_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "verify.json").write_text(json.dumps({"schema": 1, "kind": "gspo-bench-verify"}))
    assert ended("compare", ".") == 0
    printed = capsys.readouterr()
    assert [line[:14] for line in printed.out.splitlines() if line.startswith("B: ")] == ["B: same.json; ", "B: slower.json"]
    passed_over = [line for line in printed.err.splitlines() if line.startswith("bench: passed over: ")]
    assert len(passed_over) == len(printed.err.splitlines()) == 3
    # A baseline that is named is not compared with itself.
    assert ended("compare", "slower.json", ".", "--max-regression-pct", "1") == 0
    assert "B: slower.json" not in capsys.readouterr().out


def test_a_folder_without_anything_to_compare_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    assert ended("compare", "empty") == 2
    assert ended("compare", "a.json", "empty") == 2
    assert "found 1" in capsys.readouterr().err
    (folder / "other.json").rename(folder / "empty" / "other.json")
    assert ended("compare", "a.json", "empty") == 7


def test_markdown_is_printed_alone_on_stdout(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("compare", "a.json", "slower.json", "--markdown") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("- `A: a.json") and "| native_1pass | 1.000 s | 1.100 s | 8, 8 | 10.0 % slower, 95 % interval" in "\n".join(
        lines
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "none.json"],
        ["show", "text.json"],
        ["show", "newer.json"],
        ["compare"],
        ["compare", "a.json"],
        ["compare", "a.json", "none.json"],
        ["compare", "a.json", "same.json", "--max-regression-pct", "-1"],
        ["compare", "a.json", "same.json", "--max-regression-pct", "nan"],
        ["export", "a.json"],
        ["export", "--csv", "-"],
        ["export", "a.json", "--csv", "a.json"],
        ["export", "a.json", "--csv", "./x/../a.json"],
        ["export", "a.json", "--csv", "."],
        ["export", "a.json", "--csv", "/dev/null"],
    ],
    ids=" ".join,
)
def test_wrong_input_ends_with_2_and_at_most_two_lines(folder: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "text.json").write_text("hello")
    (folder / "newer.json").write_text('{"schema": 2, "kind": "gspo-bench"}')
    (folder / "x").mkdir()
    before = (folder / "a.json").read_bytes()
    assert ended(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("bench: ") and len(printed.err.splitlines()) <= 2 and printed.out == ""
    assert (folder / "a.json").read_bytes() == before and Path("/dev/null").is_char_device()


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_export_has_a_row_a_step_with_its_phases(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("export", DATA / "schema1_gspo_bench.json", "--csv", "out/steps.csv") == 0
    assert capsys.readouterr().err == "wrote out/steps.csv\n"
    found = rows((folder / "out" / "steps.csv").read_text())
    assert len(found) == len(SCHEMA1["steps"])
    for row, step in zip(found, SCHEMA1["steps"], strict=True):
        assert (row["path"], int(row["round"]), int(row["position"])) == (step["path"], step["round"], step["position"])
        assert (row["counted"], row["started_at"]) == ("true" if step["counted"] else "false", step["started_at"])
        assert float(row["step_s"]) == step["step_s"]
        assert {name: float(row[f"phase_{name}_s"]) for name in step["phases_s"]} == step["phases_s"]


def test_export_has_where_the_time_went_and_the_wire_of_files_that_tell_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = {"path": "native_1pass", "step_s": 1.0, "phases_s": {"encode": 0.1}, "timeline_s": {"queued": 0.25}, "wire": {"up_bytes": 1000}}
    (folder / "new.json").write_text(json.dumps(document(EIGHT) | {"steps": [step, step | {"timeline_s": None, "wire": None}]}))
    assert ended("export", "new.json", "--csv", "-") == 0
    first, second = rows(capsys.readouterr().out)
    assert [float(first[name]) for name in ("phase_encode_s", "timeline_queued_s", "wire_up_bytes")] == [0.1, 0.25, 1000.0]
    assert (second["phase_encode_s"], second["timeline_queued_s"], second["wire_up_bytes"]) == ("0.1", "", "")


def test_export_of_several_files_shares_one_heading_and_leaves_untold_cells_empty(capsys: pytest.CaptureFixture[str]) -> None:
    published = DATA / "published_gspo_bench.json"
    assert ended("export", published, DATA / "schema1_gspo_bench.json", "--csv", "-") == 0
    found = rows(capsys.readouterr().out)
    first = [row for row in found if row["file"] == str(published)]
    assert [float(row["step_s"]) for row in first] == PUBLISHED["native_1pass"]["times"] + PUBLISHED["custom_2pass"]["times"]
    assert {(row["round"], row["started_at"], row["phase_encode_s"], row["counted"]) for row in first} == {("", "", "", "true")}
    assert len(found) == 16 + len(SCHEMA1["steps"])


FOR_ALL = {
    "gspo-bench-sweep": ("a sweep", "python -m bench show last.json prints its table; make plots draws it: sweep.png."),
    "gspo-bench-scale": ("a scaling run", "python -m bench show last.json prints its table; make plots draws it: scale.png."),
    "gspo-bench-repeat": ("several runs on fresh servers", "python -m bench show last.json prints their table; each run's own file,"),
    "gspo-bench-verify": ("a run of verify", "python -m bench show last.json prints its checks."),
    "gspo-bench-learn": ("a learning run", "python -m bench show last.json prints its accuracies; make plots draws its curve,"),
    "gspo-bench-batch": ("a frozen batch", "python -m bench run --batch last.json takes it again."),
}


@pytest.mark.parametrize("kind", FOR_ALL)
@pytest.mark.parametrize("command", [("compare", "a.json"), ("export", "--csv", "-"), ("repeats",)], ids=lambda command: command[0])
def test_a_file_of_another_kind_is_named_with_what_is_for_it(
    folder: Path, command: tuple[str, ...], kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "last.json").write_text(json.dumps({"schema": 1, "kind": kind, "run": "runs/x"}))
    assert ended(*command, "last.json") == 2
    first, second = capsys.readouterr().err.splitlines()
    what, use = FOR_ALL[kind]
    assert first == f"bench: last.json is {what}, and a result file of one run is needed." and second.startswith(use)


def test_each_kind_that_is_written_here_is_named() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (DATA.parents[1] / "bench").rglob("*.py")]
    written = {kind for text in sources for kind in re.findall(r'(?:KIND = |"kind": )"(gspo-bench-[a-z]+)"', text)}
    assert written == set(other_kinds.KINDS) == set(FOR_ALL)


@pytest.mark.parametrize("command", [("compare", "a.json"), ("export", "--csv", "-")], ids=lambda command: command[0])
def test_a_learning_run_is_named_by_its_folder_and_its_record(
    folder: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    run = DATA.parents[1] / "results" / "published" / "cpu-learn-arithmetic"
    for given in (run, run / "run.json"):
        assert ended(*command, given) == 2
        assert f"{given} is a learning run, and a result file of one run is needed.\npython -m bench show" in capsys.readouterr().err


def test_show_follows_the_pointer_to_the_last_learning_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = DATA.parents[1] / "results" / "published" / "cpu-learn-arithmetic"
    assert ended("show", run) == 0
    wanted = capsys.readouterr().out
    assert "Accuracy in training: 42.2 % at the start" in wanted
    shutil.copytree(run, folder / "results" / "runs" / "mine")
    pointer = folder / "results" / "last_learn.json"
    pointer.write_text(json.dumps({"schema": 1, "kind": "gspo-bench-learn", "run": "runs/mine"}))
    assert ended("show", "results/last_learn.json") == 0
    assert capsys.readouterr().out == wanted
    pointer.write_text(json.dumps({"schema": 1, "kind": "gspo-bench-learn", "run": "runs/gone"}))
    assert ended("show", "results/last_learn.json") == 2
    assert "results/runs/gone/run.json: No such file or directory." in capsys.readouterr().err
