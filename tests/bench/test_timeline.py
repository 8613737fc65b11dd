"""A step's timeline, on times written down by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.timeline import Call, Request, Stage, timeline_s

# A fused step from 0 to 10: encoded until 1, sent until 2, its gradient in at 7, the optimizer's result at 10.
NATIVE_STAGES = (
    Stage("encode", 0.0, 1.0),
    Stage("submit", 1.0, 2.0),
    Stage("forward_backward_wait", 2.0, 7.0),
    Stage("optimizer_wait", 7.0, 10.0),
)
NATIVE_CALLS = (Call("forward_backward", 1.0, 7.0), Call("optim_step", 1.0, 10.0))


def test_a_fused_steps_time_is_split_at_the_servers_moments() -> None:
    requests = (Request("forward_backward", 1.5, 2.5, 6.0), Request("optim_step", 1.8, 7.5, 9.0))
    assert timeline_s(NATIVE_STAGES, NATIVE_CALLS, requests) == pytest.approx(
        {
            "encode": 1.0,
            "submit": 0.5,  # 1 to 1.5, until the first request is stored
            "queued": 1.0 + 1.5,  # 1.5 to 2.5, and the optimizer's from the gradient's end at 6 to 7.5
            "engine_forward_backward": 3.5,
            "engine_optim_step": 1.5,
            "fetch": 1.0,  # 9 to 10
            "unexplained": 0.0,
        }
    )


def test_two_passes_show_the_way_back_between_them() -> None:
    stages = (
        Stage("encode", 0.0, 1.0),
        Stage("forward_wait", 1.0, 5.0),
        Stage("decode", 5.0, 5.5),
        Stage("weights", 5.5, 6.0),
        Stage("submit", 6.0, 6.5),
        Stage("forward_backward_wait", 6.5, 9.0),
        Stage("optimizer_wait", 9.0, 10.0),
    )
    calls = (Call("forward", 1.0, 5.0), Call("forward_backward", 6.0, 9.0), Call("optim_step", 6.0, 10.0))
    requests = (Request("forward", 2.0, 2.5, 4.0), Request("forward_backward", 6.25, 6.5, 8.5), Request("optim_step", 6.5, 8.5, 9.5))
    assert timeline_s(stages, calls, requests) == pytest.approx(
        {
            "encode": 1.0,
            "submit": 1.0 + 0.25,
            "queued": 0.5 + 0.25,
            "engine_forward": 1.5,
            "engine_forward_backward": 2.0,
            "engine_optim_step": 1.0,
            "fetch": 1.0 + 0.5,
            "decode": 0.5,
            "weights": 0.5,
            "unexplained": 0.0,
        }
    )


def test_time_that_neither_side_accounts_for_is_unexplained() -> None:
    found = timeline_s(NATIVE_STAGES, NATIVE_CALLS, [])
    assert found == pytest.approx({"encode": 1.0, "unexplained": 9.0})


def test_work_that_the_engine_did_not_record_is_unexplained_and_not_fetching() -> None:
    requests = (Request("forward_backward", 1.5, None, None), Request("optim_step", 1.8, 7.5, 9.0))
    found = timeline_s(NATIVE_STAGES, NATIVE_CALLS, requests)
    # The optimizer waits in the queue from 1.8 on, whatever the gradient does.
    assert found == pytest.approx({"encode": 1.0, "submit": 0.8, "queued": 5.7, "engine_optim_step": 1.5, "fetch": 1.0, "unexplained": 0.0})


def test_the_sdks_own_autograd_is_unexplained() -> None:
    stages = (Stage("encode", 0.0, 1.0), Stage("forward_wait", 1.0, 6.0), Stage("forward_backward_wait", 6.0, 10.0))
    calls = (Call("forward", 1.0, None), Call("forward_backward", 6.0, 10.0))
    requests = (Request("forward", 2.0, 2.0, 3.0), Request("forward_backward", 5.5, 6.5, 9.0))
    found = timeline_s(stages, calls, requests)
    # From 1 to 2 and from 3 to 5.5 only the SDK knows what it does.
    assert found == pytest.approx(
        {"encode": 1.0, "queued": 1.0, "engine_forward": 1.0, "engine_forward_backward": 2.5, "fetch": 1.0, "unexplained": 3.5}
    )


moments = st.floats(-5.0, 15.0)


@given(st.lists(st.tuples(st.sampled_from(["forward_backward", "optim_step"]), moments, st.none() | moments, st.none() | moments)))
def test_whatever_the_server_says_the_phases_sum_to_the_step(told: list[tuple[str, float, float | None, float | None]]) -> None:
    found = timeline_s(NATIVE_STAGES, NATIVE_CALLS, [Request(*entry) for entry in told])
    assert sum(found.values()) == pytest.approx(10.0)
    assert all(seconds >= 0.0 for seconds in found.values())
