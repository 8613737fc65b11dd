"""Commands as they are typed for the image: on a host without the packages, and in what a container says."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import files, image
from bench.cli import main
from bench.errors import InputError, NotEquivalentError, ServerGoneError

ROOT = Path(__file__).parents[2]
COMMAND = "docker compose run --rm --no-deps bench bench"
COMMANDS = ("run", "learn", "show", "compare", "export", "repeats", "verify", "synthetic-batch")


def without_packages(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`-S` leaves out what pip installed."""
    return subprocess.run([sys.executable, "-S", "-m", "bench", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [(), ("--help",), *((command, "--help") for command in COMMANDS)])
def test_a_host_without_the_packages_is_told_the_same_command_for_the_image(arguments: tuple[str, ...]) -> None:
    ended = without_packages(*arguments)
    first, second = ended.stderr.splitlines()
    assert first.startswith("bench: the package ") and first.endswith("or use the image:")
    assert (ended.returncode, ended.stdout, second) == (2, "", " ".join([COMMAND, *arguments]))


def test_paths_of_the_results_folder_are_those_that_it_has_in_the_image(tmp_path: Path) -> None:
    given = ["compare", "results/a.json", "./results/runs/b c.json", str(tmp_path / "results"), "--out=results/x", "resultsx/c", "--anyway"]
    assert (
        image.typed(given, tmp_path)
        == f"{COMMAND} compare /results/a.json '/results/runs/b c.json' /results --out=/results/x resultsx/c --anyway"
    )
    assert image.typed(["show"], tmp_path) == f"{COMMAND} show /results/last_gspo_bench.json"


@pytest.mark.parametrize("set_by", [None, "compose", "make"])
def test_a_wrong_flag_is_answered_with_a_command_that_works_where_it_was_typed(
    set_by: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(image.MARK, raising=False)
    if set_by:
        monkeypatch.setenv(image.MARK, "sha256:1" if set_by == "make" else "")
    with pytest.raises(SystemExit):
        main(["show", "--nonsense"])
    typed = f"{COMMAND if set_by else 'python -m bench'} show"
    assert capsys.readouterr().err.splitlines()[-1] == f"See {typed} --help."
    assert image.by_make() == (set_by == "make")


def test_a_path_of_the_host_is_answered_with_that_of_the_image_where_the_file_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mount").mkdir()
    (tmp_path / "mount" / "a.json").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(image, "RESULTS", tmp_path / "mount")
    for given, hint in (
        ("results/a.json", f"\nIn the image results/ is {tmp_path}/mount: give {tmp_path}/mount/a.json."),
        ("results/b.json", ""),
        ("a.json", ""),
    ):
        with pytest.raises(InputError) as raised:
            files.read_json(Path(given), 1000, "result file")
        assert str(raised.value) == f"cannot read the result file {given}: No such file or directory.{hint}"


@pytest.mark.parametrize(
    ("flag", "value", "by_hand", "made"),
    [
        ("--steps", "32", "--steps 32", "STEPS=32"),
        ("--warmup", "3", "--warmup 3", "--warmup 3 in BENCH_ARGS"),
        ("--control", "", "--control", "--control in BENCH_ARGS"),
    ],
)
def test_a_flag_to_run_again_with_is_typed_as_the_run_was(flag: str, value: str, by_hand: str, made: str) -> None:
    assert image.run_with(flag, value, {}) == image.run_with(flag, value, {image.MARK: ""}) == by_hand
    assert image.run_with(flag, value, {image.MARK: "sha256:1"}) == made


@pytest.mark.parametrize(("environment", "modes"), [({image.MARK: ""}, (0o777, 0o666)), ({}, (0o755, 0o644))])
def test_what_a_container_puts_into_the_cache_can_be_written_by_the_server_and_clients_of_other_users(
    environment: dict[str, str], modes: tuple[int, int], tmp_path: Path
) -> None:
    before = os.umask(0o022)
    try:
        with image.shared_cache(environment):
            (tmp_path / "hub").mkdir()
            (tmp_path / "hub" / "tokenizer.json").touch()
        (tmp_path / "after").touch()
    finally:
        os.umask(before)
    found = [path.stat().st_mode & 0o777 for path in (tmp_path / "hub", tmp_path / "hub" / "tokenizer.json", tmp_path / "after")]
    assert found == [*modes, 0o644]


@pytest.mark.parametrize(
    ("environment", "error", "said"),
    [
        ({image.MARK: ""}, None, [image.SERVER_STAYS]),
        ({image.MARK: ""}, NotEquivalentError("not valid"), [image.SERVER_STAYS]),
        ({image.MARK: ""}, ServerGoneError("died"), []),
        ({image.MARK: ""}, KeyboardInterrupt(), []),  # compose ends the server with it
        ({image.MARK: "sha256:1"}, None, []),  # make takes the stack down
        ({}, None, []),
    ],
)
def test_how_the_server_ends_is_said_where_it_stays(environment: dict[str, str], error: BaseException | None, said: list[str]) -> None:
    heard: list[str] = []
    with contextlib.suppress(type(error) if error else ValueError), image.leaving_server(heard.append, environment):
        if error:
            raise error
    assert heard == said
