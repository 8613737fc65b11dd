"""The check that comes before timing on servers that could mix their outputs up: what it sends, what it finds, what a run keeps then."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tinker

from bench import outputs_order, synthetic
from bench.checks import Check, Outcome
from bench.errors import BenchError, ServerGoneError, UnsupportedError
from bench.wait import ResultWaiter
from tests.bench.fakes import BigramModel, FakeClient, FakeTime

MADE = synthetic.sequences(seed=0)


class MixedUp(FakeClient):
    """Its batches' rows 0 and 8, which are equally long, change places: in the passes that `mixes` names."""

    mixes: tuple[str, ...] = ()

    def _pass(self, kind: str, data: list[tinker.Datum], loss_fn: str, outcome: Any) -> Any:
        if kind in self.mixes and len(data) > 8:
            rows = outcome.loss_fn_outputs
            rows[0], rows[8] = rows[8], rows[0]
        return super()._pass(kind, data, loss_fn, outcome)


def checked(client: FakeClient) -> Check:
    return outputs_order.check_outputs_order(client, lambda future, stage: future.result(), MADE)  # type: ignore[arg-type]


def client_that_mixes(*passes: str) -> MixedUp:
    client = MixedUp(FakeTime(), model=BigramModel(vocabulary=256))
    client.mixes = passes
    return client


@pytest.mark.parametrize(
    ("server", "worth_it"),
    [
        (None, False),
        ({}, False),
        ({"placement": {"nodes": 1, "devices_per_node": 1}}, False),
        ({"placement": {"nodes": 1, "devices_per_node": 2}}, True),
        ({"placement": {"nodes": 2, "devices_per_node": 1}}, True),
        ({"placement": {"nodes": "2", "devices_per_node": None}}, False),
        ({"placement": 4}, False),
        ({"backend": "megatron"}, True),
    ],
)
def test_servers_of_several_devices_and_megatron_are_asked(server: dict[str, Any] | None, worth_it: bool) -> None:
    assert outputs_order.is_worth_asking(server) is worth_it


def test_a_server_in_order_passes_and_its_weights_stay() -> None:
    client = client_that_mixes()
    before = client.model.W.copy()  # type: ignore[union-attr]
    check = checked(client)
    assert check.outcome is Outcome.PASS
    assert check.text == "a batch's logprobs are each datum's own, at most 0.0000 apart on average"
    # One batch, each of the 16 alone, and gspo with nothing to learn from.
    assert client.losses == ["cross_entropy"] * 17 + ["gspo"]
    assert {float(value) for datum in client.sent[-1] for value in datum.loss_fn_inputs["advantages"].to_numpy()} == {0.0}
    assert [adam.learning_rate for adam in client.adams] == [0.0]
    assert np.array_equal(client.model.W, before)  # type: ignore[union-attr]


def test_a_forward_pass_out_of_order_is_found_by_its_values() -> None:
    check = checked(client_that_mixes("forward"))
    assert check.outcome is Outcome.FAIL
    assert check.text == "the row of datum 0 is datum 8's: outputs are not in input order"


def test_gspo_out_of_order_is_found_where_the_forward_pass_is_in_order() -> None:
    check = checked(client_that_mixes("forward_backward"))
    assert check.outcome is Outcome.FAIL
    assert check.text == "gspo: the row of datum 0 is datum 8's: outputs are not in input order"


def test_a_server_without_gspo_is_judged_by_its_forward_pass() -> None:
    client = FakeClient(FakeTime(), model=BigramModel(vocabulary=256), fail_at={1: UnsupportedError("no gspo")})
    assert checked(client).outcome is Outcome.PASS


def test_what_cannot_be_asked_is_not_known_and_a_dead_server_ends_the_run(tmp_path: Path) -> None:
    def fail(error: BenchError) -> ResultWaiter:
        def wait(future: Any, stage: str) -> Any:
            raise error

        return wait  # type: ignore[return-value]

    client: Any = client_that_mixes()
    check = outputs_order.order_of(client, fail(BenchError("it refused.\nTry again.")), MADE)
    assert (check.outcome, check.text) == (Outcome.CANNOT_TELL, "it refused.")
    assert [warning.code for warning in outputs_order.warnings_of(check)] == ["ORDER_UNKNOWN"]
    with pytest.raises(ServerGoneError):
        outputs_order.order_of(client, fail(ServerGoneError("it died")), MADE)


def test_only_a_failed_check_speaks_against_the_number() -> None:
    failed = outputs_order.warnings_of(Check("order", Outcome.FAIL, "rows changed places", {}))
    assert [(warning.code, warning.unstable) for warning in failed] == [("OUTPUTS_OUT_OF_ORDER", True)]
    assert outputs_order.warnings_of(Check("order", Outcome.PASS, "fine", {})) == outputs_order.warnings_of(None) == []
