"""docker/sweep.sh by itself, beside stand-ins for Docker and Python: what it hands to the program, and what it refuses before."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

DOCKER = Path(__file__).parents[2] / "docker"
PYTHON = """#!/usr/bin/env bash
[[ $1 == -c ]] || printf '%s\\n' "$@" >handed
"""


@pytest.fixture
def sweep(tmp_path):
    """Run the script in a folder of its own; its arguments are those here, its settings the keywords."""
    (tmp_path / "docker").mkdir()
    for name in ("sweep.sh", "stack.sh"):
        shutil.copy(DOCKER / name, tmp_path / "docker")
    (tmp_path / "bin").mkdir()
    for name, text in (("docker", "#!/usr/bin/env bash\necho asked >>asked\n"), ("python3", PYTHON)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    settings = {"RESULTS": "./results", "STACK": "cpu", "BENCH_UID": str(os.getuid()), "BENCH_GID": str(os.getgid())}
    settings |= {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}

    def run(*arguments, **more):
        command = [tmp_path / "docker/sweep.sh", *arguments]
        return subprocess.run(command, env=settings | more, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    return run


def handed(folder):
    return (folder / "handed").read_text().splitlines()


def test_the_sweeps_name_stands_before_the_flags_so_that_a_misspelt_one_does_not_take_it(sweep, tmp_path):
    assert sweep("--again", SWEEP_ARGS="--time-budgets 5 --run-args '--lora-rank 8'").returncode == 0
    own = ["-m", "bench", "sweep", "cpu", "--results", "./results", "--run-args", "--max-tokens 96"]
    assert handed(tmp_path) == [*own, "--time-budgets", "5", "--run-args", "--lora-rank 8", "--again"]
    assert sweep(SWEEP="mine.json").returncode == 0
    assert handed(tmp_path)[2:4] == ["sweep", "mine.json"]


def test_a_scaling_run_has_no_name_and_makes_no_room_for_presets(sweep, tmp_path):
    assert sweep("scale", SCALE_ARGS="--gpus 1,2").returncode == 0
    assert handed(tmp_path)[2:] == ["scale", "--results", "./results", "--run-args", "--max-tokens 96", "--gpus", "1,2"]
    assert not (tmp_path / "results/scale/presets").exists() and (tmp_path / "results/scale/sweep-logs").is_dir()


@pytest.mark.parametrize("arguments", [(), ("scale",)])
def test_a_port_that_cannot_be_is_two_lines_before_docker_is_asked(arguments, sweep, tmp_path):
    ended = sweep(*arguments, PORT="abc")
    said = "PORT is 'abc'.\nGive a whole number from 1 to 65535, or leave it out: it is 8000 then.\n"
    assert (ended.returncode, ended.stderr) == (2, said)
    assert not (tmp_path / "asked").exists()
