"""What the client runs on and with, as far as it can see itself."""

import importlib.metadata
import os
import platform
import resource
import sys
from pathlib import Path
from typing import Any

from bench import __version__

# ru_maxrss counts KiB on Linux and bytes on macOS.
_RSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
PACKAGES = ("tinker", "numpy", "scipy", "transformers", "datasets", "tenacity", "torch")


def client_environment() -> dict[str, Any]:
    """The result file's `environment.client`: Python, CPU, memory and what this process took of it at most,
    package versions, the image's id where the stack gives it.
    """
    return {
        "gspo_bench": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cpu": _cpu_model(),
        "cpu_count": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_bytes": _memory_bytes(),
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT_BYTES,
        "versions": {name: version for name in PACKAGES if (version := _version(name))},
        "image": os.environ.get("GSPO_BENCH_CLIENT_IMAGE") or None,
    }


def gpu_memory(server: dict[str, Any] | None, stage: str) -> dict[str, Any]:
    """One entry of `environment.memory`: what each GPU has in use at a stage and had at most since the server's start, as it tells."""
    fields = ("used_bytes", "peak_bytes", "total_bytes")
    return {
        "stage": stage,
        "gpus": [{field: gpu.get(field) for field in fields} for gpu in _gpus(server)],
    }


def gpu_name(server: dict[str, Any] | None) -> str:
    """The server's first GPU, "cpu" where it has none, "unknown" where it does not tell."""
    if server is None:
        return "unknown"
    gpus = _gpus(server)
    return str(gpus[0].get("name", "gpu")) if gpus else "cpu"


def device_count(server: dict[str, Any] | None) -> int | None:
    """Over how many devices the server spreads the training, None where it does not tell as our own does."""
    placement = server.get("placement") if server else None
    if not isinstance(placement, dict):
        return None
    nodes, each = placement.get("nodes"), placement.get("devices_per_node")
    return nodes * each if type(nodes) is int and type(each) is int and min(nodes, each) >= 1 else None


def _gpus(server: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The server's GPUs, as far as it tells them as our own does."""
    gpus = server.get("gpus") if server else None
    return [gpu for gpu in gpus if isinstance(gpu, dict)] if isinstance(gpus, list) else []


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None
