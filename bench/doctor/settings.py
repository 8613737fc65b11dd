"""The settings of `make bench`, read as compose reads them: the environment, then .env, then the defaults."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

STACKS = ("cpu", "cuda")
MODELS = {"cpu": "/models/tiny-qwen3", "cuda": "Qwen/Qwen3-0.6B"}
PRESETS = {"cpu": "cpu", "cuda": "l4"}
# The most that bench, the server, docker/repeat.sh or a port takes.
MOST = {"STEPS": 100_000, "MAX_TOKENS": 131_072, "REPEAT": 999, "NODES": 1024, "GPUS": 1024, "PORT": 65_535}
ROLLOUTS = ("sampled", "shipped")
FLAGS = ("BENCH_ARGS", "LEARN_ARGS", "SWEEP_ARGS", "SCALE_ARGS")
HUB = "https://huggingface.co"


@dataclass(frozen=True)
class Settings:
    """What was asked for. `stack` is '' where nobody chose; model and preset are '' for the stack's defaults, offline None;
    gpus 0 means all. `numbers` (STEPS and the like, by name), `flags` (BENCH_ARGS and the like), `backend_config`, `sweep`, `task` and
    `rollouts` are as written, '' where they are not set. What cannot be is the default beside them, but port, which then is 0;
    `no_stack` is STACK's value then.
    """

    stack: str = ""
    no_stack: str = ""
    model: str = ""
    preset: str = ""
    port: int = 8000
    gpus: int = 1
    project: str = "gspo-bench"
    hub: str = HUB
    offline: bool | None = None
    results: str = "results"
    numbers: tuple[tuple[str, str], ...] = ()
    flags: tuple[tuple[str, str], ...] = ()
    backend_config: str = ""
    sweep: str = ""
    task: str = ""
    rollouts: str = ""
    token: str = field(default="", repr=False)


def read_dotenv(text: str) -> dict[str, str]:
    """KEY=VALUE lines, with or without `export`, quotes, a byte order mark and Windows' line ends; what is no such line is passed over."""
    values = {}
    for line in text.removeprefix("\ufeff").splitlines():
        found = re.match(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$", line)
        if found:
            values[found.group(1)] = _plain(found.group(2))
    return values


def _plain(value: str) -> str:
    quoted = re.match(r"""(["'])(.*?)\1\s*(?:#.*)?$""", value)
    return quoted.group(2) if quoted else re.sub(r"\s#.*$", "", value)


def project_name(compose_yaml: str, folder: str) -> str:
    """Compose's name for the project: that of the file, else of its folder."""
    found = re.search(r"^name:\s*[\"']?([a-z0-9][\w-]*)", compose_yaml, re.MULTILINE)
    return found.group(1) if found else re.sub(r"[^a-z0-9_-]", "", folder.lower())


def read_settings(environment: Mapping[str, str], dotenv: Mapping[str, str], project: str) -> Settings:
    """Settings from both. An empty value counts as none, as in `${PORT:-8000}`."""

    def get(key: str, default: str = "") -> str:
        return environment.get(key, dotenv.get(key, "")).strip() or default

    stack, gpus, offline = get("STACK"), get("GPUS", "1"), get("HF_HUB_OFFLINE")
    return Settings(
        stack=stack if stack in STACKS else "",
        no_stack="" if stack in STACKS else stack,
        model=get("MODEL"),
        preset=get("PRESET"),
        port=whole_number(get("PORT", "8000"), MOST["PORT"]) or 0,
        gpus=0 if gpus == "all" else whole_number(gpus, MOST["GPUS"]) or 1,
        project=get("COMPOSE_PROJECT_NAME", project),
        hub=re.sub(r"(?<=//)[^/@]*@", "", get("HF_ENDPOINT", HUB)).rstrip("/"),  # it is printed: without a user and password
        offline=offline.lower() in ("1", "on", "yes", "true") if offline else None,
        results=get("RESULTS", "results"),
        numbers=tuple((name, get(name)) for name in MOST),
        flags=tuple((name, get(name)) for name in FLAGS),
        backend_config=get("BACKEND_CONFIG"),
        sweep=get("SWEEP"),
        task=get("TASK"),
        rollouts=get("ROLLOUTS"),
        token=get("HF_TOKEN"),
    )


def whole_number(value: str, most: int) -> int | None:
    """The whole number from 1 to `most` that the text is, else None."""
    digits = value.lstrip("0")
    if not digits.isascii() or not digits.isdigit() or len(digits) > len(str(most)):  # int refuses thousands of digits
        return None
    return int(digits) if int(digits) <= most else None
