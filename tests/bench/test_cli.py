"""The command line: its defaults, its exit codes, and one or two lines for whatever a user can get wrong."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from bench import run, run_command
from bench.cli import main
from bench.errors import BenchError, NotEquivalentError, ServerGoneError, UnsavedError, UnstableError, UnsupportedError
from bench.settings import RunSettings
from tests.bench.fakes import http_server, json_answer

ROOT = Path(__file__).parents[2]
DOCUMENT: dict[str, Any] = {
    "status": "complete",
    "native_1pass": {"n": 8, "median_s": 0.2, "mean_s": 0.21, "stdev_s": 0.01, "tokens_per_s": 100.0, "client_overhead_s": 0.001},
    "summary": {"model": "m", "batch_seqs": 16, "total_tokens_per_step": 1249, "verdict": "[No] saving 100 % markup."},
    "comparisons": [],
    "warnings": [],
}


@pytest.fixture(autouse=True)
def signals() -> Any:
    """`main` takes SIGTERM over."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def ended(*arguments: str) -> int:
    """The exit code of the program."""
    with pytest.raises(SystemExit) as raised:
        main(list(arguments))
    assert isinstance(raised.value.code, int)
    return raised.value.code


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> list[RunSettings]:
    """The settings that `bench run` was started with; the run itself gives `DOCUMENT`."""
    seen: list[RunSettings] = []

    def fake(asked: RunSettings, _reporter: Any) -> dict[str, Any]:
        seen.append(asked)
        return DOCUMENT

    monkeypatch.setattr(run_command.run, "run", fake)
    return seen


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(_settings: Any, _reporter: Any) -> None:
        raise error

    monkeypatch.setattr(run_command.run, "run", fail)


def test_the_published_flags_have_their_published_defaults(settings: list[RunSettings]) -> None:
    assert ended("run") == 0
    asked = settings[0]
    assert (asked.steps, asked.max_tokens, asked.lora_rank, asked.warmup) == (8, 512, 32, 1)
    assert (asked.clip.low, asked.clip.high) == (0.8, 1.2)
    assert (asked.base_url, asked.model) == ("http://localhost:8000", None)
    assert asked.path_names == ("native_1pass", "custom_2pass")
    assert (asked.prompts, asked.prompts_count, asked.order, asked.blocking) == ("builtin", 16, "interleaved", False)


def test_flags_reach_the_run(settings: list[RunSettings]) -> None:
    flags = "--base-url http://x:1/ --model Q/m --tokenizer t --steps 100 --paths sdk_custom,native_1pass --seed 4 --batch b.json"
    assert ended("run", *flags.split(), "--blocking", "--results", "out") == 0
    asked = settings[0]
    assert (asked.base_url, asked.model, asked.tokenizer, asked.seed) == ("http://x:1", "Q/m", "t", 4)
    # More steps than --max-steps: without a target, --steps alone counts.
    assert (asked.steps, asked.max_steps) == (100, 100)
    assert asked.path_names == ("sdk_custom", "native_1pass")
    assert (asked.batch, asked.results, asked.blocking) == (Path("b.json"), Path("out"), True)


def test_empty_names_as_compose_passes_them_mean_the_default(settings: list[RunSettings]) -> None:
    assert ended("run", "--model", "", "--tokenizer", "") == 0
    assert (settings[0].model, settings[0].tokenizer) == (None, None)


