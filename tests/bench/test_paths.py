"""The paths against a client whose latencies are known, and their gradients against a toy model's."""

import importlib.util
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tinker

from bench import datums, torch_loss
from bench.batch import FrozenBatch, Sequence
from bench.errors import BenchError, InputError
from bench.gspo import Clip
from bench.path_names import CONTROL, label
from bench.paths import Native, Path, SdkCustom, TwoPass, paths_by_name
from tests.bench.fakes import SMALL_BATCH, BigramModel, FakeClient, FakeTime, setup_of

BOTH: list[Path] = [Native(), TwoPass()]


def client_of(submit_s: float = 0.0) -> FakeClient:
    """Forward 1 s, forward and backward 2 s, optimizer 0.5 s."""
    return FakeClient(FakeTime(), submit_s=submit_s)


def test_the_fused_step_takes_its_two_requests_and_its_phases_sum_to_it() -> None:
    outcome = Native().step(setup_of(client_of(submit_s=0.01)))
    # The optimizer step is sent while the gradient is computed: one call's 0.01 s is hidden behind the other's 2 s.
    assert outcome.step_s == pytest.approx(2.51)
    expected = {"encode": 0.0, "submit": 0.02, "forward_backward_wait": 1.99, "optimizer_wait": 0.5}
    assert outcome.phases_s == pytest.approx(expected)
    assert sum(outcome.phases_s.values()) == pytest.approx(outcome.step_s)


def test_two_passes_take_their_three_requests_and_their_phases_sum_to_them() -> None:
    outcome = TwoPass().step(setup_of(client_of(submit_s=0.01)))
    expected = {
        "encode": 0.0,
        "forward_wait": 1.01,
        "decode": 0.0,
        "weights": 0.0,
        "submit": 0.02,
        "forward_backward_wait": 1.99,
        "optimizer_wait": 0.5,
    }
    assert outcome.phases_s == pytest.approx(expected)
    assert outcome.step_s == pytest.approx(3.52)


@pytest.mark.parametrize(("path", "seconds"), [(Native(), 2.52), (TwoPass(), 3.53)])
def test_blocking_pays_for_sending_the_optimizer_step_too(path: Path, seconds: float) -> None:
    outcome = path.step(setup_of(client_of(submit_s=0.01), blocking=True))
    # Sent only when the gradient is in: 0.01 s more than the sum of what is hidden otherwise.
    assert outcome.step_s == pytest.approx(seconds)
    assert sum(outcome.phases_s.values()) == pytest.approx(outcome.step_s)


def test_the_fused_path_sends_the_optimizer_step_before_it_waits() -> None:
    client = client_of()
    Native().step(setup_of(client))
    assert client.events == ["send forward_backward", "send optim_step", "got forward_backward", "got optim_step"]
    assert client.losses == ["gspo"]
    assert client.configs == [{"clip_low_threshold": 0.8, "clip_high_threshold": 1.2}]


def test_two_passes_cannot_send_their_gradient_before_the_forward_is_in() -> None:
    client = client_of()
    TwoPass().step(setup_of(client))
    assert client.events == [
        "send forward",
        "got forward",
        "send forward_backward",
        "send optim_step",
        "got forward_backward",
        "got optim_step",
    ]
    assert client.losses == ["cross_entropy", "importance_sampling"]


def test_blocking_waits_for_each_call_before_the_next() -> None:
    client = client_of()
    setup = setup_of(client, blocking=True)
    Native().step(setup)
    TwoPass().step(setup)
    assert client.events == [
        *("send forward_backward", "got forward_backward", "send optim_step", "got optim_step"),
        *("send forward", "got forward"),
        *("send forward_backward", "got forward_backward", "send optim_step", "got optim_step"),
    ]


@pytest.mark.parametrize("blocking", [False, True])
def test_two_forward_passes_are_never_in_flight_together(blocking: bool) -> None:
    client = client_of()
    setup = setup_of(client, blocking=blocking)
    for path in (*BOTH, *BOTH):
        path.step(setup)
    assert client.most_in_flight == 1
    assert client.in_flight == 0


@pytest.mark.parametrize(("path", "losses"), [(Native(), ["gspo"]), (TwoPass(), ["cross_entropy", "importance_sampling"])])
def test_a_path_makes_as_many_requests_as_it_says_with_its_losses_in_order(path: Path, losses: list[str]) -> None:
    client = client_of()
    path.step(setup_of(client))
    assert sum(event.startswith("send") for event in client.events) == path.requests
    assert list(client.losses) == losses


