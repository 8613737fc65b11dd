"""Compiled modules between a sweep's servers: seen with a real interpreter that is asked to write none."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.sweep.bytecode import environment_of_servers


def imported(environment: dict[str, str], package: Path) -> None:
    subprocess.run([sys.executable, "-c", "import told"], env=environment, cwd=package, check=True)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "told.py").write_text("VALUE = 1\n")
    return tmp_path


def test_a_server_that_is_asked_to_write_no_bytecode_writes_it_to_a_folder_of_the_sweeps_own(package: Path) -> None:
    environment = environment_of_servers({"PYTHONDONTWRITEBYTECODE": "1", "OTHER": "kept"})
    imported(environment, package)
    kept = list(Path(environment["PYTHONPYCACHEPREFIX"]).rglob("told.*.pyc"))
    assert len(kept) == 1
    assert not (package / "__pycache__").exists()
    assert environment["OTHER"] == "kept"
    written_ns = kept[0].stat().st_mtime_ns
    imported(environment, package)
    assert kept[0].stat().st_mtime_ns == written_ns, "the second server compiled it again"


@pytest.mark.parametrize(
    "own",
    [{}, {"PYTHONDONTWRITEBYTECODE": ""}, {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "/somewhere"}],
    ids=["python keeps it itself", "an empty value asks for nothing", "a folder was named"],
)
def test_where_bytecode_is_kept_or_its_folder_named_the_environment_stays_as_it_is(own: dict[str, str]) -> None:
    assert environment_of_servers(own) == own


def test_the_folder_goes_with_the_sweep() -> None:
    program = (
        "from bench.sweep.bytecode import environment_of_servers as e; print(e({'PYTHONDONTWRITEBYTECODE': '1'})['PYTHONPYCACHEPREFIX'])"
    )
    folder = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
    assert "gspo-bench-bytecode-" in folder
    assert not Path(folder).exists()
