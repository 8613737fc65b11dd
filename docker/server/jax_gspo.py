"""GSPO for SkyRL's JAX backend, which has none: the same loss as its FSDP backend, on the same inputs.

The sequence's ratio is s = exp(mean over the masked tokens of new - old logprob); the loss of each masked token is
-min(s*A, clip(s, low, high)*A), and the gradient flows through the new logprob alone, with s held constant.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

NAME = "gspo"
MAX_LOG_RATIO = 10.0  # upstream's guard against overflow in exp


def _clip(x: jax.Array, low: jax.Array, high: jax.Array) -> jax.Array:
    """Clips with gradient 1 on the bounds, as torch.clamp does; jnp.clip halves it there."""
    return jnp.where(x < low, low, jnp.where(x > high, high, x))


def gspo_loss(
    target_logprobs: jax.Array,
    loss_mask: jax.Array,
    sampling_logprobs: jax.Array,
    advantages: jax.Array,
    loss_fn_config: Any,
) -> jax.Array:
    """One sequence's loss per token.

    Arrays are [T] in nats, the mask 0 or 1; loss_fn_config is SkyRL's LossFnConfig, its clip thresholds are ratios around 1.
    Returns [T], exactly 0 with gradient 0 where the mask is 0, whatever stands there (NaN and infinity too).
    """
    used = loss_mask != 0.0
    zero = jnp.zeros_like(target_logprobs)
    new = jnp.where(used, target_logprobs, zero)
    old = jnp.where(used, sampling_logprobs, zero)
    advantage = jnp.where(used, advantages, zero)
    mask = jnp.where(used, loss_mask, zero)

    log_ratio = jnp.sum((new - old) * mask) / jnp.maximum(mask.sum(), 1.0)
    # Worth log_ratio, with the gradient of the token's own logprob.
    log_weight = new - lax.stop_gradient(new) + lax.stop_gradient(log_ratio)
    ratio = jnp.exp(_clip(log_weight, -jnp.inf, MAX_LOG_RATIO))
    clipped = _clip(ratio, loss_fn_config.clip_low_threshold, loss_fn_config.clip_high_threshold)
    return -jnp.minimum(ratio * advantage, clipped * advantage) * mask


def install() -> None:
    """Adds gspo_loss to the JAX backend's three tables of losses; again is harmless.

    Call it before skyrl.backends.jax is imported, in the engine's process. Raises RuntimeError where SkyRL is not as expected: a
    table is missing, or holds another gspo or losses that this module does not know how to number.
    """
    try:
        from skyrl.tinker.loss_fns import LOSS_FUNCTION_MAP, LOSS_FUNCTIONS
        from skyrl.tinker.types import LOSS_TYPES
    except ImportError as error:
        raise RuntimeError(f"SkyRL's table of losses is not where version 0.4.0 has it: {error}.") from error
    if LOSS_FUNCTION_MAP.get(NAME) is gspo_loss:
        return
    if NAME in LOSS_TYPES or NAME in LOSS_FUNCTION_MAP:
        raise RuntimeError("This SkyRL's JAX backend brings a gspo of its own, which version 0.4.0 does not.")
    if sorted(LOSS_TYPES.values()) != list(range(len(LOSS_FUNCTIONS))):
        raise RuntimeError(f"SkyRL's losses are not numbered from 0 as in version 0.4.0: {LOSS_TYPES}.")
    LOSS_TYPES[NAME] = len(LOSS_FUNCTIONS)
    LOSS_FUNCTION_MAP[NAME] = gspo_loss
    LOSS_FUNCTIONS.append(gspo_loss)
