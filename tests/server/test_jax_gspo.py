"""The JAX GSPO loss against values by hand, a second implementation in numpy, numerical gradients, and SkyRL's own torch function."""

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.server

LOW, HIGH = 0.8, 1.2


@pytest.fixture
def jax_gspo() -> ModuleType:
    import jax_gspo as module

    return module


def loss_of(module: ModuleType, new: Any, mask: Any, old: Any, advantage: Any, low: float = LOW, high: float = HIGH) -> np.ndarray:
    """Per-token losses [T] of one sequence."""
    arrays = [np.asarray(values, np.float32) for values in (new, mask, old, advantage)]
    return np.asarray(module.gspo_loss(*arrays, SimpleNamespace(clip_low_threshold=low, clip_high_threshold=high)))


def gradient_of(module: ModuleType, new: Any, mask: Any, old: Any, advantage: Any, low: float = LOW, high: float = HIGH) -> np.ndarray:
    """Gradient [T] of the summed loss by the new logprobs."""
    import jax

    rest = [np.asarray(values, np.float32) for values in (mask, old, advantage)]
    config = SimpleNamespace(clip_low_threshold=low, clip_high_threshold=high)
    return np.asarray(jax.grad(lambda x: module.gspo_loss(x, *rest, config).sum())(np.asarray(new, np.float32)))


def reference(
    moving: np.ndarray, new: np.ndarray, mask: np.ndarray, old: np.ndarray, advantage: np.ndarray, low: float, high: float
) -> float:
    """The summed loss in float64, written from the paper's GSPO-token: s_t = sg[s] * p(moving) / sg[p(new)]. Equal to the loss where
    moving is new, and its numerical derivative by moving is the gradient."""
    kept = mask > 0
    log_s = (new - old)[kept].sum() / max(mask.sum(), 1.0) if kept.any() else 0.0
    total = 0.0
    for t in np.flatnonzero(kept):
        ratio = np.exp(min(moving[t] - new[t] + log_s, 10.0))
        total -= min(ratio * advantage[t], min(max(ratio, low), high) * advantage[t])
    return float(total)


