"""Compiled Python, kept from one of a sweep's servers to the next where the environment keeps none."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping

KEEP_NONE, KEPT_IN = "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"


def environment_of_servers(own: Mapping[str, str]) -> dict[str, str]:
    """This process's environment, with a folder for compiled modules that goes with this process if it asks Python to write none.

    Images often ask so. Packages that were installed without their bytecode are then compiled again by each process of each server:
    57 to 73 s until an FSDP server of 0.6B was ready on an H200, and 30 to 33 s with them kept. The sources' own folders stay as they are.
    """
    if not own.get(KEEP_NONE) or own.get(KEPT_IN):
        return dict(own)
    folder = tempfile.mkdtemp(prefix="gspo-bench-bytecode-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return {name: value for name, value in own.items() if name != KEEP_NONE} | {KEPT_IN: folder}
