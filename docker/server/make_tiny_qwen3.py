"""Writes the small Qwen3 that the CPU image carries: random weights, its own byte-level tokenizer, the same bytes every time.

    python make_tiny_qwen3.py OUT                    the whole model folder
    python make_tiny_qwen3.py --tokenizer-only OUT   tokenizer and chat template alone, without numpy

It answers with noise: it is there so that a machine without a GPU and without a download runs the real server.
"""

import argparse
import json
import struct
from pathlib import Path
from typing import Any

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
PAD_ID, EOS_ID = 0, 2
VOCAB = 320  # 3 specials and 256 bytes; the rest pads the matrices and is never sampled
HIDDEN, LAYERS, HEADS, KV_HEADS, HEAD_DIM, MLP = 64, 2, 4, 2, 16, 192
END_LOGIT = 0.28  # column 0 of the head at the end token: answers end by themselves after some 60 tokens
UNUSED_LOGIT = -10.0

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


def tokenizer_files() -> dict[str, Any]:
    """File name -> content (text, or an object to be written as JSON) of the tokenizer."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    symbols = {symbol: len(SPECIALS) + byte for byte, symbol in enumerate(byte_symbols())}
    return {
        "tokenizer.json": {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [{"id": i, "content": content, **flags} for i, content in enumerate(SPECIALS)],
            "normalizer": None,
            "pre_tokenizer": byte_level,
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
                "vocab": {content: i for i, content in enumerate(SPECIALS)} | symbols,
                "merges": [],
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


def weights() -> dict[str, Any]:
    """Parameter name -> float32 array; every value from one seeded generator.

    Dimension 0 of the residual stream is a constant that no layer writes to, so that column 0 of the head is a bias: it makes
    the end token likelier and the unused ids of the vocabulary impossible.
    """
    import numpy as np

    rng = np.random.default_rng(0)

    def normal(*shape: int, scale: float) -> Any:
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    def out_of(inner: int) -> Any:
        matrix = normal(HIDDEN, inner, scale=inner**-0.5)
        matrix[0] = 0.0
        return matrix

    wide = HIDDEN**-0.5
    embedding = normal(VOCAB, HIDDEN, scale=1.0)
    embedding[:, 0] = HIDDEN**0.5
    head = normal(VOCAB, HIDDEN, scale=wide)
    head[:, 0] = 0.0
    head[EOS_ID, 0] = END_LOGIT
    head[[PAD_ID, 1], 0] = UNUSED_LOGIT
    head[len(SPECIALS) + 256 :, 0] = UNUSED_LOGIT
    tensors = {"model.embed_tokens.weight": embedding, "model.norm.weight": np.ones(HIDDEN, np.float32), "lm_head.weight": head}
    for layer in range(LAYERS):
        parts = {
            "input_layernorm": np.ones(HIDDEN, np.float32),
            "post_attention_layernorm": np.ones(HIDDEN, np.float32),
            "self_attn.q_proj": normal(HEADS * HEAD_DIM, HIDDEN, scale=wide),
            "self_attn.k_proj": normal(KV_HEADS * HEAD_DIM, HIDDEN, scale=wide),
            "self_attn.v_proj": normal(KV_HEADS * HEAD_DIM, HIDDEN, scale=wide),
            "self_attn.o_proj": out_of(HEADS * HEAD_DIM),
            "self_attn.q_norm": np.ones(HEAD_DIM, np.float32),
            "self_attn.k_norm": np.ones(HEAD_DIM, np.float32),
            "mlp.gate_proj": normal(MLP, HIDDEN, scale=wide),
            "mlp.up_proj": normal(MLP, HIDDEN, scale=wide),
            "mlp.down_proj": out_of(MLP),
        }
        tensors |= {f"model.layers.{layer}.{name}.weight": value for name, value in parts.items()}
    return tensors


def safetensors_bytes(tensors: dict[str, Any]) -> bytes:
    """float32 arrays in the safetensors format: the header's length, the header, the values in the header's order."""
    header: dict[str, Any] = {}
    end = 0
    for name, value in sorted(tensors.items()):
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [end, end := end + value.nbytes]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    values = b"".join(value.astype("<f4").tobytes() for _, value in sorted(tensors.items()))
    return struct.pack("<Q", len(text)) + text + values


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
    files = tokenizer_files()
    if not args.tokenizer_only:
        files |= {
            "config.json": config(),
            "model.safetensors": safetensors_bytes(weights()),
            "weights.txt": "random\n",
        }
    write(args.out, files)


if __name__ == "__main__":
    main()
