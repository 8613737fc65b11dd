"""docker/bench.sh by itself, beside a stand-in for Docker: what it draws after which end, and the code that it passes on."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

DOCKER = Path(__file__).parents[2] / "docker"
# Its benchmark ends with $CODE, over a server that goes on running.
ENGINE = """#!/usr/bin/env bash
case "$*" in
  *" run "*" plots") echo plots >>calls ;;
  *" run "*) echo bench >>calls && exit "$CODE" ;;
  *" down "*) echo down >>calls ;;
  inspect*Running*) echo true ;;
  *"ps --all --quiet server") echo server ;;
  wait*) exit 1 ;;
esac
"""


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
def test_whatever_left_a_whole_result_is_drawn(code, calls, tmp_path):
    (tmp_path / "docker").mkdir()
    for name in ("bench.sh", "stack.sh"):
        shutil.copy(DOCKER / name, tmp_path / "docker")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/docker").write_text(ENGINE)
    (tmp_path / "bin/docker").chmod(0o755)
    settings = {"RESULTS": str(tmp_path / "results"), "STACK": "cpu", "CODE": str(code)}
    settings |= {"BENCH_UID": str(os.getuid()), "BENCH_GID": str(os.getgid()), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    ended = subprocess.run(
        [tmp_path / "docker/bench.sh"], env=settings, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stderr
    assert (tmp_path / "calls").read_text().split() == calls
