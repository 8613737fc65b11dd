"""Which sizes of a model SkyRL's JAX backend cuts into equal parts, one for each device, and by which of its settings.

Read off `skyrl.tx.models` of version 0.4.0, where each weight names its mesh axes: `fsdp` is on hidden_size alone. SkyRL itself says so
when the engine has loaded JAX, as an error of its arrays.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from backend_config import UsageError
from placement import EXPERTS, JAX_DATA, JAX_MESH, JAX_TENSOR, divisors

HEADS = "shard_attention_heads"  # of the backend's settings; its default is true
MOST_NAMED = 10


def check_divides(config: Mapping[str, Any], model: Mapping[str, Any] | None, gpus: int | None) -> None:
    """Whether the JAX backend can cut a model with this config.json, None where it is not known, over so many devices.

    `gpus` is --gpus where it made the number of data-parallel devices, else None: what is said is then for it.

    Raises:
        UsageError: it cannot; names the numbers that can be.
    """
    text = (model or {}).get("text_config")
    sizes = {setting: list(_sizes(setting, text if isinstance(text, dict) else model or {}, config)) for setting in JAX_MESH}
    for setting, named in sizes.items():
        parts = config.get(setting, 1)
        wrong = next(((name, size) for name, size in named if size % parts), None)
        if wrong is None:
            continue
        works = divisors(math.gcd(*(size for _, size in named)))
        give, times = setting, 1
        if gpus is not None and setting == JAX_DATA:
            give, times = "--gpus (GPUS)", gpus // parts
        more = ", and larger ones" if len(works) > MOST_NAMED else ""
        numbers = ", ".join(str(number * times) for number in works[:MOST_NAMED])
        raise UsageError(
            f"this model's {wrong[0]}, {wrong[1]}, cannot be cut into {parts} equal parts ({setting}).\n"
            f"Give {give} a number that can be: {numbers}{more}."
        )


def _sizes(setting: str, model: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Names in config.json, and sizes, of what is cut by a setting."""
    experts = [name for name in ("num_experts", "n_routed_experts") if model.get(name)]
    heads = ["num_attention_heads", "num_key_value_heads"] if config.get(HEADS, True) is not False else []
    # Of Qwen3 with experts every layer is one of experts; DeepSeek's first layers are dense.
    width = ["moe_intermediate_size"] * bool(experts) + ["intermediate_size"] * ("num_experts" not in experts)
    names = {JAX_DATA: ["hidden_size"], EXPERTS: experts, JAX_TENSOR: [*heads, *width, "vocab_size"]}[setting]
    return ((name, model[name]) for name in names if type(model.get(name)) is int and model[name] > 0)
