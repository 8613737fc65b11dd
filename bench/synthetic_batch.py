"""`bench synthetic-batch`: a batch of given lengths from random tokens, for timing a server that does not sample."""

import math
import random
from pathlib import Path

import click

from bench import batch as batches
from bench.batch import FrozenBatch, Sequence, alternating_advantages
from bench.errors import InputError
from bench.numbers import plural

# Below this, small vocabularies keep their special tokens.
FIRST_TOKEN = 10


def response_lengths(count: int, total: int, seed: int) -> list[int]:
    """`count` lengths that sum to `total` and vary by up to a factor of two, as sampled ones do."""
    source = random.Random(seed)
    shares = [source.uniform(2.0, 4.0) for _ in range(count)]
    exact = [total * share / sum(shares) for share in shares]
    lengths = [math.floor(value) for value in exact]
    by_remainder = sorted(range(count), key=lambda index: lengths[index] - exact[index])
    for index in by_remainder[: total - sum(lengths)]:
        lengths[index] += 1
    return lengths


def make(count: int, prompt_tokens: int, target_tokens: int, vocab: int, seed: int) -> FrozenBatch:
    """Random tokens below `vocab`; the logprob of each response token is that of a uniform choice, which random weights come near.

    Raises:
        InputError: fewer target tokens than the prompts and one response token each need.
    """
    responses = target_tokens - count * (prompt_tokens - 1)
    if responses < 2 * count:
        raise InputError(
            f"--target-tokens {target_tokens} leaves no room for responses: {plural(count, 'prompt')} of {plural(prompt_tokens, 'token')} "
            f"{'needs' if count == 1 else 'need'} at least {count * (prompt_tokens + 1)}."
        )
    source = random.Random(seed)
    sequences = []
    for length, advantage in zip(response_lengths(count, responses, seed), alternating_advantages(count), strict=True):
        tokens = [source.randrange(FIRST_TOKEN, vocab) for _ in range(prompt_tokens + length)]
        prompt, response = tuple(tokens[:prompt_tokens]), tuple(tokens[prompt_tokens:])
        sequences.append(Sequence(prompt, response, (-math.log(vocab),) * length, advantage))
    return FrozenBatch(tuple(sequences), "random tokens", f"synthetic-batch, seed {seed}")


@click.command("synthetic-batch", short_help="Write a batch of random tokens, for a server that does not sample.")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--sequences", type=click.IntRange(1, 4_096), default=16, show_default=True)
@click.option("--prompt-tokens", type=click.IntRange(1, 100_000), default=100, show_default=True, help="Tokens of each prompt.")
@click.option("--target-tokens", type=click.IntRange(2), default=7_569, show_default=True, help="Of all sequences together.")
@click.option("--vocab", type=click.IntRange(FIRST_TOKEN + 1), default=151_936, show_default=True, help="Token ids stay below this.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True)
def synthetic_batch_command(out: Path, sequences: int, prompt_tokens: int, target_tokens: int, vocab: int, seed: int) -> None:
    """Writes OUT for `bench run --batch OUT`. The defaults have the published run's size: 16 sequences, 7,569 target tokens."""
    made = make(sequences, prompt_tokens, target_tokens, vocab, seed)
    batches.save(made, out)
    click.echo(f"{out}: {plural(sequences, 'sequence')}, {plural(made.target_tokens, 'target token')}, sha256 {made.sha256[:12]}")
