"""A scripted Tinker client on a clock that only moves when something is waited for, and small makers of test values."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import numpy as np
import tinker

from bench.batch import FrozenBatch, Sequence
from bench.clock import Clock
from bench.gspo import Clip
from bench.measure import StepRecord
from bench.paths import StepSetup


class FakeTime:
    """A clock whose every second is given to it. `pauses` are the sleeps that were asked for."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.pauses: list[float] = []

    def advance(self, seconds: float) -> None:
        self.now_s += seconds

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.advance(seconds)

    def clock(self) -> Clock:
        return Clock(now_s=lambda: self.now_s, sleep=self.sleep, wall_s=lambda: 1_800_000_000.0 + self.now_s)


class FakeFuture:
    """Ready at `ready_at_s`; waiting for it moves the clock there, or by the timeout."""

    def __init__(self, time: FakeTime, ready_at_s: float, outcome: Any, on_done: Callable[[], None] = lambda: None) -> None:
        self._time, self._ready_at_s, self._outcome, self._on_done = time, ready_at_s, outcome, on_done

    def result(self, timeout: float | None = None) -> Any:
        left_s = self._ready_at_s - self._time.now_s
        if timeout is not None and left_s > timeout:
            self._time.advance(timeout)
            raise TimeoutError
        self._time.advance(max(0.0, left_s))
        self._on_done()
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        return self._outcome


class BigramModel:
    """logprob(target | input) = log softmax(W[input])[target]; plain gradient descent. Losses are summed over tokens and sequences."""

    def __init__(self, vocabulary: int = 12, seed: int = 5) -> None:
        self.W = np.random.default_rng(seed).normal(size=(vocabulary, vocabulary))
        self.gradient = np.zeros_like(self.W)

    def logprobs_T(self, datum: tinker.Datum) -> np.ndarray:
        logits_TV = self.W[datum.model_input.to_ints()]
        log_softmax_TV = logits_TV - np.log(np.exp(logits_TV).sum(axis=1, keepdims=True))
        return log_softmax_TV[np.arange(len(logits_TV)), field_T(datum, "target_tokens").astype(int)]

    def backward(self, datum: tinker.Datum, loss_fn: str, config: dict[str, float] | None) -> None:
        """Adds d loss / d W, from the loss's derivative by each token's logprob."""
        new_T = self.logprobs_T(datum)
        slope_T = loss_slope_T(loss_fn, new_T, datum, config or {})
        inputs, targets = datum.model_input.to_ints(), field_T(datum, "target_tokens").astype(int)
        for slope, source, target in zip(slope_T, inputs, targets, strict=True):
            probabilities_V = np.exp(self.W[source] - np.log(np.exp(self.W[source]).sum()))
            self.gradient[source] -= slope * probabilities_V
            self.gradient[source, target] += slope

    def step(self, learning_rate: float) -> None:
        self.W = self.W - learning_rate * self.gradient
        self.gradient = np.zeros_like(self.W)


def field_T(datum: tinker.Datum, name: str) -> np.ndarray:
    return np.asarray(datum.loss_fn_inputs[name].to_numpy(), dtype=np.float64)


def loss_slope_T(loss_fn: str, new_T: np.ndarray, datum: tinker.Datum, config: dict[str, float]) -> np.ndarray:
    """d loss / d logprob of each token, by a central difference of the server's formula: `moved` is what flows, the rest is detached.

    Missing weights are all ones, prompt included, as SkyRL takes them.
    """
    mask_T = field_T(datum, "weights") if "weights" in datum.loss_fn_inputs else np.ones_like(new_T)
    old_T, advantage_T = field_T(datum, "logprobs"), field_T(datum, "advantages")

    def loss_T(moved: float) -> np.ndarray:
        if loss_fn == "importance_sampling":
            return -np.exp(new_T + moved - old_T) * advantage_T * mask_T
        assert loss_fn == "gspo"
        log_ratio = ((new_T - old_T) * mask_T).sum() / max(mask_T.sum(), 1.0)
        ratio = np.exp(min(log_ratio + moved, 10.0))
        clipped = np.clip(ratio, config["clip_low_threshold"], config["clip_high_threshold"])
        return -np.minimum(ratio * advantage_T, clipped * advantage_T) * mask_T

    step = 1e-6
    return (loss_T(step) - loss_T(-step)) / (2 * step)


