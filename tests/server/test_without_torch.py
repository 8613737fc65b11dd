"""The stand-ins of the CPU image do what SkyRL's JAX backend does with the packages that they stand for."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "docker" / "server" / "without_torch"


def stand_in(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"standing_in_for_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_the_adapters_config_file_holds_what_skyrl_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peft = stand_in("peft", monkeypatch)
    peft.LoraConfig(base_model_name_or_path="Qwen/Qwen3-0.6B", r=32, lora_alpha=32.0).save_pretrained(tmp_path)
    assert json.loads((tmp_path / "adapter_config.json").read_text()) == {
        "base_model_name_or_path": "Qwen/Qwen3-0.6B",
        "inference_mode": False,
        "lora_alpha": 32.0,
        "peft_type": "LORA",
        "r": 32,
        "task_type": None,
    }


def test_what_needs_torch_after_all_is_told_that_it_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = stand_in("torch", monkeypatch)
    with pytest.raises(AttributeError, match=r"torch\.Tensor: torch is not installed here"):
        _ = torch.Tensor