def test_the_servers_metrics_of_both_calls_are_kept_and_what_is_no_number_is_null() -> None:
    assert Native().step(setup_of(client_of())).metrics == {"loss:sum": 2.0, "odd": None, "grad_norm": 1.5}


def test_every_wait_names_its_stage() -> None:
    stages: list[str] = []

    def wait(future: Any, stage: str) -> Any:
        stages.append(stage)
        return future.result(timeout=600.0)

    setup = replace(setup_of(client_of()), wait=wait)
    TwoPass().step(setup)
    assert stages == ["forward", "forward_backward", "optim_step"]


def test_the_sdks_custom_loss_waits_for_its_forward_inside_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_loss, "for_batch", lambda batch, clip: None)
    client = client_of()
    outcome = SdkCustom().step(setup_of(client))
    assert outcome.step_s == pytest.approx(3.5)
    assert outcome.phases_s == pytest.approx(
        {"encode": 0.0, "forward_wait": 1.0, "submit": 0.0, "forward_backward_wait": 2.0, "optimizer_wait": 0.5}
    )
    assert client.events[:3] == ["send forward", "got forward", "send forward_backward"]
    assert [sorted(datum.loss_fn_inputs) for datum in client.sent[0]] == [["target_tokens", "weights"]] * 2


def test_outputs_in_another_order_end_the_step_and_are_not_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of()
    batch = FrozenBatch((Sequence((1,), (2, 3), (-1.0, -1.0), 1.0), Sequence((1,), (2,), (-1.0,), 1.0)), "toy", "by hand")
    rows = client._rows
    monkeypatch.setattr(client, "_rows", lambda data: rows(data[::-1]))
    with pytest.raises(BenchError, match="out of order"):
        TwoPass().step(setup_of(client, batch))
    assert "send forward_backward" not in client.events


# --- gradients -------------------------------------------------------------------------------------------------------------------------

# Log ratios of the six sequences: inside, above and below 0.8 to 1.2, with either advantage. exp(0.3) = 1.35, exp(-0.3) = 0.74.
CASES = [(0.0, 1.0), (0.3, 1.0), (-0.3, 1.0), (0.3, -1.0), (-0.3, -1.0), (0.1, -2.0)]


def off_policy(model: BigramModel, cases: list[tuple[float, float]], seed: int = 3) -> FrozenBatch:
    """Sequences whose old logprobs are the model's shifted by the case's log ratio, plus waves of mean 0 that only a token ratio sees."""
    random = np.random.default_rng(seed)
    sequences = []
    for log_ratio, advantage in cases:
        prompt, response = (tuple(int(token) for token in random.integers(0, 12, size=count)) for count in (3, 4))
        drawn = Sequence(prompt, response, (0.0,) * 4, advantage)
        new_T = model.logprobs_T(datums.forward_datum(drawn))[-4:]
        waves = np.array([0.5, -0.5, 0.25, -0.25])
        sequences.append(replace(drawn, response_logprobs=tuple(float(value) for value in new_T - log_ratio + waves)))
    return FrozenBatch(tuple(sequences), "toy", "by hand")


def weights_after(path: Path, cases: list[tuple[float, float]], clip: Clip) -> tuple[np.ndarray, np.ndarray]:
    """The toy model's weights before and after one step of a path."""
    client = FakeClient(FakeTime(), model=BigramModel())
    assert client.model is not None
    before = client.model.W.copy()
    path.step(replace(setup_of(client, off_policy(client.model, cases)), clip=clip))
    return before, client.model.W


@pytest.mark.parametrize(
    ("cases", "clip"),
    [
        (CASES, Clip(0.8, 1.2)),
        ([(0.0, 1.0), (0.0, -1.0)], Clip(0.9997, 1.0004)),
        ([(0.001, 1.0), (0.001, -1.0), (-0.001, 1.0), (-0.001, -1.0)], Clip(0.9997, 1.0004)),
        ([(2.0, -1.0), (-3.0, 0.5)], Clip(0.5, 1.5)),
    ],
    ids=["both sides of the clip", "on policy", "a thousandth off policy, the paper's clip", "far off policy"],
)
def test_fused_and_two_passes_move_the_weights_alike(cases: list[tuple[float, float]], clip: Clip) -> None:
    before, fused = weights_after(Native(), cases, clip)
    _, two_pass = weights_after(TwoPass(), cases, clip)
    moved = np.abs(fused - before).max()
    assert moved > 1e-3
    assert np.abs(fused - two_pass).max() < 1e-5 * moved


