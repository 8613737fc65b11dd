"""Waiting until a server's GPU memory is free."""

from pathlib import Path

import pytest

from bench.sweep.gpus import SLACK_BYTES, FreeMemory, used_bytes


def test_the_wait_ends_when_the_memory_is_what_it_was_before_the_first_server() -> None:
    looks = iter([100, 90 * SLACK_BYTES, 2 * SLACK_BYTES, 100 + SLACK_BYTES])
    memory = FreeMemory(20.0, lambda: next(looks))
    memory.note()
    memory.note()  # only the first counts
    assert memory.wait() is True
    assert next(looks, None) is None


def test_memory_that_stays_taken_is_waited_for_no_longer_than_the_limit() -> None:
    looks = iter([0])
    memory = FreeMemory(0.3, lambda: next(looks, 2 * SLACK_BYTES))
    memory.note()
    assert memory.wait() is False


def test_where_nothing_tells_there_is_no_wait() -> None:
    memory = FreeMemory(20.0, lambda: None)
    memory.note()
    assert memory.wait() is True


@pytest.mark.parametrize(("visible", "used_mib"), [(None, 57), ("1", 50), ("", 57)])
def test_memory_of_gpus_that_another_job_was_given_does_not_count(
    visible: str | None, used_mib: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "nvidia-smi"
    script.write_text('#!/bin/sh\ncase "$*" in *--id=1*) echo 50;; *--id*) exit 9;; *) echo 7; echo 50;; esac\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert used_bytes() == used_mib * 1024 * 1024
