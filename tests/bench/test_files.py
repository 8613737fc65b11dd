"""Writing whole or not at all, reading without ever trusting."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.errors import InputError
from bench.files import check_writable, read_json, write_json, write_new_json

LIMIT = 300_000


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.json"
    write_json(path, {"a": [1, 2.5, None, "ä"]})
    assert read_json(path, LIMIT, "test file") == {"a": [1, 2.5, None, "ä"]}
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert names_in(path.parent) == ["file.json"]


@pytest.mark.parametrize("links", [True, False], ids=["hard links", "no hard links"])
def test_files_that_want_one_name_at_once_get_one_each(links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr(Path, "hardlink_to", refused)
    path = tmp_path / "runs" / "20261130T090000Z-Qwen3-0.6B.json"
    with ThreadPoolExecutor(8) as pool:
        written = list(pool.map(lambda number: write_new_json(path, number), range(8)))
    assert [json.loads(own.read_text()) for own in written] == list(range(8))
    others = [f"20261130T090000Z-Qwen3-0.6B-{count}.json" for count in range(2, 9)]
    assert sorted(names_in(path.parent)) == sorted([path.name, *others])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_does_not_know_are_never_written(tmp_path: Path, value: float) -> None:
    path = tmp_path / "file.json"
    write_json(path, {"old": 1})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(path, {"new": value})
    assert json.loads(path.read_text()) == {"old": 1}


def test_a_failure_while_writing_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.json"
    write_json(path, {"old": 1})

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"cannot write .*file\.json: No space left on device"):
        write_json(path, {"new": 2})
    assert json.loads(path.read_text()) == {"old": 1}
    assert names_in(tmp_path) == ["file.json"]


def test_an_interrupt_while_writing_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.json"
    write_json(path, {"old": 1})

    def interrupted(_handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_json(path, {"new": 2})
    assert json.loads(path.read_text()) == {"old": 1}
    assert names_in(tmp_path) == ["file.json"]


def test_a_folder_that_is_a_file_is_refused_before_the_run(tmp_path: Path) -> None:
    blocked = tmp_path / "results"
    blocked.write_text("")
    with pytest.raises(InputError, match=r"cannot write to .*results"):
        check_writable(blocked)
    with pytest.raises(InputError, match="cannot write"):
        write_json(blocked / "file.json", {})


def test_checking_a_folder_makes_it_and_leaves_nothing_in_it(tmp_path: Path) -> None:
    check_writable(tmp_path / "a" / "b")
    assert names_in(tmp_path / "a" / "b") == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not a test file"),
        (b"{", "is not a test file"),
        (b"\xff\xfe", "is not a test file"),
        (b'{"a": NaN}', "holds NaN"),
        (b"[Infinity]", "holds Infinity"),
        (b"[-Infinity]", "holds -Infinity"),
        (b"[" * 200_000, "nested too deeply"),
        (b"1" * 5_000, "is not a test file"),
        (b" " * (LIMIT + 1), "300,001 bytes; a test file has at most 300,000"),
    ],
)
def test_files_that_are_none_are_refused_with_their_name(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=says) as raised:
        read_json(path, LIMIT, "test file")
    assert "odd.json" in str(raised.value)
    assert str(raised.value).count("\n") <= 1


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the test file .*none\.json: No such file"):
        read_json(tmp_path / "none.json", LIMIT, "test file")
    with pytest.raises(InputError, match="cannot read the test file"):
        read_json(tmp_path, LIMIT, "test file")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_and_nothing_else(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.json"
    path.write_bytes(content)
    try:
        value: Any = read_json(path, LIMIT, "test file")
    except InputError:
        return
    json.dumps(value, allow_nan=True)
