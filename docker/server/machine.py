"""What this server runs on and with, as GET /gspo-bench/environment tells it. No environment variable is told but by name."""

import importlib.metadata
import itertools
import json
import os
import platform
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpu_memory import PeakMemory
from placement import Placement

PACKAGES = (
    "skyrl", "tinker", "jax", "jaxlib", "flax", "torch", "vllm", "vllm-router", "ray", "transformers", "peft", "flash-attn",
    "numpy", "fastapi", "uvicorn",
)  # fmt: skip


def gpus() -> list[dict[str, Any]]:
    """Name, memory in bytes and driver of each GPU that this server sees: from NVML, else from nvidia-smi, else none."""
    try:
        return gpus_from_nvml()
    except Exception:  # no library, no driver, no permission: each with an error of its own
        return _in_sight(_gpus_from_smi())


def gpus_in_sight() -> int:
    """How many GPUs CUDA would find here: those that CUDA_VISIBLE_DEVICES leaves of the machine's, or the container's."""
    there, named = len(gpus()), os.environ.get("CUDA_VISIBLE_DEVICES")
    return there if named is None else min(there, len(_names(named)))


def gpus_from_nvml() -> list[dict[str, Any]]:
    """The same, from NVML alone; raises what it raises."""
    import pynvml

    pynvml.nvmlInit()  # counted: once held elsewhere, it costs nothing
    try:
        found = []
        for index in range(pynvml.nvmlDeviceGetCount()):
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
            gpu = {
                "name": str(pynvml.nvmlDeviceGetName(handle)),
                "total_bytes": int(memory.total),
                "used_bytes": int(memory.used),
                "driver": str(pynvml.nvmlSystemGetDriverVersion()),
            }
            found.append((str(pynvml.nvmlDeviceGetUUID(handle)), gpu))
        return _in_sight(found)
    finally:
        pynvml.nvmlShutdown()


def _gpus_from_smi() -> list[tuple[str, dict[str, Any]]]:
    command = ["nvidia-smi", "--query-gpu=uuid,name,memory.total,memory.used,driver_version", "--format=csv,noheader,nounits"]
    if shutil.which(command[0]) is None:
        return []
    try:
        lines = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.splitlines()
        rows = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]
        return [
            (uuid, {"name": name, "total_bytes": int(total) << 20, "used_bytes": int(used) << 20, "driver": driver})
            for uuid, name, total, used, driver in rows
        ]
    except (OSError, ValueError, subprocess.SubprocessError):
        return []


def _in_sight(found: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Of the machine's GPUs, each with its UUID, those that CUDA_VISIBLE_DEVICES names by number or by a UUID's beginning; else all."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [str(index) for index in range(len(found))] if named is None else _names(named)
    if any(name.startswith("MIG-") for name in names):
        names = [str(index) for index in range(len(found))]  # a part of a GPU: which one's is not told
    seen = []
    for name in names:
        match = [gpu for index, (uuid, gpu) in enumerate(found) if name == str(index) or (name[:4] == "GPU-" and uuid.startswith(name))]
        if not match:
            break  # CUDA takes no name after one that it does not know
        seen.append(match[0])
    return seen


def _names(visible_devices: str) -> list[str]:
    """The names in CUDA_VISIBLE_DEVICES, up to the first that hides the rest."""
    names = [name.strip() for name in visible_devices.split(",")]
    return list(itertools.takewhile(lambda name: name not in ("", "-1"), names))


def cpu_name(text: str) -> str:
    """The processor's name in the text of /proc/cpuinfo, "unknown" where it has none."""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return value.strip()
    return "unknown"


def versions() -> dict[str, str]:
    """Package name, with underscores -> version, of those of PACKAGES that are installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name.replace("-", "_")] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def cuda_version() -> str | None:
    """The CUDA version that the installed torch was built for, read from its version file without importing it."""
    try:
        text = importlib.metadata.distribution("torch").locate_file("torch/version.py").read_text()
    except (importlib.metadata.PackageNotFoundError, OSError):
        return None
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if name.split(":")[0].strip() == "cuda":
            return value.strip().strip("'\"") if value.strip() != "None" else None
    return None


def weights_kind(base_model: str) -> str | None:
    """What weights.txt in the model's folder says ("random" or "arithmetic"), "pretrained" for a name on the hub, else None."""
    folder = Path(base_model)
    if not folder.is_dir():
        return "pretrained"
    note = folder / "weights.txt"
    return note.read_text().strip() if note.is_file() else None


def model_config(base_model: str) -> dict[str, Any] | None:
    """The model's config.json, from its folder or from what the engine has put into the hub's cache; None where it is in neither."""
    folder = Path(base_model)
    path: Any = folder / "config.json"
    try:
        if not folder.is_dir():
            from huggingface_hub import try_to_load_from_cache

            path = try_to_load_from_cache(base_model, "config.json")  # ValueError for what cannot be a name on the hub
        config = json.loads(Path(path).read_text())
    except (TypeError, OSError, ValueError):  # try_to_load_from_cache has a marker of its own for a file that does not exist
        return None
    return config if isinstance(config, dict) else None


def environment(
    engine_config: Any, preset: str | None, preset_changed: list[str], notes: list[str], peak: PeakMemory, placement: Placement
) -> dict[str, Any]:
    """Everything about this server that a result should be read with; see GET /gspo-bench/environment."""
    shm = os.statvfs("/dev/shm") if Path("/dev/shm").exists() else None
    cpuinfo = Path("/proc/cpuinfo")
    return {
        "gpus": peak.with_peaks(gpus()),
        "cuda": cuda_version(),
        "cpu": cpu_name(cpuinfo.read_text() if cpuinfo.exists() else ""),
        "cpu_count": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "shm_bytes": shm.f_blocks * shm.f_frsize if shm else 0,
        "python": platform.python_version(),
        "versions": versions(),
        "backend": engine_config.backend,
        "backend_config": engine_config.backend_config,
        "runtime_role": engine_config.runtime_role,
        "placement": asdict(placement),
        "preset": preset,
        "preset_changed": preset_changed,
        "base_model": engine_config.base_model,
        "model_config": model_config(engine_config.base_model),
        "weights": os.environ.get("GSPO_BENCH_WEIGHTS") or weights_kind(engine_config.base_model),
        "image": os.environ.get("GSPO_BENCH_IMAGE") or None,
        "notes": notes,
    }