def cases(count: int = 60) -> list[tuple[np.ndarray, ...]]:
    """Random sequences on both sides of the clip, with masks that start, end and break anywhere."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(count):
        length = int(rng.integers(1, 12))
        new = -rng.exponential(1.0, length)
        old = new - rng.normal(rng.normal(0.0, 0.3), 0.2, length)
        found.append((new, (rng.random(length) < 0.7).astype(float), old, np.full(length, rng.normal())))
    return found


def test_the_ratio_is_the_sequences_and_not_the_tokens(jax_gspo: ModuleType) -> None:
    # log ratios .6, -3, 3 have the mean .2: s = exp(.2) = 1.221403, clipped to 1.2 for a positive advantage
    losses = loss_of(jax_gspo, [0.3, -3.3, 2.7], [1, 1, 1], [-0.3, -0.3, -0.3], [1, 1, 1])
    assert losses == pytest.approx([-1.2, -1.2, -1.2], abs=1e-6)


def test_masked_tokens_count_neither_in_the_ratio_nor_in_the_loss(jax_gspo: ModuleType) -> None:
    # only .1 and .2 count: s = exp(.15) = 1.161834
    losses = loss_of(jax_gspo, [0.1, 0.2, 7, -9], [1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1])
    assert losses == pytest.approx([-1.161834, -1.161834, 0, 0], abs=1e-6)


def test_a_mask_with_a_hole_averages_over_what_is_left(jax_gspo: ModuleType) -> None:
    losses = loss_of(jax_gspo, [0.02, 0.5, 0.04], [1, 0, 1], [0, 0, 0], [1, 1, 1])
    assert losses == pytest.approx([-1.030455, 0, -1.030455], abs=1e-6)


def test_a_long_sequence_is_averaged_and_not_summed(jax_gspo: ModuleType) -> None:
    losses = loss_of(jax_gspo, np.full(300, 0.005), np.ones(300), np.zeros(300), np.ones(300))
    assert losses == pytest.approx(np.full(300, -1.0050125), abs=1e-6)


def test_on_policy_it_is_the_plain_policy_gradient(jax_gspo: ModuleType) -> None:
    new = [-0.5, -1.5, -2.5]
    assert gradient_of(jax_gspo, new, [0, 1, 1], new, [0.25, 0.25, 0.25]) == pytest.approx([0, -0.25, -0.25])


@pytest.mark.parametrize(
    ("shift", "advantage", "expected"),
    [
        (0.001, 1.0, 0.0),  # s = 1.0010005 > 1.0004: clipped
        (0.001, -1.0, 1.0010005),  # a bad sequence that became likelier is still pushed down
        (-0.001, -1.0, 0.0),  # s = 0.9990005 < 0.9997: clipped
        (-0.001, 1.0, -0.9990005),
    ],
)
def test_the_clip_is_one_sided(jax_gspo: ModuleType, shift: float, advantage: float, expected: float) -> None:
    old = np.array([-1.0, -2.0])
    gradient = gradient_of(jax_gspo, old + shift, [1, 1], old, [advantage, advantage], low=0.9997, high=1.0004)
    assert gradient == pytest.approx([expected, expected], abs=1e-5)


def test_what_stands_under_the_mask_cannot_leak(jax_gspo: ModuleType) -> None:
    clean = gradient_of(jax_gspo, [-1.0, -0.9, 0.0], [1, 1, 0], [-1.1, -1.0, 0.0], [1, 1, 0])
    for garbage in (np.nan, np.inf, -np.inf, 1e30):
        arguments = ([-1.0, -0.9, garbage], [1, 1, 0], [-1.1, -1.0, garbage], [1, 1, garbage])
        assert loss_of(jax_gspo, *arguments)[2] == 0.0
        assert gradient_of(jax_gspo, *arguments).tolist() == clean.tolist()


def test_a_sequence_without_a_token_to_train_on_is_zero(jax_gspo: ModuleType) -> None:
    arguments = ([-1.0, -2.0], [0, 0], [-3.0, -1.0], [1.0, 1.0])
    assert loss_of(jax_gspo, *arguments).tolist() == [0.0, 0.0]
    assert gradient_of(jax_gspo, *arguments).tolist() == [0.0, 0.0]


def test_a_ratio_beyond_exp_10_is_held_there_without_gradient(jax_gspo: ModuleType) -> None:
    arguments = ([0.0, 0.0], [1, 1], [-11.0, -11.0], [-1.0, -1.0])
    assert loss_of(jax_gspo, *arguments) == pytest.approx([np.exp(10.0)] * 2, rel=1e-5)
    assert gradient_of(jax_gspo, *arguments).tolist() == [0.0, 0.0]


def test_losses_and_gradients_agree_with_numpy_and_finite_differences(jax_gspo: ModuleType) -> None:
    step = 1e-6
    for new, mask, old, advantage in cases():
        rest = (new, mask, old, advantage, LOW, HIGH)
        numeric = np.zeros(len(new))
        for t in range(len(new)):
            bump = np.zeros(len(new))
            bump[t] = step
            numeric[t] = (reference(new + bump, *rest) - reference(new - bump, *rest)) / (2 * step)
        assert loss_of(jax_gspo, new, mask, old, advantage).sum() == pytest.approx(reference(new, *rest), abs=1e-4)
        assert gradient_of(jax_gspo, new, mask, old, advantage) == pytest.approx(numeric, abs=1e-4)


def upstream_gspo() -> Any:
    """SkyRL's own gspo_policy_loss, taken out of its module, which imports ray and more that the JAX server does without."""
    import torch

    parent = Path(str(importlib.util.find_spec("skyrl").origin)).parent / "backends" / "skyrl_train" / "utils"  # type: ignore[union-attr]
    wanted = {"ppo_utils.py": ["reduce_loss", "gspo_policy_loss"], "torch_utils.py": ["masked_mean"]}
    scope: dict[str, Any] = {"torch": torch, "apply_off_policy_correction": lambda loss, old, rollout, mask, config: (loss, mask, {})}
    for file, names in wanted.items():
        tree = ast.parse((parent / file).read_text())
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names]
        assert len(functions) == len(names)
        for function in functions:
            function.decorator_list = []
        future = ast.parse("from __future__ import annotations").body
        exec(compile(ast.Module(future + functions, []), file, "exec"), scope)
    return scope["gspo_policy_loss"]


