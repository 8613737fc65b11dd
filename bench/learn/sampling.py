"""Sampling groups from the model as it is now: all of them in flight at once, each tried again where the server failed it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tenacity
import tinker

from bench import rollout
from bench.clock import Clock
from bench.errors import BenchError, ServerGoneError, UnsupportedError
from bench.learn.groups import Decoder, Group, graded
from bench.learn.seeds import sampling_seed
from bench.tasks.problem import Problem
from bench.tasks.task import Task
from bench.wait import ResultWaiter, in_thread

ATTEMPTS = 4
FIRST_PAUSE_S = 1.0


@dataclass(frozen=True)
class Sampling:
    """How rollouts are made: the task's words, the tokenizer, the longest response in tokens, and the run's seed."""

    task: Task
    tokenizer: Any
    max_tokens: int
    seed: int
    wait: ResultWaiter
    say: Callable[[str], None]
    clock: Clock

    def sampler(self, client: tinker.TrainingClient) -> Any:
        """A sampler of the model's weights as they are now."""
        return self._retried(lambda: self.wait(in_thread(client.save_weights_and_get_sampling_client), "syncing the sampler"))

    def submit(self, sampler: Any, problems: Sequence[Problem], group_size: int, purpose: str, step: int) -> "Pending":
        """Sends a request for each problem and returns at once. `purpose` and `step` choose the seeds."""
        prompts = [tuple(rollout.prompt_tokens(self.tokenizer, self.task.prompt(problem))) for problem in problems]
        stops = rollout.stop_tokens(self.tokenizer)

        def send(index: int) -> Any:
            seed = sampling_seed(self.seed, purpose, step, index, group_size)
            return sampler.sample(
                tinker.ModelInput.from_ints(list(prompts[index])),
                num_samples=group_size,
                sampling_params=rollout.sampling_params(self.max_tokens, stops, seed),
            )

        return Pending(list(problems), prompts, send, [send(index) for index in range(len(prompts))])

    def collect(self, pending: "Pending") -> list[Any]:
        """Waits for all of them. A request that fails is sent again with the same seed: sampling changes nothing on the server.

        Raises:
            ServerGoneError: the server died or did not answer within the deadline.
            BenchError: it failed the same request every time.
        """
        count = len(pending.problems)

        def answer(index: int) -> Any:
            stage = f"sampling group {index + 1} of {count}"
            first = [pending.futures[index]]
            return self._retried(lambda: self.wait(first.pop() if first else pending.send(index), stage))

        return [answer(index) for index in range(count)]

    def grade(self, pending: "Pending", answers: Sequence[Any]) -> list[Group]:
        """The answers as groups with rewards."""
        groups = []
        for index, (problem, prompt, answer) in enumerate(zip(pending.problems, pending.prompts, answers, strict=True)):
            sampled = [rollout.tokens_and_logprobs(sample, f"a rollout of group {index + 1}") for sample in answer.sequences]
            groups.append(graded(problem, prompt, sampled, self.text_of))
        return groups

    @property
    def text_of(self) -> Decoder:
        return lambda tokens: str(self.tokenizer.decode(list(tokens), skip_special_tokens=True))

    def _retried[T](self, call: Callable[[], T]) -> T:
        def tell(state: tenacity.RetryCallState) -> None:
            failed = state.outcome.exception() if state.outcome else None
            self.say(f"{str(failed).splitlines()[0]} Trying again ({state.attempt_number + 1} of {ATTEMPTS}).")

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_may_pass),
            wait=tenacity.wait_exponential(multiplier=FIRST_PAUSE_S),
            stop=tenacity.stop_after_attempt(ATTEMPTS),
            before_sleep=tell,
            sleep=self.clock.sleep,
            reraise=True,
        )
        return retrying(call)


@dataclass(frozen=True)
class Pending:
    """Groups that are being sampled; `send(index)` asks for one of them again."""

    problems: list[Problem]
    prompts: list[tuple[int, ...]]
    send: Callable[[int], Any]
    futures: list[Any]


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, BenchError) and not isinstance(error, ServerGoneError | UnsupportedError)
