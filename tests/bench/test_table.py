"""The table that is printed, and the lines while a run goes on."""

import io
from typing import Any

import pytest
from rich.console import Console

from bench.progress import Reporter
from bench.table import print_result
from tests.bench.fakes import record

ENTRY = {"n": 8, "median_s": 0.184, "mean_s": 0.19, "stdev_s": None, "tokens_per_s": 6573.684, "client_overhead_s": 0.0051}
DOCUMENT: dict[str, Any] = {
    "status": "complete",
    "native_1pass": ENTRY,
    "summary": {"model": "Qwen/[red]x", "batch_seqs": 16, "total_tokens_per_step": 7569, "verdict": "One sentence [bold]as it is[/bold]."},
    "comparisons": [
        {"candidate": "native_1pass", "saving_median_pct": 23.0, "ci_low_pct": 21.0, "ci_high_pct": 25.0},
        {"candidate": "native_1pass_control", "saving_median_pct": -0.44, "ci_low_pct": -1.06, "ci_high_pct": 0.5},
    ],
    "warnings": [{"code": "DRIFT", "text": "steps drifted by +12 %", "action": "Check for other load."}],
}


def printed(document: dict[str, Any]) -> str:
    out = io.StringIO()
    print_result(document, Console(file=out, width=110, highlight=False))
    return out.getvalue()


def test_the_table_has_the_paths_that_were_timed_with_their_numbers() -> None:
    text = printed(DOCUMENT)
    row = next(line for line in text.splitlines() if "native_1pass" in line)
    for number in ("8", "0.184 s", "0.190 s", "6,574", "5.100 ms"):
        assert number in row
    assert "custom_2pass" not in text and "None" not in text
    assert "7,569 target tokens a step" in text


def test_the_verdict_the_control_and_the_warnings_follow_word_for_word() -> None:
    lines = printed(DOCUMENT).splitlines()
    assert lines[-3:] == [
        "One sentence [bold]as it is[/bold].",
        "Control, the fused path against itself: -0.4 %, 95 % interval -1.1 to 0.5 %; it holds 0, as it should.",
        "warning DRIFT: steps drifted by +12 %. Check for other load.",
    ]


@pytest.mark.parametrize(
    ("low", "high", "judged"),
    [
        (0.0, 1.0, "it holds 0, as it should"),
        (-1.0, 0.0, "it holds 0, as it should"),
        (0.1, 1.0, "it should hold 0, and does not: differences of this size mean nothing here"),
        (-1.0, -0.1, "it should hold 0, and does not: differences of this size mean nothing here"),
    ],
)
def test_the_control_is_judged_by_whether_its_interval_holds_0(low: float, high: float, judged: str) -> None:
    changed = [{**DOCUMENT["comparisons"][1], "ci_low_pct": low, "ci_high_pct": high}]
    assert f" %; {judged}.\n" in printed({**DOCUMENT, "comparisons": changed})


def test_what_a_model_is_called_is_no_markup() -> None:
    assert "Qwen/[red]x: 16 sequences" in printed(DOCUMENT)


def test_one_of_a_thing_is_no_plural() -> None:
    text = printed({**DOCUMENT, "summary": {**DOCUMENT["summary"], "batch_seqs": 1, "total_tokens_per_step": 1}})
    assert "Qwen/[red]x: 1 sequence, 1 target token a step " in text


def test_a_partial_result_says_so_first() -> None:
    assert printed({**DOCUMENT, "status": "partial"}).startswith("PARTIAL ")


def test_a_result_that_is_not_valid_says_so_first_and_why_before_its_verdict() -> None:
    lines = printed({**DOCUMENT, "valid": False, "order_check": {"outcome": "fail", "text": "row 1 came as row 2"}}).splitlines()
    assert lines[0].startswith("NOT VALID ")
    assert lines.index("Not valid: row 1 came as row 2. Do not use its numbers.") < lines.index(DOCUMENT["summary"]["verdict"])
    assert "NOT VALID" not in printed({**DOCUMENT, "valid": True})


def test_a_control_without_an_interval_says_why() -> None:
    control = {"candidate": "native_1pass_control", "saving_median_pct": 0.1, "ci_low_pct": None, "ci_high_pct": None}
    assert "against itself: +0.1 % (too few pairs for an interval)." in printed({**DOCUMENT, "comparisons": [control]})


def test_off_a_terminal_each_step_is_a_plain_line() -> None:
    out = io.StringIO()
    with Reporter(Console(file=out, highlight=False, soft_wrap=True)) as reporter:
        reporter.say("the model [is] ready")
        reporter.start_steps(2)
        reporter.step(record("native_1pass", 0, 2.5, counted=False))
        reporter.step(record("custom_2pass", 0, 3.5))
    lines = [line.split("] ", 1)[1] for line in out.getvalue().splitlines()]
    assert lines == ["the model [is] ready", "warm-up: fused 2.500 s", "step: two-pass 3.500 s"]


def test_on_a_terminal_the_bar_counts_steps_and_is_gone_at_the_end() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=80, highlight=False)
    with Reporter(console) as reporter:
        reporter.start_steps(2)
        reporter.step(record("native_1pass", 0, 2.5))
    assert "fused 2.500 s" in out.getvalue()
    assert reporter._progress is not None and reporter._progress.finished is False