@dataclass
class FakeClient:
    """A training client whose server works through requests one after the other, each in `seconds[kind]`; `submit_s` passes in each call.

    `events` has every call and every result in order. `fail_at` raises in the result of the n-th forward_backward, `unsupported` are
    losses that the server refuses.
    """

    time: FakeTime
    seconds: dict[str, Any] = field(default_factory=lambda: {"forward": 1.0, "forward_backward": 2.0, "optim_step": 0.5})
    submit_s: float = 0.0
    model: BigramModel | None = None
    unsupported: tuple[str, ...] = ()
    fail_at: dict[int, BaseException] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    configs: list[Any] = field(default_factory=list)
    sent: list[list[tinker.Datum]] = field(default_factory=list)
    adams: list[Any] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    gradients: int = 0
    free_at_s: float = 0.0
    model_id: str = "model-1"

    def forward(self, data: list[tinker.Datum], loss_fn: str) -> FakeFuture:
        return self._pass("forward", data, loss_fn, self._rows(data))

    def forward_backward(self, data: list[tinker.Datum], loss_fn: str, loss_fn_config: dict[str, float] | None = None) -> FakeFuture:
        self.gradients += 1
        outcome: Any = self.fail_at.get(self.gradients, self._rows(data))
        if self.model is not None:
            for datum in data:
                self.model.backward(datum, loss_fn, loss_fn_config)
        self.configs.append(loss_fn_config)
        return self._pass("forward_backward", data, loss_fn, outcome)

    def forward_backward_custom(self, data: list[tinker.Datum], loss: Callable[..., Any]) -> FakeFuture:
        self.forward(data, "cross_entropy").result()
        return self._pass("forward_backward", data, "cross_entropy", self._rows(data))

    def optim_step(self, adam: tinker.AdamParams) -> FakeFuture:
        self.adams.append(adam)
        if self.model is not None:
            self.model.step(adam.learning_rate)
        return self._send("optim_step", SimpleNamespace(metrics={"grad_norm": 1.5}), lambda: None)

    def save_weights_and_get_sampling_client(self) -> "FakeSampler":
        return FakeSampler(self.time)

    def _chunked_requests_generator(self, data: list[tinker.Datum]) -> Iterator[tuple[list[tinker.Datum], int]]:
        yield data, 1

    def _rows(self, data: list[tinker.Datum]) -> Any:
        rows = []
        for datum in data:
            count = len(datum.model_input.to_ints())
            logprobs_T = self.model.logprobs_T(datum) if self.model else np.full(count, -1.0)
            rows.append({"logprobs": tinker.TensorData.from_numpy(logprobs_T.astype(np.float32))})
        return SimpleNamespace(loss_fn_outputs=rows, metrics={"loss:sum": 2.0, "odd": float("nan")})

    def _pass(self, kind: str, data: list[tinker.Datum], loss_fn: str, outcome: Any) -> FakeFuture:
        self.losses.append(loss_fn)
        self.sent.append(data)
        if loss_fn in self.unsupported:
            text = f"Error code: 400 - {{'detail': \"Loss functions ['{loss_fn}'] are not supported by the JAX backend\"}}"
            outcome = ValueError(text)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

        def done() -> None:
            self.in_flight -= 1

        return self._send(kind, outcome, done)

    def _send(self, kind: str, outcome: Any, on_done: Callable[[], None]) -> FakeFuture:
        self.time.advance(self.submit_s)
        self.events.append(f"send {kind}")
        seconds = self.seconds[kind]
        taken_s = next(seconds) if isinstance(seconds, Iterator) else seconds
        self.free_at_s = max(self.free_at_s, self.time.now_s) + taken_s

        def arrived() -> None:
            self.events.append(f"got {kind}")
            on_done()

        return FakeFuture(self.time, self.free_at_s, outcome, arrived)


@dataclass
class FakeSampler:
    """Answers prompt i with i + 2 tokens (id 7) of logprob -0.5."""

    time: FakeTime
    asked: list[Any] = field(default_factory=list)

    def sample(self, prompt: tinker.ModelInput, num_samples: int, sampling_params: tinker.SamplingParams) -> FakeFuture:
        self.asked.append((prompt.to_ints(), num_samples, sampling_params))
        count = len(self.asked) + 1
        answer = SimpleNamespace(sequences=[SimpleNamespace(tokens=[7] * count, logprobs=[-0.5] * count)])
        return FakeFuture(self.time, self.time.now_s, answer)


@dataclass
class FakeReporter:
    """Keeps what a run says; `on_step` is called with each record."""

    said: list[str] = field(default_factory=list)
    steps: list[StepRecord] = field(default_factory=list)
    on_step: Callable[[StepRecord], None] = lambda record: None
    total: int | None = None

    def say(self, text: str) -> None:
        self.said.append(text)

    def start_steps(self, total: int) -> None:
        self.total = total

    def step(self, record: StepRecord) -> None:
        self.steps.append(record)
        self.on_step(record)


SMALL_BATCH = FrozenBatch(
    (
        Sequence((3, 4, 5), (6, 7), (-0.1, -0.2), 1.0),
        Sequence((3, 4), (8, 9, 10), (-0.3, -0.4, -0.5), -1.0),
    ),
    "toy",
    "by hand",
)


def setup_of(client: FakeClient, batch: FrozenBatch = SMALL_BATCH, blocking: bool = False, learning_rate: float = 0.1) -> StepSetup:
    """A StepSetup on the fake client, waiting without a deadline of its own."""
    adam = tinker.AdamParams(learning_rate=learning_rate)
    return StepSetup(client, batch, Clip(), adam, blocking, lambda future, stage: future.result(timeout=600.0), client.time.clock())


def record(path: str, round_index: int, step_s: float, *, position: int = 0, counted: bool = True, index: int = 0) -> StepRecord:
    """A step record by hand: a tenth of the step encodes, the rest waits."""
    phases_s = {"encode": step_s / 10, "forward_backward_wait": step_s * 9 / 10}
    return StepRecord(index, path, round_index, position, counted, "2026-11-30T09:00:00.000+00:00", 0.1, step_s, phases_s, {})


def paired(baseline_s: list[float], candidate_s: list[float]) -> list[StepRecord]:
    """Counter-balanced rounds of custom_2pass and native_1pass: the fused step first in even rounds."""
    records = []
    for index, (two_s, one_s) in enumerate(zip(baseline_s, candidate_s, strict=True)):
        first = index % 2
        records += [record("native_1pass", index, one_s, position=first), record("custom_2pass", index, two_s, position=1 - first)]
    return records


Answers = dict[str, tuple[int, str, bytes]]


@contextlib.contextmanager
def http_server(answers: Answers) -> Iterator[str]:
    """A little server on a free port; `answers` maps a path to (status, content type, body) and may change while it runs."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            status, kind, body = answers.get(self.path, (404, "application/json", b'{"detail": "Not Found"}'))
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = _answer  # noqa: N815 (http.server's names)

        def log_message(self, *_arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def json_answer(text: str, status: int = 200) -> tuple[int, str, bytes]:
    return status, "application/json", text.encode()


HEALTHY = {"/api/v1/healthz": json_answer('{"status": "ok"}')}
