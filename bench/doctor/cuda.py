"""The CUDA version that the server's wheels were built for, and the driver that it needs.

The numbers are NVIDIA's: https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html for the oldest driver of a
major version, the CUDA Toolkit release notes for the branch that a minor version came with.
"""

import re

from bench.doctor.finding import Finding, fail, ok, warn

NAME = "Driver for CUDA"
OLDEST_DRIVER = {11: 450, 12: 525, 13: 580}
DRIVER_OF_RELEASE = {(12, 4): 550, (12, 5): 555, (12, 6): 560, (12, 8): 570, (12, 9): 575, (13, 0): 580, (13, 1): 590}
TABLE = "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html"
_PINS = (
    r"^nvidia-cuda-runtime(?:-cu\d+)?==(\d+)\.(\d+)",
    r"^cuda-toolkit==(\d+)\.(\d+)",
    r"^torch==[^\s+]+\+cu(\d\d)(\d)\b",
)


def cuda_of_requirements(text: str) -> tuple[int, int] | None:
    """(major, minor) of the CUDA runtime pinned in a requirements file; None when nothing there says."""
    for pin in _PINS:
        found = re.search(pin, text, re.MULTILINE)
        if found:
            return int(found.group(1)), int(found.group(2))
    return None


def install_driver(branch: int) -> str:
    """How to get the driver of that branch."""
    return (
        f"sudo apt-get install -y nvidia-driver-{branch}-server && sudo reboot     # Ubuntu\n"
        "elsewhere: https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/"
    )


def judge_driver(driver: str, cuda: tuple[int, int] | None) -> Finding:
    """The host's driver, such as '570.86.15', against the CUDA of the wheels."""
    have = int(driver.split(".")[0]) if re.match(r"\d+", driver) else None
    if have is None or cuda is None or cuda[0] not in OLDEST_DRIVER:
        wheels = "unknown" if cuda is None else f"{cuda[0]}.{cuda[1]}"
        return warn(NAME, f"driver {driver}, CUDA of the wheels {wheels}: not in the table that is known here", f"compare with {TABLE}")
    version = f"CUDA {cuda[0]}.{cuda[1]}"
    oldest = OLDEST_DRIVER[cuda[0]]
    own = max(DRIVER_OF_RELEASE.get(cuda, oldest), oldest)
    if have < oldest:
        return fail(
            NAME, f"have {driver}, need {own} or newer for the wheels' {version}", f"{install_driver(own)}\nNVIDIA's table: {TABLE}"
        )
    if have < own:
        seen = f"have {driver}, enough for most of the wheels' {version}; {own} is for all of it"
        return warn(NAME, seen, f"{install_driver(own)}\nNVIDIA's table: {TABLE}")
    return ok(NAME, f"{driver} ({oldest} or newer is needed for the wheels' {version})")
