"""A server that can be taught: its sampler is right as often as its model has skill, every update adds some, and states are kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import tinker

from bench.learn.seeds import sampling_seed
from bench.tasks.problem import Problem
from bench.tasks.task import Task
from tests.bench.fakes import FakeFuture, FakeTime


class Killed(BaseException):
    """The process dies here."""


@dataclass
class Crash:
    """Dies at the `at`-th of all things that happen, which `happened` names."""

    at: int | None = None
    happened: list[str] = field(default_factory=list)

    def tick(self, what: str) -> None:
        self.happened.append(what)
        if self.at is not None and len(self.happened) > self.at:
            raise Killed(what)


@dataclass
class TeachableServer:
    """Keeps states by name and hands out clients. `failures` maps a kind of request to the errors of its first results."""

    time: FakeTime = field(default_factory=FakeTime)
    crash: Crash = field(default_factory=Crash)
    states: dict[str, tuple[float, int]] = field(default_factory=dict)
    failures: dict[str, list[BaseException]] = field(default_factory=dict)
    models: Iterator[int] = field(default_factory=count)
    asked: list[tuple[int, int]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    def client(self, state: str | None = None) -> "TeachableClient":
        skill, updates = self.states[state] if state else (0.4, 0)
        return TeachableClient(self, f"model{next(self.models)}", skill, updates)

    def future(self, kind: str, seconds: float, outcome: Any, done: Callable[[], None] = lambda: None) -> FakeFuture:
        failures = self.failures.get(kind, [])
        return FakeFuture(self.time, self.time.now_s + seconds, failures.pop(0) if failures else outcome, done)


@dataclass
class TeachableClient:
    """A training client. Its model has a `skill`, the share of answers that are right, and has seen some `updates`."""

    server: TeachableServer
    model_id: str
    skill: float
    updates: int
    sent: list[tuple[str, list[tinker.Datum]]] = field(default_factory=list)

    def save_weights_and_get_sampling_client(self) -> "TeachableSampler":
        self.server.crash.tick("sync")
        self.server.time.advance(0.5)
        return TeachableSampler(self.server, self.skill)

    def forward(self, data: list[tinker.Datum], loss_fn: str) -> FakeFuture:
        return self._pass("forward", data, loss_fn)

    def forward_backward(self, data: list[tinker.Datum], loss_fn: str, loss_fn_config: Any = None) -> FakeFuture:
        return self._pass("forward_backward", data, loss_fn)

    def optim_step(self, adam: tinker.AdamParams) -> FakeFuture:
        self.server.crash.tick("optim_step")
        self.updates += 1
        # Depends on how many updates came before, as an optimizer's state does.
        self.skill = min(0.9, self.skill + adam.learning_rate / self.updates)
        return self.server.future("optim_step", 1.0, SimpleNamespace(metrics={"skyrl.ai/grad_norm": 0.25}))

    def save_state(self, name: str) -> FakeFuture:
        self.server.crash.tick("save_state")
        path = f"tinker://{self.model_id}/weights/{name}"
        self.server.states[path] = (self.skill, self.updates)
        return self.server.future("save_state", 2.0, SimpleNamespace(path=path))

    def _pass(self, kind: str, data: list[tinker.Datum], loss_fn: str) -> FakeFuture:
        self.server.crash.tick(kind)
        self.sent.append((loss_fn, data))
        rows = [{"logprobs": tinker.TensorData.from_numpy(np.full(len(datum.model_input.to_ints()), -0.5, np.float32))} for datum in data]
        return self.server.future(kind, 3.0, SimpleNamespace(loss_fn_outputs=rows, metrics={}))


@dataclass
class TeachableSampler:
    """Says "7." or "no", each token with logprob -0.5."""

    server: TeachableServer
    skill: float

    def sample(self, prompt: tinker.ModelInput, num_samples: int, sampling_params: tinker.SamplingParams) -> FakeFuture:
        self.server.crash.tick("sample")
        server, seed = self.server, int(sampling_params.seed or 0)
        server.asked.append((seed, num_samples))
        server.in_flight += 1
        server.most_in_flight = max(server.most_in_flight, server.in_flight)
        said = [self._answer(seed + index) for index in range(num_samples)]
        sequences = [SimpleNamespace(tokens=[ord(c) for c in text], logprobs=[-0.5] * len(text)) for text in said]

        def done() -> None:
            server.in_flight -= 1

        return server.future("sample", 4.0, SimpleNamespace(sequences=sequences), done)

    def _answer(self, seed: int) -> str:
        return "7." if sampling_seed(seed, "fake", 0, 0, 1) / 2**31 < self.skill else "no"


class LetterTokenizer:
    """A token is a letter."""

    eos_token_id = 2

    def apply_chat_template(self, messages: list[dict[str, str]], **_flags: Any) -> dict[str, list[int]]:
        return {"input_ids": [ord(letter) for letter in messages[0]["content"]]}

    def decode(self, tokens: list[int], skip_special_tokens: bool) -> str:
        assert skip_special_tokens
        return "".join(chr(token) for token in tokens)


def sevens() -> Task:
    """Questions of growing length whose answer is 7."""

    def train(seed: int) -> Iterator[Problem]:
        return (Problem(f"{seed}:{number}?", "7") for number in count())

    return Task("sevens", train, lambda wanted: [Problem(f"test {number}?", "7") for number in range(wanted)], " Say it.")
