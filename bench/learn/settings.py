"""What a learning run was asked to do, checked once, and read back when it is resumed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from bench import path_names
from bench.errors import InputError
from bench.gspo import Clip
from bench.json_object import shown

# The clip of the GSPO paper (section 5.1: 3e-4 and 4e-4), and that of the published benchmark; both as ratios.
CLIPS = {"paper": Clip(0.9997, 1.0004), "published": Clip(0.8, 1.2)}
PATHS = {"fused": path_names.NATIVE, "two-pass": path_names.TWO_PASS}


@dataclass(frozen=True)
class LearnSettings:
    """The flags of `bench learn` that make a run what it is; the rest (addresses, deadlines, folders) may differ when it is resumed.

    `groups` problems a step with `group_size` rollouts each, their advantages centred, and with `divide_by_stdev` divided by the
    group's standard deviation. `test_every` and `checkpoint_every` are in steps, 0 for never.
    """

    task: str
    path: str
    steps: int
    groups: int
    group_size: int
    updates_per_batch: int
    max_tokens: int
    learning_rate: float
    lora_rank: int
    clip: str
    divide_by_stdev: bool
    test_every: int
    test_problems: int
    checkpoint_every: int
    seed: int
    data: str | None
    tokenizer: str | None

    def __post_init__(self) -> None:
        if self.group_size < 2:
            raise InputError(f"--group-size {self.group_size}: a group of one has no advantage; give 2 or more.")
        if self.updates_per_batch > self.groups:
            raise InputError(
                f"--updates-per-batch {self.updates_per_batch} is more than --groups {self.groups}: each update takes whole groups."
            )

    @property
    def ratio_clip(self) -> Clip:
        return CLIPS[self.clip]

    @property
    def path_name(self) -> str:
        """The path's name as result files have it."""
        return PATHS[self.path]

    def as_recorded(self) -> dict[str, Any]:
        """The `settings` of run.json: every flag that makes the run what it is."""
        return asdict(self) | {"temperature": 1.0, "thinking": False}


def of_record(recorded: Mapping[str, Any], where: str) -> LearnSettings:
    """The settings that `as_recorded` wrote.

    Raises:
        InputError: one is missing or of another type; `where` names the file.
    """
    values: dict[str, Any] = {}
    for field in fields(LearnSettings):
        value = recorded.get(field.name)
        if not _is_of(value, field.type):
            raise InputError(f"{where}: the setting {field.name} is {shown(value)}; the run cannot be resumed from it.")
        values[field.name] = value
    for name, known in (("clip", CLIPS), ("path", PATHS)):
        if values[name] not in known:
            raise InputError(f"{where}: the setting {name} is {shown(values[name])}; this version knows {', '.join(known)}.")
    return LearnSettings(**values)


def _is_of(value: Any, kind: Any) -> bool:
    if kind is int:
        return type(value) is int and value >= 0
    if kind is float:
        return type(value) in (int, float)
    return isinstance(value, kind)
