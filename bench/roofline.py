"""The arithmetic of a LoRA step from the model's shape, and the least time that it takes at a GPU's rate.

Counted: matrix products, two operations a multiply-add; each sequence's own tokens, without padding. Not counted: norms, softmax, rotary
embedding, the optimizer. A product's backward costs one product for the gradient of its input and one for that of its weights; the base
weights are frozen and need only the first, the adapter's need both, and attention's two products have two inputs each. Recomputation
runs the blocks, not the head, once more (https://arxiv.org/abs/2104.04473, section 5.1, with frozen weights).
"""

from collections.abc import Sequence as Sequences
from dataclasses import asdict, dataclass, replace
from typing import Any

from bench import path_names
from bench.environment import device_count
from bench.gpu_rates import Rate, rate_of


@dataclass(frozen=True)
class Shape:
    """A Qwen3-like transformer's dimensions, by their names in config.json. Attention and MLP of every layer are the same."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    vocab_size: int

    @property
    def block_products(self) -> tuple[tuple[int, int], ...]:
        """(inputs, outputs) of each weight matrix of a block: query, key, value, output, gate, up, down."""
        queries, keys = self.num_attention_heads * self.head_dim, self.num_key_value_heads * self.head_dim
        hidden, inner = self.hidden_size, self.intermediate_size
        return ((hidden, queries), (hidden, keys), (hidden, keys), (queries, hidden), (hidden, inner), (hidden, inner), (inner, hidden))

    @property
    def parameters(self) -> int:
        """Weights that take part in products: blocks and head, without norms; a tied embedding counts once, as the head."""
        block = sum(inputs * outputs for inputs, outputs in self.block_products)
        return self.num_hidden_layers * block + self.hidden_size * self.vocab_size


@dataclass(frozen=True)
class StepFlops:
    """Operations of one pass over the batch."""

    blocks: float
    attention: float
    head: float
    adapter: float

    @property
    def forward(self) -> float:
        return self.blocks + self.attention + self.head + self.adapter

    @property
    def backward(self) -> float:
        return self.blocks + 2 * self.attention + self.head + 2 * self.adapter

    @property
    def recomputation(self) -> float:
        return self.blocks + self.attention + self.adapter

    def of_path(self, name: str, gradient_checkpointing: bool) -> float:
        """A step of the path of that name: a gradient, and for the two-pass paths a forward before it."""
        gradient = self.forward + self.backward + (self.recomputation if gradient_checkpointing else 0.0)
        return gradient + (self.forward if name in (path_names.TWO_PASS, path_names.SDK_CUSTOM) else 0.0)


def shape_of(config: Any) -> Shape | None:
    """The shape in a model's config, or None where it does not say or is a mixture of experts, whose arithmetic is another."""
    if not isinstance(config, dict) or any("expert" in key for key in config):
        return None
    try:
        heads, hidden = int(config["num_attention_heads"]), int(config["hidden_size"])
        return Shape(
            hidden_size=hidden,
            intermediate_size=int(config["intermediate_size"]),
            num_hidden_layers=int(config["num_hidden_layers"]),
            num_attention_heads=heads,
            num_key_value_heads=int(config.get("num_key_value_heads") or heads),
            head_dim=int(config.get("head_dim") or hidden // heads),
            vocab_size=int(config["vocab_size"]),
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None


def step_flops(shape: Shape, lengths_N: Sequences[int], lora_rank: int) -> StepFlops:
    """The forward's operations over sequences of these numbers of target tokens, attention causal, an adapter on each block matrix."""
    tokens = sum(lengths_N)
    layers = shape.num_hidden_layers
    block = sum(inputs * outputs for inputs, outputs in shape.block_products)
    adapter = sum(lora_rank * (inputs + outputs) for inputs, outputs in shape.block_products)
    # Query times key and weight times value, each over a token's own position and those before it.
    pairs = sum(length * (length + 1) // 2 for length in lengths_N)
    return StepFlops(
        blocks=2.0 * tokens * layers * block,
        attention=2.0 * 2.0 * pairs * layers * shape.num_attention_heads * shape.head_dim,
        head=2.0 * tokens * shape.hidden_size * shape.vocab_size,
        adapter=2.0 * tokens * layers * adapter,
    )


def gradient_checkpointing(server: dict[str, Any]) -> bool:
    """Whether the server recomputes activations: its setting, else SkyRL 0.4.0's default (fsdp and megatron do, jax does not)."""
    jax = server.get("backend") == "jax"
    config = server.get("backend_config")
    told = config.get("gradient_checkpointing" if jax else "trainer.gradient_checkpointing") if isinstance(config, dict) else None
    return told if isinstance(told, bool) else not jax


def roofline(
    server: dict[str, Any] | None, device: str, lengths_N: Sequences[int], lora_rank: int, paths: Sequences[str], peak_tflops: float | None
) -> dict[str, Any] | None:
    """The result file's `roofline`; None where the model's shape is not known. `peak_tflops` goes over the table's rate for the device.

    Without a rate, the times are None and the saving that the arithmetic alone allows still stands. Several GPUs have the rate of all of
    them together; XLA's devices of one processor are that processor.
    """
    shape = shape_of((server or {}).get("model_config"))
    if server is None or shape is None:
        return None
    rate = Rate(peak_tflops, "given with --peak-tflops") if peak_tflops is not None else rate_of(device)
    count = (device_count(server) or 1) if server.get("gpus") else 1
    if count > 1:
        device, rate = f"{count} x {device}", replace(rate, tflops=count * rate.tflops) if rate else None
    flops = step_flops(shape, lengths_N, lora_rank)
    recomputed = gradient_checkpointing(server)
    by_path = {name: flops.of_path(name, recomputed) for name in paths}
    native, two_pass = (flops.of_path(name, recomputed) for name in (path_names.NATIVE, path_names.TWO_PASS))
    return {
        "device": device,
        "peak_tflops": rate.tflops if rate else None,
        "peak_source": rate.source if rate else None,
        "gradient_checkpointing": recomputed,
        "lora_rank": lora_rank,
        "shape": asdict(shape),
        "parameters": shape.parameters,
        "forward_flops": flops.forward,
        "paths": {name: {"flops": count, "floor_s": count / (rate.tflops * 1e12) if rate else None} for name, count in by_path.items()},
        "saving_bound_pct": 100.0 * (1.0 - native / two_pass),
    }


def utilisation(found: dict[str, Any] | None, name: str, step_s: float) -> dict[str, float | None] | None:
    """A path's operations, its floor, and the share of the GPU's rate that its step reaches (model-FLOPs utilisation, in percent)."""
    entry = found["paths"].get(name) if found else None
    if entry is None:
        return None
    floor_s = entry["floor_s"]
    return {"flops": entry["flops"], "floor_s": floor_s, "mfu_pct": None if floor_s is None else 100.0 * floor_s / step_s}
