"""The host's GPUs, as nvidia-smi lists them, and their memory against the preset's need."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.doctor.commands import Output
from bench.doctor.cuda import install_driver
from bench.doctor.finding import Finding, fail, ok, warn

NAME = "NVIDIA driver"
MEMORY = "GPU memory"
CAPABILITY = "GPU's capability"
FIELDS = ("name", "memory.total", "memory.used", "driver_version", "compute_cap")
LEAST_CAPABILITY = 8.0  # Ampere's: the first to compute in bfloat16, in which the CUDA stack trains
BUSY_MIB = 1024  # a desktop takes less
DRIVER_BRANCH = 580  # the oldest that every CUDA version of today runs on


@dataclass(frozen=True)
class Gpu:
    """One GPU; memory in MiB, None where the driver does not say."""

    name: str
    total_mib: int | None
    used_mib: int | None
    driver: str
    capability: float | None = None


def query(run: Callable[[list[str]], Output]) -> Output:
    """What nvidia-smi says of FIELDS; without the last, which drivers of before 2022 do not know."""
    output = run(_query(FIELDS))
    return run(_query(FIELDS[:-1])) if output.code and "compute_cap" in output.text else output


def _query(fields: Sequence[str]) -> list[str]:
    return ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]


def read_gpus(output: Output) -> list[Gpu]:
    """The GPUs that query() found; none when it failed."""
    if output.code != 0:
        return []
    rows = [[field.strip() for field in line.split(",")] for line in output.out.splitlines()]
    return [Gpu(row[0], _mib(row[1]), _mib(row[2]), row[3], _capability(row[4:])) for row in rows if len(row) >= len(FIELDS) - 1]


def _mib(field: str) -> int | None:
    return int(field) if field.isdigit() else None


def _capability(fields: Sequence[str]) -> float | None:
    return float(fields[0]) if fields and re.fullmatch(r"\d+\.\d+", fields[0]) else None


def judge_capability(gpus: Sequence[Gpu], wanted: int) -> Finding | None:
    """Whether the first `wanted` GPUs compute in bfloat16; None where the driver does not say."""
    known = [gpu for gpu in gpus[:wanted] if gpu.capability is not None]
    old = next((gpu for gpu in known if gpu.capability is not None and gpu.capability < LEAST_CAPABILITY), None)
    if old:
        seen = f"{old.name} has compute capability {old.capability}, and needs {LEAST_CAPABILITY} for bfloat16"
        return fail(CAPABILITY, seen, "STACK=cpu make bench     # or a GPU of Ampere's generation or newer: A10, A100, L4, H100")
    return ok(CAPABILITY, f"{min(gpu.capability or 0 for gpu in known)} ({LEAST_CAPABILITY} needed for bfloat16)") if known else None


def judge_nvidia_smi(output: Output, stack: str, on_the_bus: bool) -> Finding:
    """From query(); on_the_bus says whether the machine has an NVIDIA GPU, with a driver or without."""
    gpus = read_gpus(output)
    if gpus:
        names = ", ".join(f"{gpu.name}" for gpu in gpus)
        return ok(NAME, f"{gpus[0].driver}; {names}")
    missing = output.problem == "missing"
    if missing and not on_the_bus:
        if stack == "cuda":
            return fail(NAME, "STACK=cuda, and there is no NVIDIA GPU here", "STACK=cpu make bench")
        return ok(NAME, "no NVIDIA GPU here: the CPU stack will be used")
    seen, action = _symptom(output, missing)
    if stack == "cuda":
        return fail(NAME, seen, action)
    return warn(NAME, f"{seen}: the CPU stack will be used", action)


def _symptom(output: Output, missing: bool) -> tuple[str, str]:
    text = output.text.lower()
    if missing:
        return "there is an NVIDIA GPU, and no driver (no nvidia-smi)", install_driver(DRIVER_BRANCH)
    if output.problem == "timeout":
        return "nvidia-smi does not answer", "sudo reboot"
    if "version mismatch" in text:
        return "the driver was updated and the old one is still loaded (driver/library version mismatch)", "sudo reboot"
    if "couldn't communicate" in text or "driver is not loaded" in text:
        action = f"sudo modprobe nvidia     # if that fails, after a new kernel say:\n{install_driver(DRIVER_BRANCH)}"
        return "nvidia-smi cannot reach the driver: it is not loaded", action
    if "unable to determine the device handle" in text or "unknown error" in text:
        return "the GPU stopped answering", "sudo reboot"
    if "no devices were found" in text:
        return "the driver finds no GPU", "sudo dmesg | grep -i nvrm     # says why\nsudo reboot"
    return f"nvidia-smi: {output.last_line}", "nvidia-smi"


def judge_memory(gpus: Sequence[Gpu], wanted: int, preset: str, needs_gib: Mapping[str, float], own_server_runs: bool) -> Finding:
    """Memory of the first `wanted` GPUs against needs_gib[preset]; needs_gib has the presets that state a need."""
    if len(gpus) < wanted:
        return fail(MEMORY, f"GPUS={wanted}, and there are {len(gpus)}", f"GPUS={len(gpus)} make bench")
    totals = [gpu.total_mib for gpu in gpus[:wanted] if gpu.total_mib is not None]
    need = needs_gib.get(preset)
    if not totals or need is None:
        what = f"the preset {preset} states no need" if need is None else "the driver does not say how much there is"
        return ok(MEMORY, f"not compared: {what}")
    have = min(totals) / 1024
    fitting = [name for name, gib in sorted(needs_gib.items(), key=lambda item: item[1]) if gib <= have]
    if have < need:
        instead = f"PRESET={fitting[-1]} make bench" if fitting else "STACK=cpu make bench"
        return fail(MEMORY, f"have {have:.1f} GiB, need {need:g} for the preset {preset}", instead)
    used = max((gpu.used_mib or 0) for gpu in gpus[:wanted])
    if used > BUSY_MIB and not own_server_runs and have - used / 1024 < need:
        seen = f"{have:.1f} GiB, of which others use {used / 1024:.1f}; the preset {preset} needs {need:g}"
        return fail(MEMORY, seen, "nvidia-smi     # lists the processes to end")
    words = set(re.findall(r"[a-z0-9]+", gpus[0].name.lower()))
    made_for_it = [name for name in fitting if name != preset and words & set(name.split("-"))]
    hint = f"; PRESET={made_for_it[-1]} is made for this GPU" if made_for_it else ""
    return ok(MEMORY, f"{have:.1f} GiB ({need:g} needed for the preset {preset}{hint})")


def cuda_needed_by(text: str) -> str | None:
    """The CUDA version of `unsatisfied condition: cuda>=12.4`, a container runtime's refusal."""
    found = re.search(r"unsatisfied condition: cuda\s*>=\s*([\d.]+\d)", text)
    return found.group(1) if found else None
