"""The server's settings: a preset's, with the caller's over them, checked against what SkyRL knows before anything is loaded."""

import ast
import dataclasses
import difflib
import importlib.metadata
import importlib.util
import json
import reprlib
import typing
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

PRESETS = Path(__file__).resolve().parent / "presets"
SAMPLER_ARGUMENTS = "generator.inference_engine.engine_init_kwargs"
SAMPLER_EAGER = "generator.inference_engine.enforce_eager"
LONGEST_NAMES = 400  # in a message


class UsageError(Exception):
    """What the caller asked for cannot be: the text is one or two lines for them."""


def load_preset(name: str) -> dict[str, Any]:
    """The backend config of presets/NAME.json, or of the file NAME where it ends with .json, such as a sweep wrote.

    Raises UsageError for a name without a file, and for a file without a backend config.
    """
    known = sorted(path.stem for path in PRESETS.glob("*.json"))
    if name not in known and not name.endswith(".json"):
        raise UsageError(f"there is no preset {name!r}.\nPresets are: {', '.join(known)}.")
    path = Path(name) if name.endswith(".json") else PRESETS / f"{name}.json"
    try:
        preset = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"the preset {name} cannot be read: {error}.\nPresets are: {', '.join(known)}.") from None
    config = preset.get("backend_config") if isinstance(preset, dict) else None
    if not isinstance(config, dict):
        raise UsageError(f"the preset {name} has no backend_config, one object of settings.\nPresets are: {', '.join(known)}.")
    return config


def parse_backend_config(text: str) -> dict[str, Any]:
    """The JSON object in text, empty for no text. Raises UsageError for anything else."""
    if not text.strip():
        return {}
    try:
        config = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:  # also: an integer of thousands of digits, nesting without end
        reason = str(error).split(";")[0]
        raise UsageError(f"--backend-config is not JSON ({reason}): {reprlib.repr(text)}.\nGive one object, such as '{{}}'.") from None
    if not isinstance(config, dict):
        raise UsageError(f"--backend-config is not a JSON object: {reprlib.repr(text)}.\nGive one object, such as '{{}}'.")
    return config


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}")


def changed(preset: dict[str, Any], over: dict[str, Any]) -> list[str]:
    """The names of the settings in `over` that are not as the preset has them, sorted: with them it is no longer the preset."""
    return sorted(name for name, value in over.items() if name not in preset or preset[name] != value)


def attention_config() -> dict[str, Any]:
    """Settings of the FSDP backend that follow from what is installed: without the flash-attn package, attention is PyTorch's SDPA.

    SkyRL's own defaults need flash-attn, and taking the padding out of a micro-batch needs it too.
    """
    try:
        importlib.metadata.version("flash-attn")
    except importlib.metadata.PackageNotFoundError:
        return {"trainer.flash_attn": False, "trainer.remove_microbatch_padding": False}
    return {}


def sampler_config(rollouts: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What is asked for, with what follows from how much will be sampled: compiling takes vLLM longer than one batch without.

    As vLLM's own argument, for SkyRL takes back its `enforce_eager` where a LoRA model is trained (SkyRLTrainConfig.__post_init__).
    """
    arguments = asked.get(SAMPLER_ARGUMENTS, {})
    if rollouts != "sampled" or SAMPLER_EAGER in asked or not isinstance(arguments, dict):
        return asked
    return asked | {SAMPLER_ARGUMENTS: {"enforce_eager": True} | arguments}


def check(backend: str, config: dict[str, Any]) -> None:
    """Raises UsageError for a setting that the backend does not have. Looks at names only, and loads nothing heavy: under 1 s.

    SkyRL itself would say so too, after the model was loaded for jax, when a client makes a model for fsdp.
    """
    if backend == "jax":
        where = "JaxBackendConfig in skyrl.backends.jax"
        known = _fields_in_source("skyrl.backends.jax", "JaxBackendConfig")
        unknown = {key: _nearest(key, known) for key in config.keys() - known}
    else:
        from skyrl.train.config import SkyRLTrainConfig

        where = "SkyRLTrainConfig in skyrl.train.config"
        own = _fields_in_source("skyrl.backends.skyrl_train_backend", "SkyRLTrainBackendOverrides", "FSDPBackendOverrides")
        found = {key: _nearest_field(SkyRLTrainConfig, key.split(".")) for key in config.keys() - own}
        unknown = {key: near for key, near in found.items() if near != key}
    if unknown:
        named = ", ".join(f"{key} ({near}?)" if near else key for key, near in sorted(unknown.items()))
        named = named if len(named) <= LONGEST_NAMES else f"{named[:LONGEST_NAMES]}..."
        raise UsageError(f"the {backend} backend has no setting {named}.\nIts settings are the fields of {where}.")


def _nearest(name: str, known: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, known, n=1)), None)


def _nearest_field(config: type, path: list[str]) -> str | None:
    """The dotted path of fields nearest to the one given, which is itself where it leads through dataclasses to a field, or into one
    that is no dataclass and takes what it is given; None where nothing is near."""
    kind: Any = config
    found: list[str] = []
    for name in path:
        parts = (kind, *typing.get_args(kind))  # of X | None: X
        owner = next((part for part in parts if isinstance(part, type) and dataclasses.is_dataclass(part)), None)
        if owner is None:
            return ".".join([*found, *path[len(found) :]])
        hints = typing.get_type_hints(owner)
        field = name if name in hints else _nearest(name, hints)
        if field is None:
            return None
        found.append(field)
        kind = hints[field]
    return ".".join(found)


def _fields_in_source(module: str, *classes: str) -> set[str]:
    """The annotated names of the classes, read from the module's source: importing it would take seconds."""
    package, _, name = module.rpartition(".")
    folder = importlib.util.find_spec(package)
    source = Path(str(folder.submodule_search_locations[0])) / f"{name}.py" if folder and folder.submodule_search_locations else None
    tree = ast.parse(source.read_text()) if source and source.is_file() else ast.Module([], [])
    found = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    missing = [name for name in classes if name not in found]
    if missing:
        raise ImportError(f"{module} has no class {missing[0]}.")
    fields = [line for name in classes for line in found[name].body if isinstance(line, ast.AnnAssign)]
    return {field.target.id for field in fields if isinstance(field.target, ast.Name)}
