"""What goes over the wire for one sequence, written out by hand."""

import numpy as np
import tinker

from bench import datums
from bench.batch import Sequence

THREE_PLUS_TWO = Sequence((11, 12, 13), (21, 22), (-0.5, -0.25), -1.5)


def values(datum: tinker.Datum, name: str) -> list[float]:
    return [float(value) for value in datum.loss_fn_inputs[name].to_numpy()]


def test_inputs_are_all_tokens_but_the_last_and_targets_all_but_the_first() -> None:
    datum = datums.gspo_datum(THREE_PLUS_TWO)
    assert datum.model_input.to_ints() == [11, 12, 13, 21]
    assert values(datum, "target_tokens") == [12, 13, 21, 22]


def test_weights_are_one_on_the_response_and_zero_on_the_prompt_in_every_datum() -> None:
    new_T = np.array([-9.0, -9.0, -0.4, -0.3], dtype=np.float32)
    made = [datums.gspo_datum(THREE_PLUS_TWO), datums.forward_datum(THREE_PLUS_TWO)]
    made.append(datums.importance_sampling_datum(THREE_PLUS_TWO, new_T, 0.5))
    for datum in made:
        assert values(datum, "weights") == [0.0, 0.0, 1.0, 1.0]


def test_the_fused_datum_carries_the_samplers_logprobs_and_the_advantage() -> None:
    datum = datums.gspo_datum(THREE_PLUS_TWO)
    assert values(datum, "logprobs") == [0.0, 0.0, -0.5, -0.25]
    assert values(datum, "advantages") == [0.0, 0.0, -1.5, -1.5]


def test_the_reweighted_datum_carries_the_new_logprobs_and_the_surrogate() -> None:
    new_T = np.array([-9.0, -8.0, -0.5, -0.25], dtype=np.float32)
    datum = datums.importance_sampling_datum(THREE_PLUS_TWO, new_T, 0.75)
    assert values(datum, "logprobs") == [-9.0, -8.0, -0.5, -0.25]
    assert values(datum, "advantages") == [0.0, 0.0, 0.75, 0.75]


def test_the_forward_datum_has_what_cross_entropy_takes_and_nothing_else() -> None:
    assert sorted(datums.forward_datum(THREE_PLUS_TWO).loss_fn_inputs) == ["target_tokens", "weights"]


def test_one_prompt_and_one_response_token_make_one_target() -> None:
    datum = datums.gspo_datum(Sequence((1,), (2,), (-0.5,), 1.0))
    assert datum.model_input.to_ints() == [1]
    assert values(datum, "weights") == [1.0]
    assert values(datum, "logprobs") == [-0.5]
