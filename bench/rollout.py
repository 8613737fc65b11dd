"""Sampling the batch once, at temperature 1, from the model as it starts; then it is frozen."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tinker

from bench import image
from bench.batch import FrozenBatch, Sequence, alternating_advantages
from bench.errors import BenchError, InputError
from bench.numbers import plural
from bench.wait import ResultWaiter, in_thread


@dataclass(frozen=True)
class SampleSettings:
    """`max_tokens` a response, the ids of tokens that end one, and the seed of the first prompt; the others count up from it.

    SkyRL's JAX backend ends a response only at the tokens that it is told.
    """

    max_tokens: int
    stop_tokens: tuple[int, ...]
    seed: int


def load_tokenizer(name: str) -> Any:
    """The tokenizer of a model by its name on the hub or its folder.

    Raises:
        InputError: it cannot be loaded, or has no chat template.
    """
    import transformers

    transformers.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        with image.shared_cache():
            tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"the tokenizer of {name!r} cannot be loaded ({reason}).\nGive its folder or hub name with --tokenizer."
        ) from error
    if tokenizer.chat_template is None:
        raise InputError(f"the tokenizer of {name!r} has no chat template: give an instruct model's tokenizer with --tokenizer.")
    return tokenizer


def prompt_tokens(tokenizer: Any, question: str) -> list[int]:
    """A question as the model's chat template puts it, up to where the answer starts; thinking off where the template has that switch."""
    messages = [{"role": "user", "content": question}]
    encoded = tokenizer.apply_chat_template(messages, add_generation_prompt=True, enable_thinking=False, return_dict=True)
    return [int(token) for token in encoded["input_ids"]]


def stop_tokens(tokenizer: Any) -> tuple[int, ...]:
    """The ids that end the model's answer; none where the tokenizer names none."""
    return () if tokenizer.eos_token_id is None else (int(tokenizer.eos_token_id),)


def sample_batch(
    client: tinker.TrainingClient,
    prompts: list[list[int]],
    settings: SampleSettings,
    model: str,
    source: str,
    wait: ResultWaiter,
    say: Callable[[str], None],
) -> FrozenBatch:
    """One rollout a prompt, all in flight at once, with synthetic advantages +1, -1, ...

    Raises:
        BenchError: a response that is empty or without its logprobs, finite ones.
        UnsupportedError: a server that trains but does not sample.
    """
    say("preparing the sampler (on a GPU server this starts vLLM and can take minutes)")
    sampler = wait(in_thread(client.save_weights_and_get_sampling_client), "preparing the sampler")
    futures = [
        sampler.sample(
            tinker.ModelInput.from_ints(prompt),
            num_samples=1,
            sampling_params=sampling_params(settings.max_tokens, settings.stop_tokens, settings.seed + index),
        )
        for index, prompt in enumerate(prompts)
    ]
    say(f"sampling {plural(len(futures), 'rollout')} of at most {plural(settings.max_tokens, 'token')}")
    answers = [wait(future, f"sampling rollout {index + 1} of {len(futures)}") for index, future in enumerate(futures)]
    advantages = alternating_advantages(len(prompts))
    sequences = tuple(
        _sequence(prompt, answer.sequences[0], advantage, index)
        for index, (prompt, answer, advantage) in enumerate(zip(prompts, answers, advantages, strict=True))
    )
    return FrozenBatch(sequences, model, source)


def sampling_params(max_tokens: int, stop_tokens: tuple[int, ...], seed: int) -> tinker.SamplingParams:
    """Temperature 1 and the whole vocabulary: the logprobs that come back are then those of the model itself."""
    return tinker.SamplingParams(max_tokens=max_tokens, stop=list(stop_tokens) or None, temperature=1.0, top_p=1.0, top_k=-1, seed=seed)


def tokens_and_logprobs(sampled: Any, label: str) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """A sample's tokens and their logprobs; both empty where the model ended at once. `label` names it in messages.

    Raises:
        BenchError: not one logprob for each token, or one that is not finite.
    """
    tokens, logprobs = list(sampled.tokens), sampled.logprobs
    if tokens and (logprobs is None or len(logprobs) != len(tokens)):
        raise BenchError(f"{label} came without a logprob for each of its {plural(len(tokens), 'token')}; the server cannot be used.")
    if not all(math.isfinite(value) for value in logprobs or ()):
        raise BenchError(f"{label} came with a logprob that is not finite: the model has diverged or the sampler is broken.")
    return tuple(int(token) for token in tokens), tuple(float(value) for value in logprobs or ())


def _sequence(prompt: list[int], sampled: Any, advantage: float, index: int) -> Sequence:
    label = f"rollout {index + 1}"
    tokens, logprobs = tokens_and_logprobs(sampled, label)
    if not tokens:
        raise BenchError(f"{label} is empty: the model ended at once. Sample again with another --seed.")
    return Sequence(tuple(prompt), tokens, logprobs, advantage)
