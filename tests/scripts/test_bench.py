"""docker/bench.sh by itself, beside a stand-in for Docker: what it draws after which end, the code that it passes on, what it refuses."""

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

DOCKER = Path(__file__).parents[2] / "docker"
# Its benchmark ends with $CODE, over a server that goes on running, or with $ENDED has ended; with $UP that does not start.
ENGINE = """#!/usr/bin/env bash
echo "$*" >>asked
case "$*" in
  *"gspo-bench-client bench.fault") echo "$(tail -n 1) told in a line" ;;
  *" run "*" plots") echo plots >>calls ;;
  *" run "*) echo bench >>calls && exit "$CODE" ;;
  *" down "*) echo down >>calls ;;
  *" up "*) exit "${UP:-0}" ;;
  inspect*Running*) [[ -n ${ENDED-} ]] && echo false || echo true ;;
  inspect*ExitCode*) echo "$ENDED" ;;
  logs*) [[ -n ${LOG-} ]] && echo "$LOG" || seq 1 40 ;;
  *"ps --all --quiet server") echo server ;;
  wait*) exit 1 ;;
esac
"""


@pytest.fixture
def bench(tmp_path):
    """Run the script in a folder of its own; its arguments are those here, its settings the keywords."""
    (tmp_path / "docker").mkdir()
    for name in ("bench.sh", "repeat.sh", "stack.sh"):
        shutil.copy(DOCKER / name, tmp_path / "docker")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/docker").write_text(ENGINE)
    (tmp_path / "bin/docker").chmod(0o755)
    settings = {"RESULTS": str(tmp_path / "results"), "STACK": "cpu", "CODE": "0"}
    settings |= {"BENCH_UID": str(os.getuid()), "BENCH_GID": str(os.getgid()), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}

    def run(*arguments, **more):
        command = [tmp_path / "docker/bench.sh", *arguments]
        return subprocess.run(command, env=settings | more, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        (0, ["bench", "plots", "down"]),
        (6, ["bench", "plots", "down"]),  # unstable, with --strict: one wants to look
        (5, ["bench", "plots", "down"]),  # outputs out of order: the pictures say that it is not valid
        (1, ["bench", "down"]),
        (2, ["bench", "down"]),
        (130, ["bench", "down"]),
    ],
)
def test_whatever_left_a_whole_result_is_drawn(code, calls, bench, tmp_path):
    ended = bench(CODE=str(code))
    assert ended.returncode == code, ended.stderr
    assert (tmp_path / "calls").read_text().split() == calls


@pytest.mark.parametrize("value", ["abc", "0", "70000", "-1", "80 81", "9" * 30])
@pytest.mark.parametrize("arguments", [(), ("learn",), ("verify",), ("--repeat", "2")])
def test_a_port_that_cannot_be_is_two_lines_before_docker_is_asked(value, arguments, bench, tmp_path):
    ended = bench(*arguments, PORT=value)
    said = f"PORT is '{value}'.\nGive a whole number from 1 to 65535, or leave it out: it is 8000 then.\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", said)
    assert not (tmp_path / "asked").exists()


def test_settings_of_the_file_are_judged_as_the_shells_are_and_gpus_too(bench, tmp_path):
    (tmp_path / ".env").write_text("GPUS=two\n")
    ended = bench()
    assert (ended.returncode, ended.stderr) == (2, "GPUS is 'two'.\nGive a whole number from 1 to 1024, or all.\n")
    for value in ("2", "all", "1024"):
        assert bench(GPUS=value, PORT="065535").returncode == 0


@pytest.mark.parametrize(("arguments", "target"), [((), "bench"), (("learn",), "learn")])
def test_a_port_that_is_taken_is_named_with_one_that_is_free(arguments, target, bench):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ended = bench(*arguments, UP="1", PORT=str(port))
    assert ended.returncode == 1
    first, second = ended.stderr.splitlines()
    assert first == f"Port {port} of this machine is taken by something else."
    told = re.fullmatch(rf"Take another: PORT=(\d+) make {target}", second)
    assert told and int(told[1]) > port
    ended = bench(UP="1", PORT=str(port))
    assert ended.stderr.splitlines()[0] == "The server's container did not start, for the reason above."


def test_the_log_of_a_server_that_ended_stays_and_is_named_behind_what_it_says(bench, tmp_path):
    ended = bench(CODE="3", ENDED="1")
    assert ended.returncode == 3
    log = tmp_path / "results/server.log"
    assert log.read_text().split() == [str(line) for line in range(1, 41)]
    assert ended.stderr.splitlines() == [
        "The server ended by itself, with exit code 1.",
        "It says: 40 told in a line",
        f"The server's whole log is in {log}.",
    ]


def test_the_log_of_a_server_that_lives_stays_where_a_request_failed_which_the_benchmark_has_told(bench, tmp_path):
    ended = bench(CODE="1")
    assert (ended.returncode, ended.stderr) == (1, f"The server's whole log is in {tmp_path / 'results/server.log'}.\n")


def test_a_server_that_refused_its_settings_is_told_in_its_own_lines(bench, tmp_path):
    words = "error: the jax backend has no setting x.\nIts settings are others."
    ended = bench(CODE="3", ENDED="2", LOG=f"loading\n{words}")
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"The server ended by itself, with exit code 2.\n{words}\nThe server's whole log")


@pytest.mark.parametrize("code", ["0", "2", "4", "130"])
def test_no_log_is_kept_where_the_server_is_not_at_fault(code, bench, tmp_path):
    bench(CODE=code)
    assert not (tmp_path / "results/server.log").exists()
