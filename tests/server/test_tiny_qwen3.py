"""The small model that the CPU image carries: the same bytes every time, a tokenizer that loses nothing, a template like Qwen's."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import make_tiny_qwen3
import numpy as np
import pytest
from safetensors.numpy import load_file

from bench.prompts import questions
from bench.tasks import arithmetic

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


def test_it_says_what_its_weights_were_trained_on(folder: Path) -> None:
    assert (folder / "weights.txt").read_text() == "arithmetic\n"


@pytest.mark.parametrize("text", ["".join(map(chr, range(1, 256))), " 42 € 漢字 🙂\n\ta  b", "How many apples?\r\n\n  Ünïts: 1,250.75 kg"])
def test_any_text_comes_back(tokenizer: Any, text: str) -> None:
    ids = tokenizer.encode(text)
    assert max(ids) < 512
    assert tokenizer.decode(ids) == text


def test_words_of_stories_are_tokens_and_so_is_every_digit(tokenizer: Any) -> None:
    ids = tokenizer.encode("Tom has 47 apples.\n#### 1250")
    assert [tokenizer.decode([token]) for token in ids] == ["Tom", " has", " ", "4", "7", " apples", ".", "\n", "##", "##", " ", *"1250"]


def test_the_special_tokens_are_qwens(tokenizer: Any) -> None:
    assert tokenizer.convert_ids_to_tokens([0, 1, 2]) == ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    assert (tokenizer.pad_token_id, tokenizer.eos_token_id, len(tokenizer)) == (0, 2, 512)
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
    assert tensors["model.layers.2.self_attn.q_proj.weight"].shape == (heads, hidden)
    assert tensors["model.layers.0.mlp.down_proj.weight"].shape == (hidden, config["intermediate_size"])
    assert all(tensor.dtype == np.float32 and np.isfinite(tensor).all() for tensor in tensors.values())


def answers(folder: Path, tokenizer: Any, asked: list[str], max_tokens: int) -> list[list[int]]:
    """One answer a question, sampled at temperature 1 by transformers' own Qwen3: the tokens up to the end token, included."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder)
    chats = [[{"role": "user", "content": question}] for question in asked]
    prompts = tokenizer.apply_chat_template(chats, add_generation_prompt=True, enable_thinking=False, return_dict=True)["input_ids"]
    width = max(map(len, prompts))
    ids = torch.tensor([[tokenizer.pad_token_id] * (width - len(prompt)) + prompt for prompt in prompts])
    mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    torch.manual_seed(0)
    sampled = model.generate(ids, attention_mask=mask, do_sample=True, temperature=1.0, top_k=0, top_p=1.0, max_new_tokens=max_tokens)
    rows = sampled[:, width:].tolist()
    return [row[: row.index(tokenizer.eos_token_id) + 1] if tokenizer.eos_token_id in row else row for row in rows]


def test_it_answers_some_and_not_all_of_the_held_out_problems_and_ends_by_itself(folder: Path, tokenizer: Any) -> None:
    problems = arithmetic.test_problems(400)
    found = answers(folder, tokenizer, [problem.question for problem in problems], 24)
    texts = [tokenizer.decode(answer, skip_special_tokens=True) for answer in found]
    right = sum(text.endswith(f"#### {problem.answer}") for text, problem in zip(texts, problems, strict=True))
    assert 0.25 <= right / len(problems) <= 0.42
    assert sum("#### " in text for text in texts) / len(texts) >= 0.85
    assert sum(answer[-1] == tokenizer.eos_token_id for answer in found) / len(found) >= 0.97


def test_its_answers_to_the_benchmarks_prompts_have_lengths_worth_timing(folder: Path, tokenizer: Any) -> None:
    lengths = [len(answer) for answer in answers(folder, tokenizer, questions("builtin", 16, 0) * 4, 96)]
    assert 50 <= sum(lengths) / len(lengths) <= 80
    assert len(set(lengths)) >= 16
    assert sum(length < 8 for length in lengths) <= 3


def test_the_committed_weights_are_of_the_model_that_the_script_trains() -> None:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    model = Qwen3ForCausalLM(Qwen3Config(**make_tiny_qwen3.config()))
    committed = load_file(make_tiny_qwen3.PARTS / "model.safetensors")
    wanted = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    assert {name: value.shape for name, value in committed.items()} == wanted
    assert all(value.dtype == np.float16 for value in committed.values())


def test_the_committed_merges_are_those_that_the_script_finds() -> None:
    import train_tiny_qwen3

    assert make_tiny_qwen3.read_merges() == train_tiny_qwen3.merges()
