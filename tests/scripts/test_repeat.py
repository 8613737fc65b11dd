"""docker/repeat.sh by itself, beside stand-ins for what it calls: which batch each run takes, what is kept, when it stops, how it ends."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

DOCKER = Path(__file__).parents[2] / "docker"
# Ends with the next code of $CODES, and writes a result file where that is marked with a +; its server's log is the next of $SAYS.
BENCH = """#!/usr/bin/env bash
n=$(($(cat count 2>/dev/null || echo 0) + 1)); echo $n >count
echo "REPEAT=$REPEAT BENCH_ARGS=$BENCH_ARGS" >>calls
code=$(cut -d ' ' -f $n <<<"$CODES")
[[ $code != *+ ]] || printf '{\\n  "batch": {\\n    "file": "batches/%s.json"\\n  }\\n}\\n' abc$n >"$RESULTS/runs/run$n.json"
says=$(cut -d '|' -f $n <<<"${SAYS-}")
[[ -z $says ]] || echo "$says" >"$RESULTS/server.log"
exit "${code%+}"
"""
ENGINE = """#!/usr/bin/env bash
[[ $* != *" gspo-bench-client bench.fault" ]] || exec cat
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


NUMA = "AttributeError: undefined symbol: numa_x, of process {} at 0xdeadbeef{}"


def test_two_runs_that_fail_alike_before_their_first_step_end_it_and_say_so_once_with_the_reason(repeat):
    code, calls, said = repeat("5", "3 1 0+ 0+ 0+", SAYS=f"{NUMA.format(7, 'a')}|{NUMA.format(81, 'c')}")
    assert (code, calls) == (3, ["REPEAT=1 BENCH_ARGS="] * 2)
    assert said.splitlines() == [
        f"Runs 1 and 2 failed at start-up for the same reason: {NUMA.format(81, 'c')}",
        "Not tried: 3 more. Fix it, then run the same command.",
    ]


def test_what_was_measured_before_two_runs_that_fail_alike_is_kept_with_what_was_not_tried_and_why(repeat):
    code, calls, said = repeat("4", "0+ 3 3", SAYS=f"|{NUMA.format(7, 'a')}|{NUMA.format(8, 'b')}")
    why = f"Runs 2 and 3 failed at start-up for the same reason: {NUMA.format(8, 'b')}"
    assert (code, said.splitlines()[0]) == (3, why)
    assert calls[3] == f"bench repeats --results /results /results/runs/run1.json --failed 2 3 --failed 3 3 --not-tried 1 {why}"


@pytest.mark.parametrize(
    ("codes", "says"),
    [
        ("3 3 0+", f"{NUMA}|KeyError: 'lora'"),  # another reason
        ("3 0+ 3", f"{NUMA}||{NUMA}"),  # not one after the other
        ("3+ 3+ 0+", f"{NUMA}|{NUMA}"),  # it had measured something
        ("3 3 0+", ""),  # nobody knows why
        ("0+ 3 3", f"|{NUMA}|{NUMA}"),  # nothing is left
    ],
)
def test_runs_that_do_not_fail_alike_go_on(repeat, codes, says):
    code, calls, said = repeat("3", codes, SAYS=says)
    assert code == 3 and len([call for call in calls if call.startswith("REPEAT=")]) == 3
    assert "Not tried" not in said and "--not-tried" not in "".join(calls)


@pytest.mark.parametrize("runs", ["0", "-1", "many", "", "1000"])
def test_a_number_of_runs_that_is_none_is_wrong_usage(repeat, runs):
    code, calls, said = repeat(runs, "0+")
    assert (code, calls, said.splitlines()[0]) == (2, [], f"REPEAT is '{runs}'.")
