"""How a model is spread over GPUs, and which combinations are refused before anything starts."""

import subprocess
import sys
from typing import Any

import pytest
from backend_config import PRESETS, UsageError, load_preset
from placement import Placement, check_there, placement_of, settings
from serve import prepare_environment

POLICY, ENGINE = "trainer.placement.policy_num_", "generator.inference_engine."
CRITIC = "trainer.placement.critic_num_"


def spread(role: str, gpus: int | None, nodes: int | None, config: dict[str, Any]) -> tuple[dict[str, Any], Placement]:
    found = settings("fsdp", role, gpus, nodes, config)
    return found, placement_of("fsdp", role, config | found)


def test_one_gpu_is_skyrls_own_default_and_sets_nothing() -> None:
    for name in (path.stem for path in PRESETS.glob("*.json") if not path.stem.startswith("cpu")):
        assert spread("combined", 1, 1, load_preset(name)) == ({}, Placement(1, 1, 1))
    assert spread("combined", None, None, {}) == ({}, Placement(1, 1, 1))


def test_trainer_and_sampler_share_the_gpus_one_engine_each() -> None:
    found, placement = spread("combined", 2, None, {})
    assert found == {f"{POLICY}gpus_per_node": 2, f"{CRITIC}gpus_per_node": 2, f"{ENGINE}num_engines": 2}
    assert placement == Placement(1, 2, 2) and placement.devices == 2


def test_engines_of_two_gpus_are_half_as_many() -> None:
    found, placement = spread("combined", 4, 2, {f"{ENGINE}tensor_parallel_size": 2})
    assert found[f"{ENGINE}num_engines"] == 4
    assert (found[f"{POLICY}nodes"], found[f"{POLICY}gpus_per_node"]) == (2, 4)
    assert placement == Placement(2, 4, 8) and placement.devices == 8


def test_a_trainer_without_a_sampler_has_no_engines() -> None:
    found, placement = spread("trainer", 2, 1, {})
    assert found == {f"{POLICY}gpus_per_node": 2, f"{CRITIC}gpus_per_node": 2}
    assert placement == Placement(1, 2, 2)


def test_the_callers_own_settings_go_before_the_flag_and_the_rest_follows_them() -> None:
    found, placement = spread("combined", 8, 1, {f"{POLICY}gpus_per_node": 2})
    assert found == {f"{CRITIC}gpus_per_node": 2, f"{ENGINE}num_engines": 2}
    assert placement == Placement(1, 2, 2)


def test_sequence_parallel_gpus_take_parts_of_the_same_sequences() -> None:
    assert spread("trainer", 4, 1, {"trainer.policy.sequence_parallel_size": 2})[1] == Placement(1, 4, 2)


def test_a_trainer_beside_its_sampler_needs_gpus_for_both() -> None:
    apart = {"trainer.placement.colocate_all": False, f"{ENGINE}num_engines": 1, f"{ENGINE}tensor_parallel_size": 2}
    placement = spread("combined", 2, 1, apart)[1]
    assert placement == Placement(1, 2, 2, sampling_apart=2)
    check_there(placement, lambda: 4, "")
    with pytest.raises(UsageError, match="these settings need 4 GPUs, and this server sees 3"):
        check_there(placement, lambda: 3, "")


