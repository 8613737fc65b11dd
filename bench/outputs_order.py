"""Whether a server returns its outputs in the order of its inputs. Asked before anything is timed where a batch is spread over devices."""

from collections.abc import Sequence as Sequences
from dataclasses import replace
from typing import Any

import tinker

from bench import datums, paths
from bench.batch import Sequence
from bench.checks import Check, Outcome, order_check
from bench.environment import device_count
from bench.errors import BenchError, ServerGoneError, UnsupportedError
from bench.gspo import Clip
from bench.outputs import logprobs_of
from bench.run_warnings import RunWarning
from bench.wait import ResultWaiter


def is_worth_asking(server: dict[str, Any] | None) -> bool:
    """Whether this kind of server can mix its outputs up: one with several devices, or Megatron, which has been seen to."""
    return (device_count(server) or 1) > 1 or (server or {}).get("backend") == "megatron"


def check_outputs_order(client: tinker.TrainingClient, wait: ResultWaiter, made: Sequences[Sequence]) -> Check:
    """Compares the rows of a batch of `made` with those of each sequence alone: the forward pass's, then those that come with gspo.

    The weights stay: gspo is given advantages of 0, and the step behind it a learning rate of 0. A server without gspo, or whose gspo
    returns no logprobs, is judged by its forward pass alone.

    Raises:
        BenchError: the server could not be asked.
    """
    result = wait(client.forward([datums.forward_datum(sequence) for sequence in made], "cross_entropy"), "forward (a batch)")
    try:
        together = logprobs_of(result, made, "forward (a batch)")
    except BenchError as error:
        return Check("order", Outcome.FAIL, _reason(error), {})
    alone = []
    for index, sequence in enumerate(made):
        stage = f"forward (datum {index} alone)"
        alone += logprobs_of(wait(client.forward([datums.forward_datum(sequence)], "cross_entropy"), stage), [sequence], stage)
    forward = order_check(alone, together, made)
    if forward.outcome is not Outcome.PASS:
        return forward
    try:
        fused = _fused(client, wait, made)
    except UnsupportedError:
        return forward
    if not all("logprobs" in row for row in fused.loss_fn_outputs):
        return forward
    try:
        found = order_check(alone, logprobs_of(fused, made, "gspo (a batch)"), made)
    except BenchError as error:
        return Check("order", Outcome.FAIL, _reason(error), {})
    return forward if found.outcome is Outcome.PASS else replace(found, text=f"gspo: {found.text}")


def order_of(client: tinker.TrainingClient, wait: ResultWaiter, made: Sequences[Sequence]) -> Check:
    """The same for a run, which a check that cannot be made does not end.

    Raises:
        ServerGoneError: the server died.
    """
    try:
        return check_outputs_order(client, wait, made)
    except ServerGoneError:
        raise
    except BenchError as error:
        return Check("order", Outcome.CANNOT_TELL, _reason(error), {})


def warnings_of(check: Check | None) -> list[RunWarning]:
    """What a run's reader must know of the check."""
    if check is None or check.outcome is Outcome.PASS:
        return []
    if check.outcome is Outcome.FAIL:
        action = "What this server trains is not what was asked: do not use the numbers. Try another server setting or version."
        return [RunWarning("OUTPUTS_OUT_OF_ORDER", check.text, action)]
    text = f"whether outputs come in input order is not known: {check.text}"
    return [RunWarning("ORDER_UNKNOWN", text, "Check it with bench verify before trusting a learning run.", unstable=False)]


def _fused(client: tinker.TrainingClient, wait: ResultWaiter, made: Sequences[Sequence]) -> Any:
    data = [datums.gspo_datum(replace(sequence, advantage=0.0)) for sequence in made]
    result = wait(client.forward_backward(data, paths.GSPO, Clip().as_loss_fn_config()), "gspo (a batch)")
    wait(client.optim_step(tinker.AdamParams(learning_rate=0.0)), "optim_step")
    return result


def _reason(error: BenchError) -> str:
    return str(error).split("\n", 1)[0]
