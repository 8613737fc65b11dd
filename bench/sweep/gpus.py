"""How much GPU memory is in use on this machine, to see that a server that was ended has given it back."""

import shutil
import subprocess

LOOK_S = 10.0


def used_bytes() -> int | None:
    """Memory in use on all GPUs together, None where nvidia-smi does not tell."""
    if shutil.which("nvidia-smi") is None:
        return None
    command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=LOOK_S, check=True).stdout
        return sum(int(line) for line in told.split()) * 1024 * 1024
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