@pytest.mark.parametrize(
    ("gpus", "config", "says"),
    [
        (2, {f"{ENGINE}num_engines": 1}, "What works with 2 GPUs (generator.inference_engine.num_engines, generator.inference_engine."),
        (2, {f"{ENGINE}num_engines": 1}, "tensor_parallel_size): 2 engines of 1, 1 engine of 2."),
        (4, {f"{ENGINE}tensor_parallel_size": 3}, "4 GPUs cannot be shared out to sampling engines of 3 GPUs."),
        (1, {f"{ENGINE}tensor_parallel_size": 2}, "the trainer has 1 x 1 = 1 GPUs and the sampling engines 2;"),
        (4, {"trainer.policy.sequence_parallel_size": 3}, "Give a size that divides them: 1, 2, 4."),
        (4, {"trainer.policy.fsdp_config.fsdp_size": 3}, "Give a size that divides them: 1, 2, 4; or -1, all."),
        (1, {f"{POLICY}gpus_per_node": "two"}, "trainer.placement.policy_num_gpus_per_node is 'two'.\nGive a whole number from 1."),
        (1, {f"{POLICY}gpus_per_node": 0}, "trainer.placement.policy_num_gpus_per_node is 0.\n"),
    ],
)
def test_a_combination_that_cannot_work_is_refused_with_those_that_do(gpus: int, config: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as raised:
        spread("combined", gpus, 1, config)
    assert says in str(raised.value)
    assert str(raised.value).count("\n") == 1


def test_an_engine_stays_within_a_node() -> None:
    with pytest.raises(UsageError, match="a sampling engine of 4 GPUs does not fit into a node's 2") as raised:
        spread("combined", 2, 2, {f"{ENGINE}tensor_parallel_size": 4})
    assert str(raised.value).endswith("4 engines of 1, 2 engines of 2.")


def test_jax_shares_its_devices_between_data_and_tensor_parallel() -> None:
    assert settings("jax", "combined", 4, None, {"tensor_parallel_size": 2}) == {"fully_sharded_data_parallel_size": 2}
    assert placement_of("jax", "combined", {"tensor_parallel_size": 2, "fully_sharded_data_parallel_size": 2}) == Placement(1, 4, 2)
    assert settings("jax", "combined", None, None, {}) == settings("jax", "combined", 1, 1, {}) == {}
    with pytest.raises(UsageError, match="--gpus 3 is no multiple"):
        settings("jax", "combined", 3, None, {"tensor_parallel_size": 2})


def test_more_gpus_than_there_are_need_a_cluster_and_so_do_more_nodes() -> None:
    check_there(Placement(1, 2, 2), lambda: 2, "")
    check_there(Placement(1, 8, 8), lambda: 1, "10.0.0.1:6379")
    check_there(Placement(1, 1, 1), lambda: 0, "")
    with pytest.raises(UsageError, match="these settings need 4 GPUs, and this server sees 2"):
        check_there(Placement(1, 4, 4), lambda: 2, "")
    with pytest.raises(UsageError, match="2 nodes need a Ray cluster that is running"):
        check_there(Placement(2, 1, 2), lambda: 8, "")


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--backend", "jax", "--nodes", "2"], "error: --nodes 2 needs --backend fsdp."),
        (["--backend", "jax", "--ray-address", "auto"], "error: --ray-address needs --backend fsdp"),
        (["--gpus", "0"], "error: argument --gpus: '0' is none: give a whole number from 1, or all.\n"),
        (["--gpus", "lots"], "error: argument --gpus: 'lots' is none: give a whole number from 1, or all.\n"),
        (["--nodes", "-1"], "error: argument --nodes: '-1' is none: give a whole number from 1.\n"),
    ],
)
def test_wrong_flags_are_exit_code_2(flags: list[str], says: str) -> None:
    command = [sys.executable, PRESETS.parent / "serve.py", "--model", "no/where", *flags]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith(says) and ended.stderr.count("\n") <= 2


def test_xla_makes_as_many_devices_as_the_settings_take_unless_the_caller_says_so() -> None:
    environment: dict[str, str] = {"XLA_FLAGS": "--xla_dump_to=/tmp/x"}
    prepare_environment("jax", environment, devices=2)
    assert environment == {"XLA_FLAGS": "--xla_dump_to=/tmp/x --xla_force_host_platform_device_count=2"}
    own = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    prepare_environment("jax", own, devices=2)
    assert own == {"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    cluster: dict[str, str] = {}
    prepare_environment("fsdp", cluster, devices=4, ray_address="10.0.0.1:6379")
    assert cluster["RAY_ADDRESS"] == "10.0.0.1:6379" and "XLA_FLAGS" not in cluster


@pytest.mark.server
def test_the_settings_are_those_that_skyrls_own_config_takes_and_its_checks_pass() -> None:
    pytest.importorskip("ray")
    from skyrl.train.config import SkyRLTrainConfig
    from skyrl.train.utils.utils import validate_inference_engine_cfg

    for gpus, nodes, own in ((2, 1, {}), (4, 2, {f"{ENGINE}tensor_parallel_size": 2}), (8, 1, {f"{ENGINE}tensor_parallel_size": 8})):
        found, placement = spread("combined", gpus, nodes, own)
        config = SkyRLTrainConfig.from_cli_overrides(own | found)
        validate_inference_engine_cfg(config)
        place, engines = config.trainer.placement, config.generator.inference_engine
        assert place.policy_num_nodes * place.policy_num_gpus_per_node == engines.num_engines * engines.tensor_parallel_size
        assert placement.devices == gpus * nodes
