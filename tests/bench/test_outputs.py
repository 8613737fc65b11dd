"""Reading a forward pass's rows: wrong counts, wrong lengths and numbers that are none."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tinker

from bench.batch import Sequence
from bench.errors import BenchError
from bench.outputs import finite_metrics, logprobs_of


def result(rows: list[list[float]]) -> Any:
    tensors = [{"logprobs": tinker.TensorData.from_numpy(np.array(row, dtype=np.float32))} for row in rows]
    return SimpleNamespace(loss_fn_outputs=tensors, metrics={})


def sequence(responses: int) -> Sequence:
    """A prompt of one token: as many targets as response tokens."""
    return Sequence((1,), (2,) * responses, (-1.0,) * responses, 1.0)


THREE = [sequence(5), sequence(2), sequence(4)]


def test_rows_in_order_are_read_as_they_are() -> None:
    rows = logprobs_of(result([[-1.0] * 5, [-2.0] * 2, [-3.0] * 4]), THREE, "forward")
    assert [row.tolist() for row in rows] == [[-1.0] * 5, [-2.0] * 2, [-3.0] * 4]


def test_rows_in_packed_order_are_refused_naming_the_datum() -> None:
    with pytest.raises(BenchError, match=r"datum 1 has 2 targets and the server returned 4"):
        logprobs_of(result([[-1.0] * 5, [-3.0] * 4, [-2.0] * 2]), THREE, "forward")


@pytest.mark.parametrize("count", [0, 2, 4])
def test_another_number_of_rows_than_datums_is_refused(count: int) -> None:
    with pytest.raises(BenchError, match=f"returned {count} rows for 3 datums"):
        logprobs_of(result([[-1.0] * 5] * count), THREE, "forward")


def test_a_row_without_logprobs_is_refused_with_what_it_has() -> None:
    rows = SimpleNamespace(loss_fn_outputs=[{"elementwise_loss": None}])
    with pytest.raises(BenchError, match=r"no logprobs for datum 0, but \['elementwise_loss'\]"):
        logprobs_of(rows, [sequence(2)], "forward")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_logprob_that_is_no_number_on_the_response_is_refused(value: float) -> None:
    with pytest.raises(BenchError, match="not finite for datum 0"):
        logprobs_of(result([[-1.0, value]]), [sequence(2)], "forward")


@pytest.mark.filterwarnings("error")
def test_a_logprob_beyond_float32_is_refused_without_a_word_from_numpy() -> None:
    rows = SimpleNamespace(loss_fn_outputs=[{"logprobs": SimpleNamespace(to_numpy=lambda: np.array([-1.0, -1e300]))}])
    with pytest.raises(BenchError, match="not finite for datum 0"):
        logprobs_of(rows, [sequence(2)], "forward")


def test_what_stands_on_the_prompt_does_not_matter() -> None:
    long_prompt = Sequence((1, 2, 3), (4,), (-1.0,), 1.0)
    rows = logprobs_of(result([[float("nan"), float("-inf"), -0.5]]), [long_prompt], "forward")
    assert rows[0][-1] == -0.5


def test_metrics_that_are_not_finite_numbers_become_null() -> None:
    found = finite_metrics(
        SimpleNamespace(metrics={"a": 1, "b": float("nan"), "c": float("inf"), "d": "text", "e": 0.5, "f": None, "g": 10**400})
    )
    assert found == {"a": 1.0, "b": None, "c": None, "d": None, "e": 0.5, "f": None, "g": None}


def test_a_result_without_metrics_has_none() -> None:
    assert finite_metrics(SimpleNamespace()) == {}
    assert finite_metrics(SimpleNamespace(metrics=None)) == {}
