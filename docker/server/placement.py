"""How a model is spread over GPUs: the settings that follow from --gpus and --nodes, and which of SkyRL's combinations can work.

SkyRL itself says so only when a client makes a model, minutes after the start, or waits for GPUs that will never come.
"""

import math
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from backend_config import UsageError

NODES, GPUS = "trainer.placement.policy_num_nodes", "trainer.placement.policy_num_gpus_per_node"
CRITIC = {NODES: "trainer.placement.critic_num_nodes", GPUS: "trainer.placement.critic_num_gpus_per_node"}
COLOCATE, SEQUENCE, SHARDS = (
    "trainer.placement.colocate_all",
    "trainer.policy.sequence_parallel_size",
    "trainer.policy.fsdp_config.fsdp_size",
)
ENGINE = "generator.inference_engine."
ENGINES, TENSOR = f"{ENGINE}num_engines", f"{ENGINE}tensor_parallel_size"
PER_ENGINE = (TENSOR, f"{ENGINE}pipeline_parallel_size", f"{ENGINE}data_parallel_size")
JAX_DATA = "fully_sharded_data_parallel_size"
EXPERTS, JAX_TENSOR = "expert_parallel_size", "tensor_parallel_size"
JAX_MESH = (JAX_DATA, EXPERTS, JAX_TENSOR)


@dataclass(frozen=True)
class Placement:
    """Where a model trains: on GPUs, or a JAX server's devices, which on a CPU are XLA's. A training batch is padded to a multiple of
    `data_parallel` sequences and cut into as many equal parts, in order. `sampling_apart`: GPUs beside these that only sample.
    """

    nodes: int
    devices_per_node: int
    data_parallel: int
    sampling_apart: int = 0

    @property
    def devices(self) -> int:
        return self.nodes * self.devices_per_node


def settings(backend: str, role: str, gpus: int | None, nodes: int | None, config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that spread a model over `gpus` GPUs of each of `nodes` nodes, without those that `config` has itself.

    Raises:
        UsageError: `gpus` cannot be shared out as the other settings want; names the combinations that can.
    """
    if backend == "jax":
        if (nodes or 1) > 1:
            raise UsageError(f"--nodes {nodes} needs --backend fsdp.\nThe JAX backend takes several devices of one machine: --gpus.")
        if gpus is None or JAX_DATA in config:
            return {}
        others = math.prod(_whole(config, name) for name in JAX_MESH[1:])
        if gpus % others:
            raise UsageError(f"--gpus {gpus} is no multiple of tensor_parallel_size times expert_parallel_size, {others}.")
        return {JAX_DATA: gpus // others} if gpus > 1 else {}
    asked = {name: value for name, value in ((NODES, nodes), (GPUS, gpus)) if value is not None and name not in config}
    policy = {name: int(asked.get(name) or _whole(config, name)) for name in (NODES, GPUS)}
    found = {name: value for name, value in asked.items() if value > 1}
    # A critic, if a client makes one, has to be as large.
    found |= {CRITIC[name]: value for name, value in policy.items() if value > 1 and CRITIC[name] not in config}
    total = math.prod(policy.values())
    if total > 1 and ENGINES not in config and (role == "inference" or _is_colocated(role, config)):
        per_engine = math.prod(_whole(config, name) for name in PER_ENGINE)
        if total % per_engine:
            raise UsageError(f"{total} GPUs cannot be shared out to sampling engines of {per_engine} GPUs.\n{_pairs(*policy.values())}")
        found[ENGINES] = total // per_engine
    return found


def placement_of(backend: str, role: str, config: Mapping[str, Any]) -> Placement:
    """Where a server with these settings puts its model.

    Raises:
        UsageError: SkyRL would refuse the combination, or wait for ever; names those that work.
    """
    if backend == "jax":
        sizes = [_whole(config, name) for name in JAX_MESH]
        return Placement(1, math.prod(sizes), sizes[0])
    nodes, per_node = _whole(config, NODES), _whole(config, GPUS)
    total, engine = nodes * per_node, math.prod(_whole(config, name) for name in PER_ENGINE)
    rollout = _whole(config, ENGINES) * engine
    if role == "inference":
        return Placement(nodes, math.ceil(rollout / nodes), 1)
    if _is_colocated(role, config):
        if rollout != total:
            raise UsageError(
                f"the trainer has {nodes} x {per_node} = {total} GPUs and the sampling engines {rollout}; where they share GPUs "
                f"({COLOCATE}) these must be the same.\n{_pairs(nodes, per_node)}"
            )
        if math.prod(_whole(config, name) for name in PER_ENGINE[:2]) > per_node:
            raise UsageError(f"a sampling engine of {engine} GPUs does not fit into a node's {per_node}.\n{_pairs(nodes, per_node)}")
    sequence, shards = _whole(config, SEQUENCE), config.get(SHARDS, -1)
    if total % sequence:
        works = ", ".join(str(size) for size in divisors(total))
        raise UsageError(f"{SEQUENCE} is {sequence}, and the trainer has {total} GPUs.\nGive a size that divides them: {works}.")
    if isinstance(shards, int) and 0 < shards < total and total % shards:
        works = ", ".join(str(size) for size in divisors(total))
        raise UsageError(f"{SHARDS} is {shards}, and the trainer has {total} GPUs.\nGive a size that divides them: {works}; or -1, all.")
    if role == "combined" and not _is_colocated(role, config):
        return Placement(nodes, per_node, total // sequence, sampling_apart=rollout)
    return Placement(nodes, per_node, total // sequence)


def check_there(placement: Placement, in_sight: Callable[[], int], ray_address: str) -> None:
    """Whether the GPUs `in_sight`, or a Ray cluster's, can be enough. One GPU is not asked for: its absence shows by itself.

    Raises:
        UsageError: more GPUs than there are, or nodes without a cluster.
    """
    if placement.nodes > 1 and not ray_address:
        raise UsageError(
            f"{placement.nodes} nodes need a Ray cluster that is running: give its address with --ray-address (RAY_ADDRESS).\n"
            "`ray start --head` begins one and says its address; `ray start --address` on each other node joins it."
        )
    needed = placement.devices + placement.sampling_apart
    if ray_address or needed == 1:
        return
    there = in_sight()
    if needed > there:
        raise UsageError(
            f"these settings need {needed} GPUs, and this server sees {there}.\n"
            "Give --gpus (GPUS) as many as there are; `make doctor` says what Docker lacks to give a container more."
        )


def _is_colocated(role: str, config: Mapping[str, Any]) -> bool:
    return role == "combined" and config.get(COLOCATE, True) is not False


def _pairs(nodes: int, per_node: int) -> str:
    """Engines that use all GPUs, each within a node, in words."""
    total = nodes * per_node
    sizes = [(total // size, size) for size in divisors(total) if size <= per_node]
    works = ", ".join(f"{engines} engine{'s' * (engines > 1)} of {size}" for engines, size in sizes)
    return f"What works with {total} GPUs ({ENGINES}, {TENSOR}): {works}."


def divisors(total: int) -> list[int]:
    """The whole numbers that divide `total`, rising."""
    return [size for size in range(1, total + 1) if total % size == 0]


def _whole(config: Mapping[str, Any], name: str) -> int:
    value = config.get(name, 1)
    if type(value) is not int or value < 1:
        raise UsageError(f"{name} is {reprlib.repr(value)}.\nGive a whole number from 1.")
    return value
