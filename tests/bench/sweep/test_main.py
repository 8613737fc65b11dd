"""The sweep's command line: its exit codes, and that it needs nothing but Python."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.sweep import main as program
from bench.sweep.main import main

ROOT = Path(__file__).parents[3]
SERVER = ["--server-command", f"{sys.executable} serve.py"]


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """`main` takes SIGTERM over."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


class FakeLooper:
    """A sweep that ends as `ending` says: with a document, or by raising."""

    ending: Any = None
    options: Any = None
    saved = "last_sweep.json"

    def __init__(self, plan: Any, servers: Any, options: Any, say: Any) -> None:
        FakeLooper.options = options
        self.saved_in = options.results / self.saved

    def run(self) -> Any:
        if isinstance(self.ending, BaseException):
            raise self.ending
        return self.ending


@pytest.fixture
def looper(monkeypatch: pytest.MonkeyPatch) -> type[FakeLooper]:
    monkeypatch.setattr(program, "Looper", FakeLooper)
    monkeypatch.setattr(program, "print_table", lambda *_: None)
    return FakeLooper


BEST = {"backend_config": {"x": 1}, "preset_file": "presets/best-m-cpu.json"}


def test_a_sweep_that_went_well_prints_how_to_start_with_the_best(
    looper: type[FakeLooper], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    looper.ending = {"best": BEST, "rows": [{"status": "ok"}]}
    assert main(["cpu", *SERVER, "--results", str(tmp_path), "--run-args", "--lora-rank 8", "--memory-limit-gib", "20"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1] == f"  {sys.executable} serve.py --preset {tmp_path}/presets/best-m-cpu.json"
    assert printed[-1] == f"Wrote {tmp_path}/last_sweep.json."
    options = looper.options
    assert (options.run_arguments, options.memory_limit_gib, options.steps, options.warmup) == (("--lora-rank", "8"), 20.0, 4, 1)


def test_a_sweep_that_left_the_last_ones_file_alone_says_where_its_own_is(
    looper: type[FakeLooper], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looper.ending = {"best": None, "rows": [{"status": "crashed"}]}
    monkeypatch.setattr(looper, "saved", "runs/x.json")
    shown: list[str] = []
    monkeypatch.setattr(program, "print_table", lambda servers, file, logs: shown.append(file))
    assert main(["cpu", *SERVER, "--results", str(tmp_path)]) == 1
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == f"Wrote {tmp_path}/runs/x.json; last_sweep.json stays the one before, for no row of this one went well."
    assert len(shown) == 1 and shown[0].endswith("/runs/x.json")


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ({"best": None, "rows": [{"status": "ok"}]}, 2),
        ({"best": None, "rows": [{"status": "crashed"}]}, 1),
        ({"best": None, "rows": []}, 0),
        (KeyboardInterrupt(), 130),
    ],
)
def test_exit_codes(looper: type[FakeLooper], ending: Any, code: int) -> None:
    looper.ending = ending
    assert main(["cpu", *SERVER]) == code


def test_without_a_server_it_says_what_to_give(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STACK", raising=False)
    assert main(["cpu"]) == 2
    assert capsys.readouterr().err == (
        "bench: nothing says which server to start.\nGive --server-command, or use `make sweep`, which picks a stack.\n"
    )


@pytest.mark.parametrize("flags", [["--steps", "0"], ["--steps", "x"], ["--row-deadline-s", "nan"], ["--time-budget-s", "inf"], ["--no"]])
def test_wrong_flags_are_exit_code_2(flags: list[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["cpu", *SERVER, *flags])
    assert raised.value.code == 2


def bare(code: str) -> subprocess.CompletedProcess[str]:
    """Python without site packages, as a host has it."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, env=kept, capture_output=True, text=True, timeout=60, check=False)


def test_it_needs_nothing_outside_the_standard_library() -> None:
    ended = bare(
        "import runpy, sys\n"
        "sys.argv = ['bench', 'sweep', '--help']\n"
        "try: runpy.run_module('bench', run_name='__main__', alter_sys=True)\n"
        "except SystemExit as end: assert end.code == 0, end.code\n"
        "roots = {name.partition('.')[0] for name in sys.modules}\n"
        "print('LOADED', *sorted(roots - set(sys.stdlib_module_names) - {'__main__', 'bench'}))\n"
    )
    assert ended.stderr == ""
    assert ended.stdout.splitlines()[-1].split() == ["LOADED"]
    assert ended.stdout.startswith("usage: python3 -m bench sweep")


def test_what_it_loads_is_written_for_python_3_10() -> None:
    listed = bare(
        "import sys, json, bench.sweep.main\nprint(json.dumps([m.__file__ for m in sys.modules.values() if m.__name__[:5] == 'bench']))"
    )
    import ast

    files = [Path(name) for name in json.loads(listed.stdout)]
    assert len(files) > 10
    for file in files:
        ast.parse(file.read_text(), feature_version=(3, 10))
        assert "import UTC" not in file.read_text()  # of 3.11


def test_a_second_sigterm_does_not_cut_short_what_the_first_one_has_written() -> None:
    said = []

    def work(_say: Any) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGTERM)  # as where a process group is told, and docker/sweep.sh tells it on
            said.append("ended early: interrupted")
            raise

    assert program.ended(work) == 130
    assert said == ["ended early: interrupted"]
