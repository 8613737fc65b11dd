"""Writes a Qwen3 of a published shape with random bfloat16 weights, for timing where none can be had: a step does not see their values.

    python make_random_qwen3.py OUT {0.6b,4b}

Needs torch, transformers and a CUDA GPU. Takes 2 s (0.6B) to 15 s (4B). Its tokenizer is the small model's: ids above it are valid inputs.
"""

import argparse
from pathlib import Path

import torch
from make_tiny_qwen3 import EOS_ID, PAD_ID, read_merges, tokenizer_files, write
from transformers import Qwen3Config, Qwen3ForCausalLM

SHAPES = {
    "0.6b": {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16},
    "4b": {"hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36, "num_attention_heads": 32},
}
VOCAB = 151_936


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder to write, made if missing")
    parser.add_argument("size", choices=sorted(SHAPES))
    args = parser.parse_args()
    config = Qwen3Config(
        vocab_size=VOCAB,
        max_position_embeddings=40_960,
        tie_word_embeddings=True,
        rope_theta=1_000_000,
        num_key_value_heads=8,
        head_dim=128,
        bos_token_id=None,
        eos_token_id=EOS_ID,
        pad_token_id=PAD_ID,
        **SHAPES[args.size],
    )
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = Qwen3ForCausalLM(config)
    model.save_pretrained(args.out)
    write(args.out, tokenizer_files(read_merges()) | {"weights.txt": "random\n"})
    print(f"{args.out}: {sum(parameter.numel() for parameter in model.parameters()):,} parameters")


if __name__ == "__main__":
    main()
