"""Values that do not go together."""

from pathlib import Path
from typing import Any

import pytest

from bench.errors import InputError
from bench.gspo import Clip
from bench.settings import RunSettings

GOOD: dict[str, Any] = {
    "base_url": "http://localhost:8000",
    "model": None,
    "tokenizer": None,
    "steps": 8,
    "max_steps": 64,
    "warmup": 1,
    "max_tokens": 512,
    "lora_rank": 32,
    "learning_rate": 1e-6,
    "clip": Clip(),
    "path_names": ("native_1pass", "custom_2pass"),
    "control": False,
    "order": "interleaved",
    "blocking": False,
    "target_ci_pct": None,
    "floor_steps": 3,
    "prompts": "builtin",
    "prompts_count": 16,
    "rollouts": "sampled",
    "batch": None,
    "seed": 0,
    "deadline_s": 600.0,
    "ready_deadline_s": 1800.0,
    "wait_for_tenant": False,
    "strict": False,
    "peak_tflops": None,
    "results": Path("results"),
}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"order": "random"}, "--order 'random': choose interleaved or blocked"),
        ({"learning_rate": float("nan")}, "--learning-rate nan"),
        ({"learning_rate": float("inf")}, "--learning-rate inf"),
        ({"steps": 65}, "--max-steps 64 is below --steps 65"),
        ({"target_ci_pct": 2.0, "order": "blocked"}, "--target-ci-pct goes on in pairs and --order blocked has none"),
        ({"target_ci_pct": 2.0, "path_names": ("native_1pass",)}, "--target-ci-pct needs both native_1pass and custom_2pass"),
        ({"rollouts": "shipped", "batch": Path("b.json")}, "--rollouts shipped and --batch b.json are two batches"),
        ({"control": True, "path_names": ("custom_2pass",)}, "--control times native_1pass against itself: name it in --paths"),
    ],
)
def test_values_that_do_not_go_together_are_refused_by_their_flags(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        RunSettings(**{**GOOD, **changes})


def test_the_control_is_an_arm_behind_the_paths() -> None:
    assert RunSettings(**GOOD).arms == ("native_1pass", "custom_2pass")
    assert RunSettings(**{**GOOD, "control": True}).arms == ("native_1pass", "custom_2pass", "native_1pass_control")


def test_what_is_recorded_says_how_it_was_measured() -> None:
    recorded = RunSettings(**{**GOOD, "blocking": True, "clip": Clip(0.9997, 1.0004), "batch": Path("b.json")}).as_recorded()
    assert recorded["mode"] == "blocking"
    assert (recorded["clip_low_threshold"], recorded["clip_high_threshold"]) == (0.9997, 1.0004)
    assert recorded["paths"] == ["native_1pass", "custom_2pass"]
    assert recorded["batch"] == "b.json"
    assert RunSettings(**GOOD).as_recorded()["mode"] == "pipelined"
