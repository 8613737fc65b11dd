"""Repeated runs: the spread between beside the spread within, what is not counted, and what is no repeat at all."""

import io
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bench import repeats
from bench.cli import main
from bench.errors import CompareError
from bench.repeats import Run
from bench.repeats_table import print_repeat
from bench.result_file import ResultFile, of_document
from tests.bench.documents import PUBLISHED, document, with_value


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """`main` takes SIGTERM over."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def content(saving_pct: float, low_pct: float | None, high_pct: float | None, **changed: Any) -> dict[str, Any]:
    """A run with this saving and interval."""
    made = document([0.7, 0.7], [1.0, 1.0])
    made["comparisons"][0] |= {"saving_median_pct": saving_pct, "ci_low_pct": low_pct, "ci_high_pct": high_pct}
    return made | changed


def result(*values: Any, **changed: Any) -> ResultFile:
    return of_document(content(*values, **changed), "r.json")


def of(*results: ResultFile | int) -> dict[str, Any]:
    """The document of these runs; a number is the exit code of one without a result."""
    return repeats.document(
        [Run(None, None, entry) if isinstance(entry, int) else Run(f"runs/{n}.json", entry) for n, entry in enumerate(results, start=1)]
    )


def said(made: dict[str, Any]) -> list[str]:
    """The sentences below the table."""
    out = io.StringIO()
    print_repeat(made, "f.json", Console(file=out, width=200, highlight=False))
    return [line for line in out.getvalue().splitlines()[1:] if line[0] not in "┏┃┡│└"]


def test_the_spread_between_is_of_the_runs_medians_and_the_spread_within_the_median_of_their_intervals_widths() -> None:
    made = of(result(30.0, 29.0, 31.0), result(32.0, 30.0, 34.0), result(31.0, 29.5, 32.5))
    assert made["between"] == {"n": 3, "saving_mean_pct": 31.0, "saving_stdev_pct": 1.0, "saving_low_pct": 30.0, "saving_high_pct": 32.0}
    assert made["within_ci_width_median_pct"] == 3.0
    assert [(row["file"], row["status"], row["saving_median_pct"]) for row in made["runs"]] == [
        ("runs/1.json", "complete", 30.0),
        ("runs/2.json", "complete", 32.0),
        ("runs/3.json", "complete", 31.0),
    ]
    assert (made["runs"][0]["native_1pass_s"], made["runs"][0]["custom_2pass_s"]) == (0.7, 1.0)
    assert said(made) == [
        "Between 3 fresh servers the saving spread over 2.0 points: 30.0 to 32.0 %, mean 31.0 %, standard deviation 1.0 points; "
        "within one run its interval is 3.0 points wide."
    ]


def test_a_run_that_ended_early_is_a_row_and_is_not_counted() -> None:
    partial = result(50.0, None, None, status="partial", reason="ended early: the server died")
    made = of(result(30.0, 29.0, 31.0), partial, 3, result(32.0, 30.0, 34.0))
    assert [row["status"] for row in made["runs"]] == ["complete", "partial", "failed", "complete"]
    assert made["runs"][1]["saving_median_pct"] == 50.0
    assert made["runs"][1]["reason"] == "ended early: the server died"
    assert made["runs"][2]["reason"] == "no result; it ended with exit code 3"
    assert made["between"]["n"] == 2 and made["between"]["saving_high_pct"] == 32.0
    assert said(made)[1] == "2 of 4 runs did not finish with a valid saving, and are not counted."


def test_a_run_that_is_not_valid_is_a_row_and_is_not_counted() -> None:
    mixed = result(90.0, 89.0, 91.0, valid=False, order_check={"outcome": "fail", "text": "row 1 came as row 2"})
    made = of(result(30.0, 29.0, 31.0), mixed, result(32.0, 30.0, 34.0))
    assert [row["status"] for row in made["runs"]] == ["complete", "failed", "complete"]
    assert made["runs"][1]["reason"] == "not valid: row 1 came as row 2"
    assert (made["between"]["n"], made["between"]["saving_high_pct"]) == (2, 32.0)
    assert said(made)[1] == "1 of 3 runs did not finish with a valid saving, and is not counted."


def test_one_run_has_no_spread_between_servers() -> None:
    made = of(result(30.0, 29.0, 31.0))
    assert made["between"]["n"] == 1 and made["between"]["saving_stdev_pct"] is None
    assert said(made) == ["1 complete run: a spread between servers needs two."]


def test_runs_too_short_for_an_interval_have_no_spread_within() -> None:
    made = of(result(30.0, None, None), result(32.0, None, None))
    assert made["within_ci_width_median_pct"] is None
    assert said(made)[0].endswith("mean 31.0 %, standard deviation 1.4 points.")  # the root of 2


def test_no_run_with_a_result_is_a_document_all_the_same() -> None:
    made = of(3, 3)
    assert made["model"] is None and made["between"] == {
        "n": 0,
        "saving_mean_pct": None,
        "saving_stdev_pct": None,
        "saving_low_pct": None,
        "saving_high_pct": None,
    }


def test_a_partial_file_without_any_step_is_a_row() -> None:
    empty = of_document(document([], status="partial", reason="it died"), "r.json")
    assert [row["status"] for row in of(result(30.0, 29.0, 31.0), empty)["runs"]] == ["complete", "partial"]


@pytest.mark.parametrize(
    ("where", "value", "says"), [(("batch", "sha256"), "f" * 64, "another batch"), (("summary", "model"), "other", "another model")]
)
def test_runs_of_another_batch_or_model_are_no_repeat(where: tuple[str, ...], value: str, says: str) -> None:
    other = of_document(with_value(content(30.0, 29.0, 31.0), where, value), "other.json")
    with pytest.raises(CompareError, match=f"r.json and other.json are no repeat of each other: {says}"):
        of(result(30.0, 29.0, 31.0), other)


def test_a_setting_that_differs_is_named() -> None:
    other = of_document(with_value(content(30.0, 29.0, 31.0), ("settings", "lora_rank"), 8), "other.json")
    first = result(30.0, 29.0, 31.0)
    assert repeats.disagreements([first, first, other]) == ["result 3 differs from the first in settings.lora_rank"]


def test_files_of_the_published_shape_are_rows_without_a_saving() -> None:
    made = of(of_document(PUBLISHED, "p.json"), of_document(PUBLISHED, "p.json"))
    assert made["between"]["n"] == 0
    assert made["runs"][0]["native_1pass_s"] == pytest.approx(12.9, abs=0.3)


def ended(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as raised:
        main([str(argument) for argument in arguments])
    assert isinstance(raised.value.code, int)
    return raised.value.code


def test_runs_that_were_not_tried_are_told_with_why() -> None:
    made = repeats.document(
        [Run(None, None, 3), Run(None, None, 3)], 3, "Runs 1 and 2 failed at start-up for the same reason: KeyError: 'x'"
    )
    assert (made["not_tried"], said(made)[-1]) == (
        3,
        "3 more runs not tried. Runs 1 and 2 failed at start-up for the same reason: KeyError: 'x'",
    )
    assert (of(3)["not_tried"], of(3)["not_tried_reason"]) == (0, None)


def test_the_command_writes_the_file_and_prints_every_run_in_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "runs").mkdir()
    for name, saving_pct in (("a", 30.0), ("c", 32.0)):
        (tmp_path / "runs" / f"{name}.json").write_text(json.dumps(content(saving_pct, saving_pct - 1, saving_pct + 1)))
    files = [tmp_path / "runs" / f"{name}.json" for name in "ac"]
    assert ended("repeats", *files, "--failed", "2", "3", "--results", tmp_path) == 0
    written = json.loads((tmp_path / "last_repeat.json").read_text())
    assert [(row["file"], row["status"]) for row in written["runs"]] == [
        ("runs/a.json", "complete"),
        (None, "failed"),
        ("runs/c.json", "complete"),
    ]
    printed = capsys.readouterr().out
    assert "3 runs, each on a fresh server" in printed and "31.0 to 33.0 %" in printed
    assert "failed: no result; it ended" in printed and "mean 31.0 %" in printed
    assert ended("show", tmp_path / "last_repeat.json") == 0
    assert capsys.readouterr().out == printed[: printed.index("wrote ")]
    assert ended("repeats", files[0], "--not-tried", "2", "for the\nsame reason", "--results", tmp_path) == 0
    assert "2 more runs not tried. for the same reason\n" in capsys.readouterr().out
    assert json.loads((tmp_path / "last_repeat.json").read_text())["not_tried"] == 2


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((), 2, "no run: give the result files"),
        (("--failed", "2", "3"), 2, "--failed 2: there is only 1 run."),
        (("missing.json",), 2, "missing.json"),
    ],
)
def test_wrong_usage_writes_nothing(arguments: tuple[str, ...], code: int, says: str, tmp_path: Path, capsys: Any) -> None:
    assert ended("repeats", *arguments, "--results", tmp_path) == code
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_show_names_a_wrong_value_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.json").write_text(json.dumps({"schema": 1, "kind": "gspo-bench-repeat", "runs": [{"saving_median_pct": "x"}]}))
    assert ended("show", tmp_path / "r.json") == 2
    assert 'runs[0].saving_median_pct is "x"' in capsys.readouterr().err
