"""Which GPUs a server tells of."""

import sys
from pathlib import Path

import machine
import pytest

SMI = """#!/bin/sh
echo 'GPU-aaaa-1, NVIDIA A, 1000, 10, 580.1'
echo 'GPU-bbbb-2, NVIDIA B, 2000, 20, 580.1'
echo 'GPU-bbcc-3, NVIDIA C, 3000, 30, 580.1'
"""


@pytest.mark.parametrize(
    ("visible", "names"),
    [
        (None, ["NVIDIA A", "NVIDIA B", "NVIDIA C"]),
        ("1", ["NVIDIA B"]),
        ("2,0", ["NVIDIA C", "NVIDIA A"]),
        (" 2 , 1", ["NVIDIA C", "NVIDIA B"]),
        ("GPU-bbcc", ["NVIDIA C"]),
        ("0,-1,2", ["NVIDIA A"]),  # CUDA: -1 ends the list
        ("0,7,2", ["NVIDIA A"]),  # and so does a GPU that is not there
        ("", []),
        ("MIG-1234", ["NVIDIA A", "NVIDIA B", "NVIDIA C"]),
    ],
)
def test_the_gpus_told_of_are_those_that_cuda_sees(
    visible: str | None, names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "nvidia-smi"
    script.write_text(SMI)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert [gpu["name"] for gpu in machine.gpus()] == names
    expected = 1 if visible == "MIG-1234" else len(names)
    assert machine.gpus_in_sight() == expected
    assert [gpu["total_bytes"] // 2**20 for gpu in machine.gpus()] == [1000 * (ord(name[-1]) - 64) for name in names]