def test_the_summary_is_printed_as_one_line_of_json(settings: list[RunSettings], capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("run") == 0
    lines = capsys.readouterr().out.splitlines()
    assert json.loads(lines[-1].removeprefix("BENCH_RESULT ")) == DOCUMENT["summary"]
    assert any("native_1pass" in line and "0.200" in line for line in lines)
    assert "[No] saving 100 % markup." in lines


@pytest.mark.parametrize(
    "arguments",
    [
        ["--steps", "0"],
        ["--steps", "-1"],
        ["--steps", "x"],
        ["--steps", "1.5"],
        ["--steps"],
        ["--warmup", "-1"],
        ["--max-tokens", "0"],
        ["--lora-rank", "0"],
        ["--learning-rate", "nan"],
        ["--learning-rate", "inf"],
        ["--learning-rate", "-1"],
        ["--clip-low", "nan"],
        ["--clip-low", "0.0003", "--clip-high", "0.0004"],
        ["--clip-low", "1.2", "--clip-high", "0.8"],
        ["--clip-high", "inf"],
        ["--paths", "fused"],
        ["--paths", ""],
        ["--paths", "native_1pass,native_1pass"],
        ["--paths", "custom_2pass", "--control"],
        ["--order", "random"],
        ["--target-ci-pct", "0"],
        ["--target-ci-pct", "nan"],
        ["--target-ci-pct", "2", "--order", "blocked"],
        ["--target-ci-pct", "2", "--steps", "65"],
        ["--max-steps", "0"],
        ["--floor-steps", "-1"],
        ["--prompts-count", "0"],
        ["--seed", "-1"],
        ["--seed", "4294967296"],
        ["--deadline-s", "0"],
        ["--deadline-s", "nan"],
        ["--ready-deadline-s", "-5"],
        ["--base-url", "localhost:8000"],
        ["--base-url", ""],
        ["--batch", "no/such/file.json"],
        ["--results", "/proc/none"],
        ["--no-such-flag"],
        ["stray"],
    ],
    ids=" ".join,
)
def test_wrong_input_ends_with_2_and_at_most_two_lines(
    arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ended("run", *arguments) == 2
    printed = capsys.readouterr()
    lines = printed.err.strip().split("\n")
    assert lines[0].startswith("bench: ") and len(lines) <= 2
    assert printed.out == "" and "Traceback" not in printed.err
    if len(arguments) > 1 and arguments[-1] and arguments[0] not in ("--clip-low", "--clip-high", "--paths", "--target-ci-pct"):
        assert arguments[0] in lines[0] or arguments[-1] in lines[0]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BenchError("failed.\nDo this."), 1),
        (ServerGoneError("gone."), 3),
        (UnsupportedError("cannot."), 4),
        (NotEquivalentError("not equal."), 5),
        (UnstableError("unstable."), 6),
        (KeyboardInterrupt(), 130),
    ],
)
def test_every_ending_has_its_exit_code_and_its_words(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, error)
    assert ended("run") == code
    # After ^C the line starts anew.
    assert capsys.readouterr().err.lstrip("\n") == f"bench: {error if str(error) else 'interrupted'}\n"


def test_strict_ends_with_6_after_the_result_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    unstable = {"code": "DRIFT", "text": "t", "action": "a", "unstable": True}
    monkeypatch.setattr(run, "run", lambda settings, reporter: {**DOCUMENT, "warnings": [unstable]})
    assert ended("run") == 0
    assert ended("run", "--strict") == 6
    printed = capsys.readouterr()
    assert printed.out.count("BENCH_RESULT") == 2
    assert "DRIFT" in printed.err


def test_a_result_that_cannot_be_saved_is_printed_and_ends_with_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsaved(settings: RunSettings, reporter: Any) -> None:
        raise UnsavedError("cannot write r.json: No space left on device.", DOCUMENT)

    monkeypatch.setattr(run, "run", unsaved)
    assert ended("run") == 2
    printed = capsys.readouterr()
    assert printed.out.count("BENCH_RESULT") == 1
    assert printed.err == "bench: cannot write r.json: No space left on device.\n"


def test_words_with_escape_sequences_do_not_move_the_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(settings: RunSettings, reporter: Any) -> None:
        reporter.say("model \x1b[2J[bold]x[/]")
        raise BenchError("no \x1b]0;title\x07 such\nmodel")

    monkeypatch.setattr(run, "run", failing)
    assert ended("run") == 1
    printed = capsys.readouterr().err
    assert "\x1b" not in printed and "\x07" not in printed
    assert "model  [2J[bold]x[/]\n" in printed
    assert printed.endswith("bench: no  ]0;title  such\nmodel\n")


def test_a_server_that_is_no_tinker_server_ends_with_3(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with http_server({"/api/v1/healthz": (200, "text/html", b"<html></html>")}) as url:
        assert ended("run", "--base-url", url, "--ready-deadline-s", "1", "--results", str(tmp_path)) == 3
    printed = capsys.readouterr().err
    assert f"no server at {url} within 1 s: something answers there, but no Tinker server." in printed
    assert "Traceback" not in printed


def test_help_of_every_command_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("--help") == 0
    assert "Exit codes: 0 done" in capsys.readouterr().out
    for command in ("run", "verify"):
        assert ended(command, "-h") == 0
    assert ended("no-such-command") == 2


class Watched(dict[str, Any]):
    """Answers that tell when the first question came."""

    def __init__(self, answers: dict[str, Any]) -> None:
        super().__init__(answers)
        self.asked = threading.Event()

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.set()
        return super().get(key, default)


def test_a_program_that_is_told_to_stop_ends_with_130_and_one_line(tmp_path: Path) -> None:
    answers = Watched({"/api/v1/healthz": json_answer("{}")})
    with http_server(answers) as url:
        command = [sys.executable, "-m", "bench", "run", "--base-url", url, "--results", str(tmp_path)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert answers.asked.wait(30.0)
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=20.0)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err.strip() == "bench: interrupted"
    assert out == ""


def test_a_server_that_its_watcher_saw_ending_ends_the_run_with_exit_code_3(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends_meanwhile(_settings: object, _reporter: object) -> None:
        signal.raise_signal(signal.SIGUSR1)

    monkeypatch.setattr(run, "run", ends_meanwhile)
    with pytest.raises(SystemExit) as ended:
        main(["run"])
    assert ended.value.code == 3
    assert "the server's container has ended" in capsys.readouterr().err
