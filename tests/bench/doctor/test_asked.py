"""What was asked of the server and of the run, before they would refuse it."""

import json
from pathlib import Path

import pytest

from bench.doctor.asked import DEFAULTS, EXAMPLES, judge_asked, judge_backend_config
from bench.doctor.finding import Finding
from bench.doctor.settings import MOST, Settings, read_settings, whole_number

PRESETS = ("a100", "cpu", "h100-h200", "l4", "stock")
ROOT = Path(__file__).parents[3]


def judged(**given: str) -> list[Finding]:
    return judge_asked(read_settings(given, {}, "p"), "cuda", PRESETS)


def test_what_can_be_is_one_line_that_names_what_was_set():
    assert [(finding.status, finding.seen) for finding in judge_asked(Settings(), "cpu", PRESETS)] == [("ok", "preset cpu")]
    (finding,) = judged(PRESET="stock", STEPS="20", BACKEND_CONFIG='{"a": 1}')
    assert (finding.status, finding.seen) == ("ok", "preset stock, STEPS=20, BACKEND_CONFIG over it")


@pytest.mark.parametrize(
    ("preset", "near"), [("l40", "l4"), ("A100", "a100"), ("h200", "h100-h200"), ("stok", "stock"), ("something-else", "l4")]
)
def test_a_preset_that_is_none_gets_the_nearest_there_is_and_the_others(preset: str, near: str):
    (finding,) = judged(PRESET=preset)
    assert (finding.name, finding.status, finding.seen) == ("PRESET", "fail", f"there is no preset '{preset}'")
    assert finding.action == f"PRESET={near} make bench     # or: a100, cpu, h100-h200, l4, stock"


@pytest.mark.parametrize(
    ("preset", "stack", "status"),
    [
        ("l4", "cpu", "fail"),
        ("cpu", "cuda", "fail"),
        ("stock", "cpu", "ok"),
        ("stock", "cuda", "ok"),
        ("cpu", "cpu", "ok"),
        ("a100", "cuda", "ok"),
    ],
)
def test_a_preset_of_the_other_stack_is_told_before_the_server_refuses_its_settings(preset: str, stack: str, status: str):
    (finding,) = judge_asked(Settings(preset=preset), stack, PRESETS)
    assert finding.status == status
    assert status == "ok" or finding.action.startswith(f"PRESET={'cpu' if stack == 'cpu' else 'l4'} make bench")


def test_a_preset_s_file_is_a_warning_since_only_the_container_can_see_it():
    (finding,) = judged(PRESET="results/presets/best.json")
    assert finding.status == "warn" and "'results/presets/best.json' is a file" in finding.seen


@pytest.mark.parametrize("value", ["0", "-1", "8.0", "many", "1e3", "100001", "9" * 5000, "٣", "8 --blocking"])
def test_steps_that_are_no_number_from_1_are_named_with_what_they_may_be(value: str):
    (finding,) = judged(STEPS=value)
    assert (finding.name, finding.status) == ("STEPS", "fail")
    assert finding.seen.endswith(", no whole number from 1 to 100,000") and len(finding.seen) < 120
    assert finding.action.startswith("STEPS=8 make bench")


def test_every_number_is_judged_by_its_own_limit():
    found = judged(STEPS="100000", MAX_TOKENS="131073", REPEAT="1000", NODES="x", GPUS="1025", PORT="65536")
    assert [finding.name for finding in found] == ["MAX_TOKENS", "REPEAT", "NODES", "GPUS", "PORT"]
    assert set(DEFAULTS) == set(MOST)


def test_a_port_a_number_of_gpus_or_a_stack_that_cannot_be_is_a_line_with_its_value_and_what_to_type():
    stack, gpus, port = judged(STACK="gpu", GPUS="-1", PORT="x")
    assert (stack.name, stack.status, stack.seen) == ("STACK", "fail", "it is 'gpu', neither cpu nor cuda")
    assert stack.action == "STACK=cpu make bench     # or STACK=cuda; left out, a GPU that works decides"
    assert (gpus.status, gpus.seen) == ("fail", "it is '-1', no whole number from 1 to 1,024, nor all")
    assert gpus.action == "GPUS=1 make bench     # or with another number, or all"
    assert (port.status, port.seen) == ("fail", "it is 'x', no whole number from 1 to 65,535")
    assert port.action == "PORT=8000 make bench     # or with another number"


def test_all_gpus_can_be_asked_for():
    assert judged(GPUS="all", PRESET="l4")[0].seen == "preset l4, GPUS=all"


def test_a_whole_number_may_have_leading_zeros_but_no_other_digits_than_ours():
    assert [whole_number(text, 99) for text in ("7", "099", "0" * 5000 + "9", "100", "", "0", "²")] == [7, 99, 9, None, None, None, None]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("{'a': 1}", "it is no JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1)): "),
        ("[1]", "it is no JSON object: '[1]'"),
        ("3", "it is no JSON object: '3'"),
        ('{"a": NaN}', "it is no JSON (it holds NaN): "),
        ("[" * 100_000, "it is no JSON ("),
    ],
)
def test_a_backend_config_that_is_no_json_object_is_shown_with_what_is_wrong(value: str, says: str):
    (finding,) = judged(BACKEND_CONFIG=value)
    assert (finding.name, finding.status) == ("BACKEND_CONFIG", "fail")
    assert finding.seen.startswith(says) and len(finding.seen) < 200


def test_what_the_launcher_would_not_have_is_told_with_an_object_that_can_be():
    finding = judge_backend_config('{"trane": 1}', "cpu", "the jax backend has no setting trane")
    assert finding is not None
    assert (finding.name, finding.status, finding.seen) == ("BACKEND_CONFIG", "fail", "the jax backend has no setting trane")
    assert finding.action.startswith("BACKEND_CONFIG='{\"train_micro_batch_size\": 8}' make bench")
    assert judge_backend_config('{"trane": 1}', "cpu") is None


def test_the_examples_and_the_default_presets_can_be():
    for stack, example in EXAMPLES.items():
        known = sorted(path.stem for path in (ROOT / "docker/server/presets").glob("*.json"))
        assert judge_asked(Settings(backend_config=example), stack, known)[0].status == "ok"
        named = set().union(*(json.loads((ROOT / f"docker/server/presets/{name}.json").read_text())["backend_config"] for name in known))
        assert set(json.loads(example)) <= named


def test_rollouts_that_are_neither_sampled_nor_shipped_are_named():
    (finding,) = judged(ROLLOUTS="often")
    assert (finding.name, finding.status, finding.seen) == ("ROLLOUTS", "fail", "it is 'often', neither sampled nor shipped")
    (finding,) = judged(ROLLOUTS="shipped")
    assert (finding.status, finding.seen) == ("ok", "preset l4, ROLLOUTS=shipped")


@pytest.mark.parametrize(("project", "near"), [("GSPO", "gspo"), ("my bench", "mybench"), ("_x", "x"), ("Ü", "gspo-bench")])
def test_a_project_name_that_compose_refuses_is_named_with_one_that_it_takes(project: str, near: str):
    (finding,) = judged(COMPOSE_PROJECT_NAME=project)
    assert (finding.name, finding.status) == ("COMPOSE_PROJECT_NAME", "fail")
    assert finding.action.startswith(f"COMPOSE_PROJECT_NAME={near} make bench")