def test_clipped_sequences_do_not_move_the_weights_on_either_path() -> None:
    clipped = [(0.3, 1.0), (-0.3, -1.0)]
    for path in BOTH:
        before, after = weights_after(path, clipped, Clip(0.8, 1.2))
        np.testing.assert_allclose(after, before, atol=1e-12)


def test_two_passes_send_the_new_logprobs_and_zero_where_clipped() -> None:
    client = FakeClient(FakeTime(), model=BigramModel())
    assert client.model is not None
    batch = off_policy(client.model, CASES)
    expected_TT = [client.model.logprobs_T(datums.forward_datum(sequence)) for sequence in batch.sequences]
    TwoPass().step(setup_of(client, batch))
    sent = client.sent[1]
    for datum, expected_T in zip(sent, expected_TT, strict=True):
        np.testing.assert_allclose(datum.loss_fn_inputs["logprobs"].to_numpy(), expected_T, rtol=1e-6)
    advantages = [float(datum.loss_fn_inputs["advantages"].to_numpy()[-1]) for datum in sent]
    # s A inside, 0 beyond the clip on the advantage's side: 1, 0, exp(-.3), -exp(.3), 0, -2 exp(.1).
    assert advantages == pytest.approx([1.0, 0.0, 0.740818, -1.349859, 0.0, -2.210342], abs=1e-5)


def test_weights_left_out_are_another_objective_altogether() -> None:
    model = BigramModel()
    batch = off_policy(model, [(0.0, -1.0), (0.0, 1.0)])
    for sequence in batch.sequences:
        datum = datums.gspo_datum(sequence)
        bare = {name: value for name, value in datum.loss_fn_inputs.items() if name != "weights"}
        model.backward(tinker.Datum(model_input=datum.model_input, loss_fn_inputs=bare), "gspo", Clip().as_loss_fn_config())
    without = model.gradient
    model.gradient = np.zeros_like(without)
    for sequence in batch.sequences:
        model.backward(datums.gspo_datum(sequence), "gspo", Clip().as_loss_fn_config())
    apart, size = np.abs(without - model.gradient).max(), np.abs(model.gradient).max()
    assert apart > 0.5 * size


def test_the_torch_loss_has_the_surrogates_gradient() -> None:
    torch = pytest.importorskip("torch")
    sequence = Sequence((1, 2), (3, 4), (-1.0, -1.0), 2.0)
    loss = torch_loss.for_batch(FrozenBatch((sequence,), "toy", ""), Clip(0.8, 1.2))
    new_T = torch.tensor([-5.0, -0.9, -0.9], requires_grad=True)
    value, metrics = loss([], [new_T])
    value.backward()
    surrogate = 2.0 * math.exp(0.1)
    assert new_T.grad.tolist() == pytest.approx([0.0, -surrogate, -surrogate], rel=1e-5)
    assert metrics == {}


# --- names -----------------------------------------------------------------------------------------------------------------------------


def test_paths_are_found_by_name_in_the_order_asked_for() -> None:
    assert [path.name for path in paths_by_name(["custom_2pass", "native_1pass"])] == ["custom_2pass", "native_1pass"]


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["fused"], "unknown path 'fused': choose from native_1pass, custom_2pass, sdk_custom"),
        ([""], "unknown path ''"),
        ([CONTROL], "unknown path 'native_1pass_control'"),
        (["native_1pass", "native_1pass"], "named twice in native_1pass,native_1pass"),
    ],
)
def test_wrong_names_are_refused(names: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        paths_by_name(names)


def test_the_sdks_custom_loss_without_torch_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs torch on the client.*\n.*pip install torch"):
        paths_by_name(["native_1pass", "sdk_custom"])


def test_labels_are_words_and_an_unknown_name_is_its_own() -> None:
    assert [label(name) for name in ("native_1pass", "custom_2pass", "sdk_custom", CONTROL, "other")] == [
        *("fused", "two-pass", "SDK custom", "control", "other")
    ]


def test_a_batch_is_encoded_anew_for_each_step_and_never_changed() -> None:
    client = client_of()
    before = SMALL_BATCH.sha256
    for path in BOTH:
        path.step(setup_of(client))
    assert SMALL_BATCH.sha256 == before
