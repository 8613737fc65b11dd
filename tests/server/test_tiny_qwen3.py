"""The small model that the CPU image carries: the same bytes every time, a tokenizer that loses nothing, a template like Qwen's."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

SCRIPT = Path(__file__).parents[2] / "docker" / "server" / "make_tiny_qwen3.py"


def make(folder: Path, *flags: str) -> dict[str, bytes]:
    subprocess.run([sys.executable, SCRIPT, *flags, folder], check=True)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("model")
    make(out)
    return out


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def test_two_makes_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    assert make(tmp_path) == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_tokenizer_alone_is_the_models(folder: Path, tmp_path: Path) -> None:
    files = make(tmp_path, "--tokenizer-only")
    assert sorted(files) == ["chat_template.jinja", "tokenizer.json", "tokenizer_config.json"]
    assert all((folder / name).read_bytes() == content for name, content in files.items())


def test_it_says_that_its_weights_are_random(folder: Path) -> None:
    assert (folder / "weights.txt").read_text() == "random\n"


def test_every_byte_is_one_token_and_comes_back(tokenizer: Any) -> None:
    text = "".join(map(chr, range(1, 256))) + " 42 € 漢字 🙂\n\ta  b"
    ids = tokenizer.encode(text)
    assert len(ids) == len(text.encode())
    assert tokenizer.decode(ids) == text


def test_the_special_tokens_are_qwens(tokenizer: Any) -> None:
    assert tokenizer.convert_ids_to_tokens([0, 1, 2]) == ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    assert (tokenizer.pad_token_id, tokenizer.eos_token_id, len(tokenizer)) == (0, 2, 259)
    assert tokenizer.encode("a<|im_end|>") == [3 + ord("a"), 2]


def test_a_chat_is_rendered_in_qwens_format(tokenizer: Any) -> None:
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    rendered = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    assert rendered == "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(("thinking", "end"), [(True, "assistant\n"), (False, "assistant\n<think>\n\n</think>\n\n")])
def test_thinking_is_switched_as_qwen3_does(tokenizer: Any, thinking: bool, end: str) -> None:
    chat = [{"role": "user", "content": "Hi"}]
    rendered = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True, enable_thinking=thinking)
    assert rendered.endswith(end)


def test_the_weights_have_the_shapes_of_the_config(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    tensors = load_file(folder / "model.safetensors")
    hidden, heads = config["hidden_size"], config["num_attention_heads"] * config["head_dim"]
    assert len(tensors) == 3 + 11 * config["num_hidden_layers"]
    assert tensors["lm_head.weight"].shape == (config["vocab_size"], hidden)
    assert tensors["model.layers.1.self_attn.q_proj.weight"].shape == (heads, hidden)
    assert tensors["model.layers.0.mlp.down_proj.weight"].shape == (hidden, config["intermediate_size"])
    assert all(tensor.dtype == np.float32 and np.isfinite(tensor).all() for tensor in tensors.values())
