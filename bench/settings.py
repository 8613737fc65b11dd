"""What a run was asked to do, checked once."""

import math
from dataclasses import dataclass
from pathlib import Path

from bench import path_names, shipped
from bench.errors import InputError
from bench.gspo import Clip
from bench.order import ORDERS


@dataclass(frozen=True)
class RunSettings:
    """The flags of `bench run`, in one place.

    Raises:
        InputError: values that do not go together. Single values' ranges are the command line's to check.
    """

    base_url: str
    model: str | None
    tokenizer: str | None
    steps: int
    max_steps: int
    warmup: int
    max_tokens: int
    lora_rank: int
    learning_rate: float
    clip: Clip
    path_names: tuple[str, ...]
    control: bool
    order: str
    blocking: bool
    target_ci_pct: float | None
    floor_steps: int
    prompts: str
    prompts_count: int
    rollouts: str
    batch: Path | None
    seed: int
    deadline_s: float
    ready_deadline_s: float
    wait_for_tenant: bool
    strict: bool
    peak_tflops: float | None
    results: Path

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise InputError(f"--order {self.order!r}: choose {' or '.join(ORDERS)}.")
        shipped.check_asked(self.rollouts, self.batch)
        if not math.isfinite(self.learning_rate):
            raise InputError(f"--learning-rate {self.learning_rate}: give a finite number.")
        if self.max_steps < self.steps:
            raise InputError(f"--max-steps {self.max_steps} is below --steps {self.steps}: raise it or lower --steps.")
        if self.target_ci_pct is not None and self.order == "blocked":
            raise InputError("--target-ci-pct goes on in pairs and --order blocked has none: leave one of them out.")
        needs = {path_names.NATIVE, path_names.TWO_PASS}
        if self.target_ci_pct is not None and not needs <= set(self.path_names):
            raise InputError(f"--target-ci-pct needs both {path_names.NATIVE} and {path_names.TWO_PASS} in --paths.")
        if self.control and path_names.NATIVE not in self.path_names:
            raise InputError(f"--control times {path_names.NATIVE} against itself: name it in --paths.")

    @property
    def arms(self) -> tuple[str, ...]:
        """The paths that take steps, the control included."""
        return (*self.path_names, path_names.CONTROL) if self.control else self.path_names

    def as_recorded(self) -> dict[str, object]:
        """The result file's `settings`."""
        return {
            "base_url": self.base_url,
            "steps": self.steps,
            "max_steps": self.max_steps,
            "warmup": self.warmup,
            "max_tokens": self.max_tokens,
            "lora_rank": self.lora_rank,
            "learning_rate": self.learning_rate,
            "clip_low_threshold": self.clip.low,
            "clip_high_threshold": self.clip.high,
            "paths": list(self.path_names),
            "control": self.control,
            "order": self.order,
            "mode": "blocking" if self.blocking else "pipelined",
            "target_ci_pct": self.target_ci_pct,
            "floor_steps": self.floor_steps,
            "prompts": self.prompts,
            "rollouts": self.rollouts,
            "batch": str(self.batch) if self.batch else None,
            "seed": self.seed,
            "deadline_s": self.deadline_s,
            "peak_tflops": self.peak_tflops,
            "temperature": 1.0,
            "thinking": False,
            "advantages": "alternating +1, -1",
        }
