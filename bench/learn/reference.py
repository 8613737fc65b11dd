"""How far the model has moved: its rollouts' logprobs under the model that it started as, which a fresh adapter leaves as it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tinker

from bench.errors import BenchError, ServerGoneError
from bench.learn import metrics
from bench.learn.groups import Group
from bench.wait import ResultWaiter, in_thread


@dataclass
class Reference:
    """Asks the base model, which needs `service`; a server that cannot tell is asked once and said so."""

    service: Any
    model: str
    wait: ResultWaiter
    say: Callable[[str], None]
    _sampler: Any = None
    _refused: bool = False

    def kl(self, groups: Sequence[Group]) -> float | None:
        """KL of the model to its start as estimated on each group's first rollout; None from a server that cannot tell.

        Raises:
            ServerGoneError: the server died.
        """
        asked = [group for group in groups if group.rollouts[0].tokens]
        if self._refused or not asked:
            return None
        try:
            return metrics.of_reference(asked, self._logprobs(asked))
        except ServerGoneError:
            raise
        except BenchError as error:
            self._refused = True
            self.say(f"no KL to the start from this server: {str(error).splitlines()[0]}")
            return None

    def _logprobs(self, groups: Sequence[Group]) -> list[list[float]]:
        if self._sampler is None:
            make = in_thread(lambda: self.service.create_sampling_client(base_model=self.model))
            self._sampler = self.wait(make, "opening the base model")
        texts = [list(group.prompt_tokens + group.rollouts[0].tokens) for group in groups]
        futures = [self._sampler.compute_logprobs(tinker.ModelInput.from_ints(text)) for text in texts]
        found = []
        for group, future in zip(groups, futures, strict=True):
            values = self.wait(future, "asking the base model for logprobs")
            count, text_count = len(group.rollouts[0].tokens), len(group.prompt_tokens) + len(group.rollouts[0].tokens)
            # The first token has none: hosted Tinker says None there, SkyRL's JAX backend leaves it out.
            response = values[-count:]
            if len(values) not in (text_count - 1, text_count) or any(value is None for value in response):
                raise BenchError(f"the base model's {len(values)} logprobs are not one for each of {text_count} tokens")
            found.append([float(value) for value in response])
        return found
