"""A step's arithmetic against counts made by hand from Qwen3's config files."""

from typing import Any

import pytest

from bench.gpu_rates import rate_of
from bench.roofline import gradient_checkpointing, roofline, shape_of, step_flops, utilisation

QWEN3_06B = {
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
}
QWEN3_4B = QWEN3_06B | {"hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36, "num_attention_heads": 32}


def test_the_weights_of_qwen3_06b_are_those_counted_by_hand() -> None:
    shape = shape_of(QWEN3_06B)
    assert shape is not None
    # Query and output 1024 x 2048, key and value 1024 x 1024, three MLP matrices 1024 x 3072; 28 blocks; the head 1024 x 151936.
    block = 2 * 2_097_152 + 2 * 1_048_576 + 3 * 3_145_728
    assert block == 15_728_640
    assert shape.parameters == 28 * 15_728_640 + 155_582_464 == 595_984_384


def test_the_weights_of_qwen3_4b_are_those_counted_by_hand() -> None:
    shape = shape_of(QWEN3_4B)
    assert shape is not None
    # Query and output 2560 x 4096, key and value 2560 x 1024, three MLP matrices 2560 x 9728; 36 blocks; the head 2560 x 151936.
    block = 2 * 10_485_760 + 2 * 2_621_440 + 3 * 24_903_680
    assert block == 100_925_440
    assert shape.parameters == 36 * 100_925_440 + 388_956_160 == 4_022_272_000


def test_a_forward_of_one_sequence_of_1000_tokens_through_qwen3_06b() -> None:
    shape = shape_of(QWEN3_06B)
    assert shape is not None
    flops = step_flops(shape, [1000], lora_rank=32)
    assert flops.blocks == 2 * 1000 * 440_401_920
    assert flops.head == 2 * 1000 * 155_582_464
    # 1000 * 1001 / 2 pairs, 16 heads of 128, 28 layers, two products, two operations.
    assert flops.attention == 500_500 * 16 * 128 * 28 * 4
    # Rank 32 times the inputs and outputs of each matrix: query and output 3072, key and value 2048, MLP 4096 each.
    assert flops.adapter == 2 * 1000 * 28 * 32 * (2 * 3072 + 2 * 2048 + 3 * 4096)


def test_attention_grows_with_each_sequences_own_length() -> None:
    shape = shape_of(QWEN3_06B)
    assert shape is not None
    together, apart = step_flops(shape, [1000], 32), step_flops(shape, [500, 500], 32)
    assert together.blocks == apart.blocks
    # 500,500 pairs against 2 * 125,250.
    assert together.attention / apart.attention == pytest.approx(500_500 / 250_500)


def test_the_saving_that_arithmetic_allows_is_about_a_quarter_with_recomputation_and_a_third_without() -> None:
    shape = shape_of(QWEN3_4B)
    assert shape is not None
    flops = step_flops(shape, [512] * 16, lora_rank=32)
    with_recomputation = 1 - flops.of_path("native_1pass", True) / flops.of_path("custom_2pass", True)
    without = 1 - flops.of_path("native_1pass", False) / flops.of_path("custom_2pass", False)
    # One forward of four and of three; attention, adapter and head, which is not recomputed, move it by a point or two.
    assert with_recomputation == pytest.approx(0.25, abs=0.015)
    assert without == pytest.approx(1 / 3, abs=0.02)


def test_each_pass_by_hand_on_a_model_of_a_few_weights() -> None:
    config = {
        "hidden_size": 4,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 2,
        "vocab_size": 10,
    }
    shape = shape_of(config)
    assert shape is not None
    flops = step_flops(shape, [3], lora_rank=1)
    # Weights: 4x4, 4x2, 4x2, 4x4, 4x8, 4x8, 8x4 = 144; tokens 3; pairs 6; heads of 4 in all.
    assert (flops.blocks, flops.head, flops.attention) == (2 * 3 * 144, 2 * 3 * 40, 6 * 4 * 4)
    # Inputs and outputs: 8 + 6 + 6 + 8 + 12 + 12 + 12.
    assert flops.adapter == 2 * 3 * 64
    assert flops.forward == 864 + 96 + 240 + 384
    assert flops.backward == 864 + 2 * 96 + 240 + 2 * 384
    assert flops.recomputation == 864 + 96 + 384
    assert flops.of_path("native_1pass", False) == 1584 + 2064
    assert flops.of_path("native_1pass", True) == 1584 + 2064 + 1344
    assert flops.of_path("custom_2pass", True) == 1584 + 2064 + 1344 + 1584
    assert flops.of_path("sdk_custom", True) == flops.of_path("custom_2pass", True)


@pytest.mark.parametrize(
    ("device", "tflops"),
    [
        ("NVIDIA H200", 989.0),
        ("NVIDIA H100 80GB HBM3", 989.0),
        ("NVIDIA H100 PCIe", 756.0),
        ("NVIDIA A100-SXM4-80GB", 312.0),
        ("NVIDIA A10G", 70.0),
        ("NVIDIA L4", 121.0),
        ("NVIDIA L40S", 362.0),
        ("NVIDIA GeForce RTX 4090", 165.2),
    ],
)
def test_a_gpu_is_known_by_the_name_that_its_driver_gives(device: str, tflops: float) -> None:
    rate = rate_of(device)
    assert rate is not None
    assert rate.tflops == tflops


@pytest.mark.parametrize("device", ["cpu", "NVIDIA L40", "NVIDIA A10", "NVIDIA GeForce RTX 4090 Laptop GPU", "AMD Instinct MI300X", ""])
def test_a_device_that_is_not_in_the_table_has_no_rate(device: str) -> None:
    assert rate_of(device) is None


@pytest.mark.parametrize(
    ("server", "recomputes"),
    [
        ({"backend": "fsdp", "backend_config": {}}, True),
        ({"backend": "fsdp", "backend_config": {"trainer.gradient_checkpointing": False}}, False),
        ({"backend": "jax", "backend_config": {}}, False),
        ({"backend": "jax", "backend_config": {"gradient_checkpointing": True}}, True),
        ({"backend": "fsdp", "backend_config": None}, True),
    ],
)
def test_recomputation_is_the_servers_setting_or_its_default(server: dict[str, Any], recomputes: bool) -> None:
    assert gradient_checkpointing(server) is recomputes


def test_a_rate_of_the_users_goes_over_the_tables() -> None:
    server = {"backend": "fsdp", "backend_config": {}, "model_config": QWEN3_06B}
    found = roofline(server, "NVIDIA L4", [100], 32, ["native_1pass"], peak_tflops=50.0)
    assert found is not None
    assert found["peak_tflops"] == 50.0
    assert found["paths"]["native_1pass"]["floor_s"] == pytest.approx(found["paths"]["native_1pass"]["flops"] / 50e12)


def test_two_gpus_have_twice_the_rate_and_two_of_xlas_devices_do_not() -> None:
    server = {"backend": "fsdp", "model_config": QWEN3_06B, "gpus": [{}, {}], "placement": {"nodes": 1, "devices_per_node": 2}}
    found = roofline(server, "NVIDIA L4", [100], 32, ["native_1pass"], peak_tflops=50.0)
    assert found is not None
    assert (found["device"], found["peak_tflops"]) == ("2 x NVIDIA L4", 100.0)
    assert found["paths"]["native_1pass"]["floor_s"] == pytest.approx(found["paths"]["native_1pass"]["flops"] / 100e12)
    found = roofline(server | {"gpus": []}, "cpu", [100], 32, ["native_1pass"], peak_tflops=0.5)
    assert found is not None
    assert (found["device"], found["peak_tflops"]) == ("cpu", 0.5)


def test_without_a_rate_the_times_are_missing_and_the_saving_that_arithmetic_allows_is_not() -> None:
    server = {"backend": "jax", "backend_config": {}, "model_config": QWEN3_06B}
    found = roofline(server, "cpu", [100], 32, ["native_1pass"], peak_tflops=None)
    assert found is not None
    assert found["paths"]["native_1pass"]["floor_s"] is None
    assert 30.0 < found["saving_bound_pct"] < 36.0
    used = utilisation(found, "native_1pass", 2.0)
    assert used is not None
    assert (used["floor_s"], used["mfu_pct"]) == (None, None)


@pytest.mark.parametrize("config", [None, [], {}, QWEN3_06B | {"num_experts": 128}, QWEN3_06B | {"hidden_size": "wide"}])
def test_a_model_whose_shape_is_not_told_or_is_another_kind_has_no_count(config: Any) -> None:
    assert shape_of(config) is None
    assert roofline({"model_config": config}, "NVIDIA L4", [10], 32, ["native_1pass"], None) is None