def test_losses_and_gradients_are_those_of_skyrls_fsdp_backend(jax_gspo: ModuleType) -> None:
    import torch

    upstream = upstream_gspo()
    config = SimpleNamespace(loss_reduction="sequence_mean", eps_clip_low=1 - LOW, eps_clip_high=HIGH - 1, off_policy_correction=None)
    for new, mask, old, advantage in cases():
        logprobs = torch.tensor(new[None], dtype=torch.float32, requires_grad=True)
        others = [torch.tensor(values[None], dtype=torch.float32) for values in (old, advantage)]
        loss, _ = upstream(logprobs, *others, config, torch.tensor(mask[None], dtype=torch.float32))
        loss.backward()
        assert loss_of(jax_gspo, new, mask, old, advantage).sum() == pytest.approx(loss.item(), abs=1e-5)
        assert gradient_of(jax_gspo, new, mask, old, advantage) == pytest.approx(logprobs.grad[0].numpy(), abs=1e-5)


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """SkyRL's three tables of losses as version 0.4.0 has them, in stand-ins of its modules."""
    names = ["cross_entropy", "importance_sampling", "ppo", "cispo"]
    types, loss_fns = ModuleType("skyrl.tinker.types"), ModuleType("skyrl.tinker.loss_fns")
    types.LOSS_TYPES = {name: index for index, name in enumerate(names)}  # type: ignore[attr-defined]
    loss_fns.LOSS_FUNCTION_MAP = {name: object() for name in names}  # type: ignore[attr-defined]
    loss_fns.LOSS_FUNCTIONS = list(loss_fns.LOSS_FUNCTION_MAP.values())  # type: ignore[attr-defined]
    for name in ("skyrl", "skyrl.tinker"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "skyrl.tinker.types", types)
    monkeypatch.setitem(sys.modules, "skyrl.tinker.loss_fns", loss_fns)
    return SimpleNamespace(types=types, loss_fns=loss_fns)


def test_installing_numbers_gspo_after_the_others_in_all_three_tables(jax_gspo: ModuleType, tables: SimpleNamespace) -> None:
    jax_gspo.install()
    assert tables.types.LOSS_TYPES["gspo"] == 4
    assert tables.loss_fns.LOSS_FUNCTION_MAP["gspo"] is jax_gspo.gspo_loss
    assert tables.loss_fns.LOSS_FUNCTIONS[4:] == [jax_gspo.gspo_loss]


def test_installing_twice_changes_nothing(jax_gspo: ModuleType, tables: SimpleNamespace) -> None:
    jax_gspo.install()
    jax_gspo.install()
    assert len(tables.loss_fns.LOSS_FUNCTIONS) == len(tables.types.LOSS_TYPES) == 5


def test_a_missing_table_is_named(jax_gspo: ModuleType, tables: SimpleNamespace) -> None:
    del tables.loss_fns.LOSS_FUNCTIONS
    with pytest.raises(RuntimeError, match=r"LOSS_FUNCTIONS"):
        jax_gspo.install()


def test_a_gspo_of_skyrls_own_is_not_replaced(jax_gspo: ModuleType, tables: SimpleNamespace) -> None:
    tables.types.LOSS_TYPES["gspo"] = 4
    with pytest.raises(RuntimeError, match="of its own"):
        jax_gspo.install()


def test_losses_that_are_numbered_otherwise_are_refused(jax_gspo: ModuleType, tables: SimpleNamespace) -> None:
    tables.types.LOSS_TYPES["cispo"] = 9
    with pytest.raises(RuntimeError, match="not numbered from 0"):
        jax_gspo.install()
