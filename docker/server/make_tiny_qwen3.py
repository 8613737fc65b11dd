"""Writes the small Qwen3 that the CPU image carries, from tiny_qwen3/ beside this file: the same bytes every time.

    python make_tiny_qwen3.py OUT                    the whole model folder
    python make_tiny_qwen3.py --tokenizer-only OUT   tokenizer and chat template alone, without numpy

It is there so that a machine without a GPU and without a download runs the real server, and learns something with it: it reads
short arithmetic stories (bench/tasks/arithmetic.py) and gets some of them right. train_tiny_qwen3.py made it.
"""

import argparse
import json
from pathlib import Path
from typing import Any

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
PAD_ID, EOS_ID = 0, 2
VOCAB = 512  # 3 specials, 256 bytes, and a merge each for the rest
HIDDEN, LAYERS, HEADS, KV_HEADS, HEAD_DIM, MLP = 128, 3, 4, 2, 32, 256
PARTS = Path(__file__).parent / "tiny_qwen3"  # merges.txt, model.safetensors in float16, and the model card
# Qwen3's: a word takes the space before it, each digit is a token.
WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

# Qwen's own format; enable_thinking is accepted, as Qwen3's template accepts it: false closes an empty thought first.
CHAT_TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}
{{- '<think>\\n\\n</think>\\n\\n' }}
{%- endif %}
{%- endif %}
"""


def byte_symbols() -> list[str]:
    """The printable stand-in of each of the 256 byte values, as every byte-level BPE tokenizer writes it."""
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    hidden = iter(range(256, 512))
    return [chr(byte if byte in printable else next(hidden)) for byte in range(256)]


def tokenizer_files(merges: list[tuple[str, str]]) -> dict[str, Any]:
    """File name -> content (text, or an object to be written as JSON) of the tokenizer: bytes, and the merges in their order."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": WORDS}, "behavior": "Isolated", "invert": False}
    symbols = [*SPECIALS, *byte_symbols(), *(left + right for left, right in merges)]
    return {
        "tokenizer.json": {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [{"id": i, "content": content, **flags} for i, content in enumerate(SPECIALS)],
            "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
            "post_processor": None,
            "decoder": byte_level,
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": False,
                "vocab": {content: i for i, content in enumerate(symbols)},
                "merges": [list(pair) for pair in merges],
            },
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": SPECIALS[EOS_ID],
            "pad_token": SPECIALS[PAD_ID],
            "model_max_length": 40960,
            "clean_up_tokenization_spaces": False,
        },
        "chat_template.jinja": CHAT_TEMPLATE,
    }


def config() -> dict[str, Any]:
    """The model's config.json, in the keys that transformers' Qwen3Config reads."""
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": VOCAB,
        "hidden_size": HIDDEN,
        "intermediate_size": MLP,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_DIM,
        "hidden_act": "silu",
        "max_position_embeddings": 40960,
        "rms_norm_eps": 1e-06,
        "rope_theta": 1000000.0,
        "attention_bias": False,
        "tie_word_embeddings": False,
        "bos_token_id": None,
        "eos_token_id": EOS_ID,
        "pad_token_id": PAD_ID,
        "dtype": "float32",
    }


def read_merges() -> list[tuple[str, str]]:
    """The committed merges, one a line: two symbols that become one."""
    pairs = [line.split(" ") for line in (PARTS / "merges.txt").read_text(encoding="utf-8").splitlines()]
    return [(left, right) for left, right in pairs]


def weights_bytes() -> bytes:
    """The committed weights as the server reads them: float32, in the safetensors format."""
    import numpy as np
    from safetensors.numpy import load_file, save

    return save({name: value.astype(np.float32) for name, value in load_file(PARTS / "model.safetensors").items()})


def write(folder: Path, files: dict[str, Any]) -> None:
    """Writes each file: bytes and text as they are, anything else as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, (bytes, str)) else json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder to write, made if missing")
    parser.add_argument("--tokenizer-only", action="store_true", help="write no weights")
    args = parser.parse_args()
    files = tokenizer_files(read_merges())
    if not args.tokenizer_only:
        files |= {
            "config.json": config(),
            "model.safetensors": weights_bytes(),
            "weights.txt": "arithmetic\n",
            "README.md": (PARTS / "README.md").read_bytes(),
        }
    write(args.out, files)


if __name__ == "__main__":
    main()
