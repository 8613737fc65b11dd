"""A run's settings: what does not go together, and what is read back from its record."""

import json
from typing import Any

import pytest

from bench.errors import InputError
from bench.learn.settings import of_record
from tests.bench.learn.test_loop import settings_of


def test_what_is_recorded_is_read_back() -> None:
    settings = settings_of(data="folder", divide_by_stdev=True, clip="published", path="two-pass")
    assert of_record(json.loads(json.dumps(settings.as_recorded())), "run.json") == settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", None),
        ("steps", -1),
        ("steps", True),
        ("groups", 2.5),
        ("learning_rate", "fast"),
        ("divide_by_stdev", 1),
        ("task", None),
        ("clip", "none"),
        ("path", "native_1pass"),
    ],
)
def test_a_changed_record_is_refused_by_the_setting(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"run.json: the setting {name} is"):
        of_record(settings_of().as_recorded() | {name: value}, "run.json")


def test_the_papers_clip_is_a_pair_of_ratios_not_of_widths() -> None:
    assert settings_of().ratio_clip.as_loss_fn_config() == {"clip_low_threshold": 0.9997, "clip_high_threshold": 1.0004}
    published = settings_of(clip="published").ratio_clip
    assert (published.low, published.high) == (0.8, 1.2)


def test_a_group_of_one_and_more_updates_than_groups_are_refused() -> None:
    with pytest.raises(InputError, match="--group-size 1"):
        settings_of(group_size=1)
    with pytest.raises(InputError, match="--updates-per-batch 3 is more than --groups 2"):
        settings_of(updates_per_batch=3)


@pytest.mark.parametrize("name", ["steps", "clip", "path"])
def test_a_recorded_setting_without_end_is_named_in_a_short_line(name: str) -> None:
    with pytest.raises(InputError) as raised:
        of_record(settings_of().as_recorded() | {name: "9" * 100_000}, "run.json")
    assert len(str(raised.value)) < 200
