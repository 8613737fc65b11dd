"""The KL to the start, from a base model that tells its logprobs, in either server's way of counting, or does not."""

from types import SimpleNamespace
from typing import Any

import pytest
import tinker

from bench.errors import BenchError, ServerGoneError
from bench.learn.groups import Group, Rollout
from bench.learn.reference import Reference

GROUP = Group((1, 2), (Rollout((5, 6), (-0.5, -1.0), True, False),))


class Base:
    """A base model that says `values` of every text."""

    def __init__(self, values: Any) -> None:
        self.values, self.texts = values, list[list[int]]()

    def create_sampling_client(self, base_model: str) -> "Base":
        assert base_model == "toy"
        return self

    def compute_logprobs(self, text: tinker.ModelInput) -> Any:
        self.texts.append(text.to_ints())
        return self.values


def reference(base: Base, said: list[str]) -> Reference:
    def wait(value: Any, _stage: str) -> Any:
        found = value.result() if hasattr(value, "result") else value
        if isinstance(found, BaseException):
            raise found
        return found

    return Reference(base, "toy", wait, said.append)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [[None, -3.0, -0.5, -1.0], [-3.0, -0.5, -1.0]])
def test_a_model_that_has_not_moved_is_no_way_from_its_start(values: list[float | None]) -> None:
    base = Base(values)
    assert reference(base, []).kl([GROUP]) == 0.0
    assert base.texts == [[1, 2, 5, 6]]


@pytest.mark.parametrize("values", [[-0.5, -1.0], [None, -3.0, None, -1.0], BenchError("no logprobs of prompts here")])
def test_a_server_that_cannot_tell_is_asked_once_and_named(values: Any) -> None:
    base, said = Base(values), list[str]()
    asked = reference(base, said)
    assert asked.kl([GROUP]) is None and asked.kl([GROUP]) is None
    assert len(base.texts) == 1
    assert len(said) == 1 and said[0].startswith("no KL to the start from this server: ")


def test_a_dead_server_is_not_taken_for_one_that_cannot_tell() -> None:
    with pytest.raises(ServerGoneError):
        reference(Base(ServerGoneError("it died")), []).kl([GROUP])


def test_answers_without_tokens_are_not_asked_for() -> None:
    base = Base([])
    assert reference(base, []).kl([SimpleNamespace(rollouts=[Rollout((), (), False, False)], prompt_tokens=(1,))]) is None  # type: ignore[list-item]
    assert base.texts == []
