"""The launcher's words for wrong usage, and the settings that it hands to SkyRL."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
from backend_config import PRESETS, UsageError, _nearest_field, changed, check, load_preset, parse_backend_config


def serve(*flags: str) -> subprocess.CompletedProcess[str]:
    """serve.py for a model that is not there, so that a start would fail."""
    command = [sys.executable, PRESETS.parent / "serve.py", "--model", "no/where", *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--preset", "l5"], "there is no preset 'l5'.\nPresets are: a100, cpu, cpu-learn, h100-h200, l4, stock."),
        (["--backend-config", "{x"], "--backend-config is not JSON"),
        (["--backend-config", "[1]"], "--backend-config is not a JSON object: '[1]'."),
        (["--backend", "jax", "--runtime-role", "trainer"], "--runtime-role trainer needs --backend fsdp"),
        (["--port", "70000"], "argument --port: '70000' is none: give a whole number from 1 to 65535.\nSee serve.py --help."),
        (["--session-timeout-s", "1.5"], "argument --session-timeout-s: '1.5' is none: give a whole number from 1."),
        (["--keep-requests-s", "9" * 5000], "argument --keep-requests-s: '999999999999...9999999999999' is none: give a whole number"),
        (["--backend", "tpu"], "argument --backend: invalid choice: 'tpu' (choose from"),
        (["--prest", "l4\nor so"], "unrecognized arguments: --prest l4 or so.\nSee serve.py --help."),
        (["--preset"], "argument --preset: expected one argument.\n"),
    ],
)
def test_wrong_usage_is_two_lines_and_exit_code_2(flags: list[str], says: str) -> None:
    ended = serve(*flags)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"error: {says}")
    assert ended.stderr.count("\n") <= 2


def test_a_model_folder_that_is_not_there_is_named_before_anything_loads() -> None:
    ended = serve("--backend", "jax", "--model", "/models/nope")
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: there is no folder /models/nope.\n")


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": 1e', "[" * 100_000, '{"a": ' + "9" * 5_000 + "}", "\ud800", "null", '"{}"'])
def test_a_backend_config_that_is_no_object_is_refused_in_two_short_lines(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_backend_config(text)
    assert str(raised.value).startswith("--backend-config is not")
    assert str(raised.value).count("\n") == 1 and len(str(raised.value)) < 300
    str(raised.value).encode()


def test_a_preset_is_changed_by_what_it_has_otherwise_or_not_at_all() -> None:
    assert changed({"a": 1, "b": 2}, {"c": None, "b": 3, "a": 1}) == ["b", "c"]
    assert changed({"a": 1}, {"a": 1}) == changed({"a": 1}, {}) == []


def test_no_backend_config_is_an_empty_one() -> None:
    assert parse_backend_config("") == parse_backend_config(" ") == parse_backend_config("{}") == {}


def test_a_preset_may_be_a_file_such_as_a_sweep_wrote(tmp_path: Path) -> None:
    mine = tmp_path / "best.json"
    mine.write_text('{"backend_config": {"x": 1}}')
    assert load_preset(str(mine)) == {"x": 1}


@pytest.mark.parametrize(
    ("text", "says"), [(None, "cannot be read: .*No such file"), ("{", "cannot be read"), ('{"x": 1}', "has no backend_config")]
)
def test_a_preset_file_that_is_none_is_named(tmp_path: Path, text: str | None, says: str) -> None:
    mine = tmp_path / "best.json"
    if text is not None:
        mine.write_text(text)
    with pytest.raises(UsageError, match=rf"the preset \S*best\.json {says}"):
        load_preset(str(mine))


@pytest.mark.parametrize("path", sorted(PRESETS.glob("*.json")), ids=lambda path: path.stem)
def test_every_preset_gives_a_reason_for_every_setting(path: object) -> None:
    preset = json.loads(path.read_text())  # type: ignore[attr-defined]
    assert preset["description"]
    assert sorted(preset["why"]) == sorted(preset["backend_config"])


@pytest.mark.server
@pytest.mark.parametrize("name", ["cpu", "cpu-learn"])
def test_the_cpu_presets_settings_are_the_jax_backends(name: str) -> None:
    check("jax", load_preset(name))


@pytest.mark.server
def test_settings_can_be_checked_alone_and_nothing_is_started_for_it() -> None:
    can = serve("--check-only", "--backend", "jax", "--preset", "cpu", "--gpus", "2")
    assert (can.returncode, can.stdout, can.stderr) == (0, "", "")
    cannot = serve("--check-only", "--backend", "jax", "--backend-config", '{"max_lora_rang": 8}')
    assert (cannot.returncode, cannot.stderr.split("\n")[0]) == (2, "error: the jax backend has no setting max_lora_rang (max_lora_rank?).")


@pytest.mark.server
def test_a_setting_that_the_backend_does_not_have_is_named() -> None:
    with pytest.raises(UsageError, match=r"the jax backend has no setting max_lora_rang \(max_lora_rank\?\)\.\n"):
        check("jax", {"max_lora_rang": 8, "max_lora_rank": 8})


@dataclasses.dataclass
class Inner:
    size: int = 1
    anything: dict[str, int] | None = None


@dataclasses.dataclass
class Outer:
    inner: Inner | None = None


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("inner.size", "inner.size"),
        ("inner", "inner"),
        ("inner.anything.of.ones.own", "inner.anything.of.ones.own"),
        ("inner.sizes", "inner.size"),
        ("iner.anythin.of.ones.own", "inner.anything.of.ones.own"),
        ("inner.colour", None),
        ("outside.size", None),
        ("", None),
    ],
)
def test_a_dotted_setting_is_followed_through_the_configs_dataclasses_to_itself_or_the_nearest_there_is(
    path: str, nearest: str | None
) -> None:
    assert _nearest_field(Outer, path.split(".")) == nearest


def test_vllm_samples_without_a_kernel_that_needs_nvcc_unless_the_caller_says_so() -> None:
    from serve import prepare_environment

    untouched: dict[str, str] = {}
    prepare_environment("jax", untouched)
    assert untouched == {}
    prepare_environment("fsdp", untouched)
    assert untouched == {"VLLM_USE_FLASHINFER_SAMPLER": "0"}
    asked = {"VLLM_USE_FLASHINFER_SAMPLER": "1"}
    prepare_environment("fsdp", asked)
    assert asked == {"VLLM_USE_FLASHINFER_SAMPLER": "1"}
