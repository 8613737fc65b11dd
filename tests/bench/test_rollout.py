"""Sampling once: what is asked of the sampler, and answers that cannot be trained on."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from bench import rollout
from bench.errors import BenchError, InputError
from bench.probe import Probe
from bench.rollout import SampleSettings, sample_batch, stop_tokens
from bench.wait import ResultWaiter
from tests.bench.fakes import FakeClient, FakeSampler, FakeTime

WAIT = ResultWaiter(Probe("http://server:8000"), 600.0, lambda text: None)


def sampled_with(monkeypatch: pytest.MonkeyPatch, tokens: list[int], logprobs: list[float] | None) -> None:
    answer = SimpleNamespace(sequences=[SimpleNamespace(tokens=tokens, logprobs=logprobs)])
    monkeypatch.setattr(FakeSampler, "sample", lambda self, *a, **k: SimpleNamespace(result=lambda timeout: answer))


def sample(client: FakeClient, prompts: list[list[int]]) -> Any:
    return sample_batch(client, prompts, SampleSettings(16, (2,), 5), "toy", "builtin", WAIT, lambda text: None)  # type: ignore[arg-type]


def test_each_prompt_gives_one_sequence_in_order_with_alternating_advantages() -> None:
    batch = sample(FakeClient(FakeTime()), [[1, 2], [3], [4]])
    assert [sequence.prompt_tokens for sequence in batch.sequences] == [(1, 2), (3,), (4,)]
    assert [len(sequence.response_tokens) for sequence in batch.sequences] == [2, 3, 4]
    assert [sequence.advantage for sequence in batch.sequences] == [1.0, -1.0, 1.0]
    assert batch.sequences[0].response_logprobs == (-0.5, -0.5)
    assert (batch.model, batch.source) == ("toy", "builtin")


def test_sampling_is_at_temperature_one_without_cuts_and_with_a_seed_each(monkeypatch: pytest.MonkeyPatch) -> None:
    client = FakeClient(FakeTime())
    sampler = FakeSampler(client.time)
    monkeypatch.setattr(client, "save_weights_and_get_sampling_client", lambda: sampler)
    sample(client, [[1], [2]])
    settings = [entry[2] for entry in sampler.asked]
    # A top_p or temperature below 1 would make the sampler's logprobs another distribution's.
    assert {(entry.temperature, entry.top_p, entry.top_k, entry.max_tokens) for entry in settings} == {(1.0, 1.0, -1, 16)}
    assert [entry.seed for entry in settings] == [5, 6]
    assert [entry[1] for entry in sampler.asked] == [1, 1]


def test_a_response_ends_at_the_tokens_that_end_the_models_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without them SkyRL's JAX backend samples on to the limit, and every length is the same.
    client = FakeClient(FakeTime())
    sampler = FakeSampler(client.time)
    monkeypatch.setattr(client, "save_weights_and_get_sampling_client", lambda: sampler)
    sample(client, [[1]])
    assert sampler.asked[0][2].stop == [2]
    assert stop_tokens(SimpleNamespace(eos_token_id=2)) == (2,)
    assert stop_tokens(SimpleNamespace(eos_token_id=None)) == ()


def test_an_empty_rollout_is_refused_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    sampled_with(monkeypatch, [], [])
    with pytest.raises(BenchError, match=r"rollout 1 is empty.*--seed"):
        sample(FakeClient(FakeTime()), [[1]])


@pytest.mark.parametrize("logprobs", [None, [], [-0.5]])
def test_a_rollout_without_a_logprob_for_each_token_is_refused(monkeypatch: pytest.MonkeyPatch, logprobs: list[float] | None) -> None:
    sampled_with(monkeypatch, [1, 2], logprobs)
    with pytest.raises(BenchError, match="rollout 1 came without a logprob for each of its 2 tokens"):
        sample(FakeClient(FakeTime()), [[1]])


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), float("inf")])
def test_a_rollout_with_a_logprob_that_is_not_finite_is_refused(monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    sampled_with(monkeypatch, [1, 2], [-0.5, value])
    with pytest.raises(BenchError, match=r"rollout 1 .*not finite"):
        sample(FakeClient(FakeTime()), [[1]])


def tokenizers(monkeypatch: pytest.MonkeyPatch, load: Any) -> None:
    fake = SimpleNamespace(AutoTokenizer=SimpleNamespace(from_pretrained=load), logging=SimpleNamespace(set_verbosity_error=lambda: None))
    monkeypatch.setitem(sys.modules, "transformers", fake)


def test_a_tokenizer_that_cannot_be_loaded_is_named_with_the_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_name: str) -> None:
        raise OSError("no such\nrepository")

    tokenizers(monkeypatch, fail)
    with pytest.raises(InputError, match=r"the tokenizer of 'x/y' cannot be loaded \(no such repository\)\.\n.*--tokenizer"):
        rollout.load_tokenizer("x/y")


def test_a_tokenizer_without_a_chat_template_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizers(monkeypatch, lambda name: SimpleNamespace(chat_template=None))
    with pytest.raises(InputError, match="has no chat template"):
        rollout.load_tokenizer("x/y")


def test_a_prompt_goes_through_the_chat_template_with_thinking_off() -> None:
    seen: dict[str, Any] = {}

    def apply(messages: Any, **settings: Any) -> dict[str, list[int]]:
        seen.update(settings, messages=messages)
        return {"input_ids": [5, 6]}

    assert rollout.prompt_tokens(SimpleNamespace(apply_chat_template=apply), "2+2?") == [5, 6]
    assert seen == {
        "messages": [{"role": "user", "content": "2+2?"}],
        "add_generation_prompt": True,
        "enable_thinking": False,
        "return_dict": True,
    }
