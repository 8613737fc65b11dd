"""How many devices the JAX backend can cut a model over, from the model's own sizes."""

import json
from pathlib import Path
from typing import Any

import pytest
from backend_config import UsageError
from serve import parse
from shards import check_divides

DATA, TENSOR, EXPERTS = "fully_sharded_data_parallel_size", "tensor_parallel_size", "expert_parallel_size"
TINY = {"hidden_size": 128, "intermediate_size": 384, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 512}
MOE = TINY | {"num_experts": 6, "moe_intermediate_size": 96, "intermediate_size": 100}


def refusal(config: dict[str, Any], model: dict[str, Any] | None, gpus: int | None = None) -> str:
    with pytest.raises(UsageError) as raised:
        check_divides(config, model, gpus)
    return str(raised.value)


def test_a_number_that_does_not_divide_the_hidden_size_is_refused_with_those_that_do() -> None:
    assert refusal({DATA: 3}, TINY, 3) == (
        "this model's hidden_size, 128, cannot be cut into 3 equal parts (fully_sharded_data_parallel_size).\n"
        "Give --gpus (GPUS) a number that can be: 1, 2, 4, 8, 16, 32, 64, 128."
    )
    for parts in (1, 2, 4, 128):
        check_divides({DATA: parts}, TINY, parts)


def test_what_the_settings_say_themselves_is_named_by_its_setting_and_the_flag_counts_the_other_devices_too() -> None:
    assert "\nGive fully_sharded_data_parallel_size a number that can be: 1, 2, 4," in refusal({DATA: 3}, TINY)
    # Six devices, two for each part of a tensor: 3 x 2. What can be: a power of two, twice.
    assert "\nGive --gpus (GPUS) a number that can be: 2, 4, 8, 16," in refusal({DATA: 3, TENSOR: 2}, TINY, 6)


def test_tensor_parallel_cuts_heads_the_mlp_and_the_vocabulary() -> None:
    # gcd(4, 2, 384, 512) = 2
    assert refusal({TENSOR: 4}, TINY).splitlines() == [
        "this model's num_key_value_heads, 2, cannot be cut into 4 equal parts (tensor_parallel_size).",
        "Give tensor_parallel_size a number that can be: 1, 2.",
    ]
    check_divides({TENSOR: 4, "shard_attention_heads": False}, TINY, None)
    # gcd(384, 512) = 128
    assert "intermediate_size, 384," in refusal({TENSOR: 256, "shard_attention_heads": False}, TINY)


def test_experts_are_cut_by_their_own_setting_and_their_width_by_tensor_parallel() -> None:
    said = refusal({EXPERTS: 4}, MOE)
    assert "num_experts, 6, cannot be cut into 4 " in said and said.endswith(
        "\nGive expert_parallel_size a number that can be: 1, 2, 3, 6."
    )
    # 64 divides neither 96 nor the 100 of dense layers that a Qwen3 of experts does not have.
    assert "moe_intermediate_size, 96," in refusal({TENSOR: 64, "shard_attention_heads": False}, MOE)


def test_a_model_of_text_and_pictures_has_its_sizes_in_text_config() -> None:
    assert "hidden_size, 128," in refusal({DATA: 3}, {"hidden_size": 9, "text_config": TINY})


def test_sizes_that_are_not_known_are_left_to_the_engine() -> None:
    for model in (None, {}, {"hidden_size": "128"}, {"hidden_size": 0}):
        check_divides({DATA: 3}, model, 3)


@pytest.mark.parametrize("more", [[], ["--check-only"]])
def test_the_launcher_says_so_before_anything_starts(more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    flags = ["--model", str(tmp_path), "--backend", "jax", "--preset", "cpu", *more]
    with pytest.raises(SystemExit) as ended:
        parse([*flags, "--gpus", "3"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: this model's hidden_size, 128, cannot be cut into 3 ")
    assert parse([*flags, "--gpus", "4"]).placement.data_parallel == 4


def test_a_name_that_cannot_be_on_the_hub_is_left_to_the_engine_too() -> None:
    assert parse(["--model", "a/b/c", "--backend", "jax", "--gpus", "3"]).placement.data_parallel == 3
