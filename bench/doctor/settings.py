"""The settings of `make bench`, read as compose reads them: the environment, then .env, then the defaults."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

STACKS = ("cpu", "cuda")
MODELS = {"cpu": "/models/tiny-qwen3", "cuda": "Qwen/Qwen3-0.6B"}
PRESETS = {"cpu": "cpu", "cuda": "l4"}
HUB = "https://huggingface.co"


class SettingError(ValueError):
    """A setting has a value that it cannot have; the text is two lines for the user."""


@dataclass(frozen=True)
class Settings:
    """What was asked for. `stack` is '' where nobody chose; model and preset are '' for the stack's defaults, offline None;
    gpus 0 means all."""

    stack: str = ""
    model: str = ""
    preset: str = ""
    port: int = 8000
    gpus: int = 1
    project: str = "gspo-bench"
    hub: str = HUB
    offline: bool | None = None
    results: str = "results"
    token: str = field(default="", repr=False)


def read_dotenv(text: str) -> dict[str, str]:
    """KEY=VALUE lines, with or without `export` and quotes; comments and what is no such line are passed over."""
    values = {}
    for line in text.splitlines():
        found = re.match(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$", line)
        if found:
            values[found.group(1)] = _plain(found.group(2))
    return values


def _plain(value: str) -> str:
    quoted = re.match(r"""(["'])(.*?)\1\s*(?:#.*)?$""", value)
    return quoted.group(2) if quoted else re.sub(r"(?:^|\s)#.*$", "", value)


def project_name(compose_yaml: str, folder: str) -> str:
    """Compose's name for the project: that of the file, else of its folder."""
    found = re.search(r"^name:\s*[\"']?([a-z0-9][\w-]*)", compose_yaml, re.MULTILINE)
    return found.group(1) if found else re.sub(r"[^a-z0-9_-]", "", folder.lower())


def read_settings(environment: Mapping[str, str], dotenv: Mapping[str, str], project: str) -> Settings:
    """Settings from both. An empty value counts as none, as in `${PORT:-8000}`. Raises SettingError."""

    def get(key: str, default: str = "") -> str:
        return environment.get(key, dotenv.get(key, "")).strip() or default

    stack = get("STACK")
    if stack and stack not in STACKS:
        raise SettingError(f"STACK is {stack!r}.\nGive cpu or cuda, or leave it out: a GPU that works decides.")
    gpus, offline = get("GPUS", "1"), get("HF_HUB_OFFLINE")
    return Settings(
        stack=stack,
        model=get("MODEL"),
        preset=get("PRESET"),
        port=_number("PORT", get("PORT", "8000"), 65535),
        gpus=0 if gpus == "all" else _number("GPUS", gpus, 1024),
        project=get("COMPOSE_PROJECT_NAME", project),
        hub=re.sub(r"(?<=//)[^/@]*@", "", get("HF_ENDPOINT", HUB)).rstrip("/"),  # it is printed: without a user and password
        offline=offline.lower() in ("1", "on", "yes", "true") if offline else None,
        results=get("RESULTS", "results"),
        token=get("HF_TOKEN"),
    )


def _number(key: str, value: str, most: int) -> int:
    if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= most:
        raise SettingError(f"{key} is {value!r}.\nGive a whole number from 1 to {most}.")
    return int(value)
