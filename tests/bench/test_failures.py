"""What the SDK raises, put into words: the texts are those that servers were seen to send."""

import time

import httpx
import pytest
import tinker

from bench.errors import BenchError, ServerGoneError, UnsupportedError
from bench.failures import MAX_DETAIL, detail_of, explain, is_occupied
from bench.probe import Probe

PROBE = Probe("http://server:8000")
NO_GSPO = "Loss functions ['gspo'] are not supported by the JAX backend"


def test_a_loss_that_the_backend_lacks_is_unsupported_and_named() -> None:
    error = explain(ValueError(f'Error code: 400 - {{"detail": "{NO_GSPO}"}}'), "forward_backward", PROBE)
    assert isinstance(error, UnsupportedError)
    assert str(error) == "the server's JAX backend has no loss 'gspo'"


def test_a_lost_connection_is_a_server_that_is_gone() -> None:
    lost = tinker.APIConnectionError(request=httpx.Request("GET", "http://server:8000"))
    error = explain(lost, "forward", PROBE)
    assert isinstance(error, ServerGoneError)
    assert str(error) == "forward: the connection to http://server:8000 was lost: Connection error."


def test_a_server_that_only_trains_is_told_to_take_a_batch() -> None:
    error = explain(ValueError("Sampling is unavailable on a trainer-only server"), "preparing the sampler", PROBE)
    assert isinstance(error, UnsupportedError)
    assert "--batch FILE" in str(error)


def test_any_other_failure_is_a_failed_run_with_the_stage_and_the_servers_words() -> None:
    error = explain(RuntimeError("CUDA out of memory"), "optim_step", PROBE)
    assert type(error) is BenchError
    assert str(error) == "optim_step: the server at http://server:8000 failed: CUDA out of memory"


@pytest.mark.parametrize(
    ("text", "occupied"),
    [
        ("FSDP backend supports a single LoRA adapter", True),
        ("the trainer already has a 'policy' model", True),
        ("Maximum number of LoRA adapters (1) reached", True),
        ("CUDA out of memory", False),
        ("", False),
    ],
)
def test_a_server_that_is_taken_is_told_from_one_that_failed(text: str, occupied: bool) -> None:
    assert is_occupied(ValueError(text)) is occupied


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("Error code: 404 - {'detail': 'Model not found'}", "Model not found"),
        ('Error code: 400 - {"detail": "no \'gspo\' here"}', "no 'gspo' here"),
        ("a\n  b\tc", "a b c"),
        ("\x1b[2J\x07red\x1b[0m \ud800", "[2J red [0m"),
        ("", "ValueError"),
        ("\x1b", "ValueError"),
    ],
)
def test_the_servers_own_words_are_taken_out(text: str, detail: str) -> None:
    assert detail_of(ValueError(text)) == detail


def test_a_long_text_is_cut() -> None:
    cut = detail_of(ValueError("x" * 10_000))
    assert len(cut) == MAX_DETAIL and cut.endswith("…")


def test_a_page_of_megabytes_is_searched_only_at_its_start() -> None:
    text = "'detail': '" * 1_000_000
    started_s = time.process_time()
    assert len(detail_of(ValueError(text))) == MAX_DETAIL
    assert not is_occupied(ValueError(text + "single LoRA adapter"))
    assert time.process_time() - started_s < 1.0
