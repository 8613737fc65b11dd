"""Where JAX keeps what it compiled, so that the next server's first steps need not compile again: a folder for each kind of processor."""

import hashlib
import importlib.metadata
from collections.abc import MutableMapping
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")


def processor(text: str) -> str:
    """What machine code depends on, in the text of /proc/cpuinfo: the processor's name and its features, of the first core."""
    wanted = ("model name", "flags", "Features", "CPU part")
    lines = [line for line in text.split("\n\n")[0].splitlines() if line.partition("\t")[0].partition(":")[0].strip() in wanted]
    return "\n".join(lines)


def use(folder: Path, environment: MutableMapping[str, str], cpuinfo: Path = CPUINFO) -> None:
    """Sets what JAX reads; a setting of the caller's own stays. Code for one processor can end a process on another, hence its folder."""
    here = processor(cpuinfo.read_text() if cpuinfo.exists() else "") + importlib.metadata.version("jaxlib")
    environment.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder / hashlib.sha256(here.encode()).hexdigest()[:12]))
    environment.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")  # a step is hundreds of programs of some milliseconds each
