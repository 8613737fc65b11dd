"""What was asked of the server and of the run, judged by the rules that both have: where they would refuse it, minutes later."""

import difflib
import json
import re
import reprlib
from collections.abc import Sequence
from typing import NoReturn

from bench.doctor.finding import Finding, fail, ok, warn
from bench.doctor.settings import MOST, PRESETS, ROLLOUTS, Settings, whole_number

ASKED = "Settings"
DEFAULTS = {"STEPS": "8", "MAX_TOKENS": "512", "REPEAT": "1", "NODES": "1", "GPUS": "1", "PORT": "8000"}

EXAMPLES = {"cpu": '{"train_micro_batch_size": 8}', "cuda": '{"trainer.micro_train_batch_size_per_gpu": 8}'}


def judge_asked(settings: Settings, stack: str, presets: Sequence[str], others: Sequence[Finding | None] = ()) -> list[Finding]:
    """A finding for each setting with a value that it cannot have, else one that names what was set.

    `presets` are those there are; `others` what was found of settings that are judged elsewhere.
    """
    preset = settings.preset or PRESETS[stack]
    found = [_judge_stack(settings.no_stack), _judge_preset(preset, stack, presets), _judge_rollouts(settings.rollouts)]
    found.append(_judge_project(settings.project))
    found += [_judge_number(name, value) for name, value in settings.numbers]
    found += [judge_backend_config(settings.backend_config, stack), *others]
    wrong = [finding for finding in found if finding]
    if wrong:
        return wrong
    given = [f"{name}={value}" for name, value in settings.numbers if value]
    given += ["BACKEND_CONFIG over it"] if settings.backend_config else []
    given += [name for name, value in settings.flags if value]
    named = {"ROLLOUTS": settings.rollouts, "SWEEP": settings.sweep, "TASK": settings.task}
    given += [f"{name}={value}" for name, value in named.items() if value]
    return [ok(ASKED, ", ".join([f"preset {preset}", *given]))]


def _judge_stack(given: str) -> Finding | None:
    if not given:
        return None
    action = "STACK=cpu make bench     # or STACK=cuda; left out, a GPU that works decides"
    return fail("STACK", f"it is {reprlib.repr(given)}, neither cpu nor cuda", action)


def _judge_rollouts(given: str) -> Finding | None:
    if not given or given in ROLLOUTS:
        return None
    seen = f"it is {reprlib.repr(given)}, neither {' nor '.join(ROLLOUTS)}"
    return fail("ROLLOUTS", seen, "ROLLOUTS=shipped make bench     # a batch that comes with the program; left out, one is sampled")


def _judge_project(name: str) -> Finding | None:
    if re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
        return None
    near = re.sub(r"[^a-z0-9_-]", "", name.lower()).lstrip("_-") or "gspo-bench"
    seen = f"it is {reprlib.repr(name)}; Docker's compose takes small letters, digits, - and _"
    return fail("COMPOSE_PROJECT_NAME", seen, f"COMPOSE_PROJECT_NAME={near} make bench     # left out, it is gspo-bench")


def _judge_preset(preset: str, stack: str, presets: Sequence[str]) -> Finding | None:
    if preset in presets:
        # "stock" sets nothing, so that either backend takes it; of the others the names tell.
        for_stack = "cpu" if preset.split("-")[0] == "cpu" else "cuda"
        if preset == "stock" or for_stack == stack:
            return None
        action = f"PRESET={PRESETS[stack]} make bench     # or the other stack: STACK={for_stack}"
        return fail("PRESET", f"{preset} has settings of the {for_stack} stack, and this is the {stack} one", action)
    if preset.endswith(".json"):
        seen = f"{preset!r} is a file, which only the server's container can see; it has the presets {', '.join(presets)}"
        return warn("PRESET", seen, f"PRESET={PRESETS[stack]} make bench     # with the file's settings in BACKEND_CONFIG")
    part = [name for name in presets if preset.lower() in name.split("-")]
    near = part or difflib.get_close_matches(preset.lower(), presets, n=1) or [PRESETS[stack]]
    return fail("PRESET", f"there is no preset {reprlib.repr(preset)}", f"PRESET={near[0]} make bench     # or: {', '.join(presets)}")


def _judge_number(name: str, value: str) -> Finding | None:
    or_all = name == "GPUS"
    if not value or whole_number(value, MOST[name]) is not None or (or_all and value == "all"):
        return None
    seen = f"it is {reprlib.repr(value)}, no whole number from 1 to {MOST[name]:,}{', nor all' if or_all else ''}"
    return fail(name, seen, f"{name}={DEFAULTS[name]} make bench     # or with another number{', or all' if or_all else ''}")


def judge_refusal(settings: Settings, stack: str, refused: str) -> Finding | None:
    """`refused` is why the server's launcher would not have BACKEND_CONFIG, or GPUS: where it names the flag, or was told nothing else."""
    if not refused:
        return None
    if "--gpus" not in refused and settings.backend_config:
        return judge_backend_config(settings.backend_config, stack, refused)
    return fail("GPUS", refused, "GPUS=1 make bench     # or with a number that can be")


def judge_backend_config(text: str, stack: str, refused: str = "") -> Finding | None:
    """`refused` is why the server's launcher, where it was asked, would not have it."""
    if not text:
        return None
    try:
        wrong = "" if isinstance(json.loads(text, parse_constant=_refuse_constant), dict) else "no JSON object"
    except (ValueError, RecursionError) as error:  # also: an integer of thousands of digits, nesting without end
        wrong = f"no JSON ({str(error).split(';')[0]})"
    if not wrong and not refused:
        return None
    seen = f"it is {wrong}: {reprlib.repr(text)}" if wrong else refused
    action = f"BACKEND_CONFIG='{EXAMPLES[stack]}' make bench     # one object, such as this one; without it the preset's settings hold"
    return fail("BACKEND_CONFIG", seen, action)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}")
