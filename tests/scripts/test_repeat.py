"""docker/repeat.sh by itself, beside stand-ins for what it calls: which batch each run takes, what is kept, when it stops, how it ends."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

DOCKER = Path(__file__).parents[2] / "docker"
# Ends with the next code of $CODES, and writes a result file where that is marked with a +.
BENCH = """#!/usr/bin/env bash
n=$(($(cat count 2>/dev/null || echo 0) + 1)); echo $n >count
echo "REPEAT=$REPEAT BENCH_ARGS=$BENCH_ARGS" >>calls
code=$(cut -d ' ' -f $n <<<"$CODES")
[[ $code != *+ ]] || printf '{\\n  "batch": {\\n    "file": "batches/%s.json"\\n  }\\n}\\n' abc$n >"$RESULTS/runs/run$n.json"
exit "${code%+}"
"""
ENGINE = """#!/usr/bin/env bash
[[ $1 != run ]] || echo "${@: -20}" | sed 's/.*bench repeats/bench repeats/' >>calls
"""


@pytest.fixture
def repeat(tmp_path):
    """Run the script in a folder of its own; returns its exit code and what it called."""
    folder = tmp_path / "docker"
    folder.mkdir()
    for name in ("repeat.sh", "stack.sh"):
        shutil.copy(DOCKER / name, folder)
    (tmp_path / "bin").mkdir()
    for path, text in (
        (folder / "bench.sh", BENCH),
        (folder / "plots.sh", "#!/bin/sh\necho plots >>calls\n"),
        (tmp_path / "bin/docker", ENGINE),
    ):
        path.write_text(text)
        path.chmod(0o755)

    def run(runs, codes, **settings):
        environment = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "RESULTS": str(tmp_path / "results"), "CODES": codes, **settings}
        environment |= {"BENCH_UID": str(os.getuid()), "BENCH_GID": str(os.getgid())}
        ended = subprocess.run([folder / "repeat.sh", runs], env=environment, capture_output=True, text=True, check=False, timeout=60)
        calls = tmp_path / "calls"
        return ended.returncode, calls.read_text().splitlines() if calls.exists() else [], ended.stderr

    return run


def test_the_first_run_samples_and_the_others_take_its_batch_again(repeat):
    code, calls, _ = repeat("3", "0+ 0+ 0+", BENCH_ARGS="--control")
    assert code == 0
    assert calls == [
        "REPEAT=1 BENCH_ARGS=--control",
        "REPEAT=1 BENCH_ARGS=--control --batch /results/batches/abc1.json",
        "REPEAT=1 BENCH_ARGS=--control --batch /results/batches/abc1.json",
        "bench repeats --results /results /results/runs/run1.json /results/runs/run2.json /results/runs/run3.json",
        "plots",
    ]


@pytest.mark.parametrize("given", ["--batch /results/batches/mine.json", "--batch=/results/batches/mine.json"])
def test_a_batch_that_was_asked_for_stays(repeat, given):
    assert repeat("2", "0+ 0+", BENCH_ARGS=given)[1][:2] == [f"REPEAT=1 BENCH_ARGS={given}"] * 2


def test_a_run_without_a_result_is_told_by_its_number_and_code_and_the_next_one_goes_on(repeat):
    code, calls, _ = repeat("3", "3 1+ 0+")
    assert code == 3
    assert calls[1] == "REPEAT=1 BENCH_ARGS="  # no batch yet: it samples its own
    assert calls[3] == "bench repeats --results /results /results/runs/run2.json /results/runs/run3.json --failed 1 3"


@pytest.mark.parametrize("last", ["2", "4", "130"])
def test_what_settings_or_the_user_ended_ends_it_and_keeps_what_was_before(repeat, last):
    code, calls, _ = repeat("5", f"0+ {last}")
    assert code == int(last)
    assert calls[2:] == [f"bench repeats --results /results /results/runs/run1.json --failed 2 {last}", "plots"]


def test_no_result_at_all_writes_no_summary(repeat):
    code, calls, _ = repeat("2", "3 3")
    assert code == 3 and calls == ["REPEAT=1 BENCH_ARGS="] * 2


@pytest.mark.parametrize("runs", ["0", "-1", "many", "", "1000"])
def test_a_number_of_runs_that_is_none_is_wrong_usage(repeat, runs):
    code, calls, said = repeat(runs, "0+")
    assert (code, calls, said.splitlines()[0]) == (2, [], f"REPEAT is '{runs}'.")
