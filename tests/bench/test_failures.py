"""What the SDK raises, put into words: the texts are those that servers were seen to send."""

import time

import httpx
import pytest
import tinker
from tinker.types import RequestErrorCategory

from bench.errors import BenchError, ServerGoneError, UnsupportedError
from bench.failures import detail_of, explain, is_occupied
from bench.fault import LONGEST
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
    assert str(error) == "optim_step: the server at http://server:8000 failed: CUDA out of memory\nIts log has the rest."


def failed(text: str) -> tinker.RequestFailedError:
    """As the SDK words a request that a server took and failed at."""
    message = f"Request failed: {text} for self.request_id='7' and expected type self.model_cls=<class 'tinker.types.CreateModelResponse'>"
    return tinker.RequestFailedError(message, request_id="7", category=RequestErrorCategory.Server)


RAY = '\x1b[36mray::W.offload_to_cpu()\x1b[39m (pid=7, ip=10.0.0.2)\n  File "/w.py", line 9, in f\n    x.y()\nAttributeError: '


def test_a_failed_request_is_told_by_the_servers_exception_alone() -> None:
    error = explain(failed(f"{RAY}undefined symbol: numa_parse_nodestring"), "creating the model", PROBE)
    assert str(error) == (
        "creating the model: the server at http://server:8000 failed: "
        "AttributeError: undefined symbol: numa_parse_nodestring (missing library: libnuma.so.1)\nIts log has the rest."
    )


def test_a_servers_own_attribute_error_is_not_taken_for_an_answer_that_cannot_be_read() -> None:
    error = explain(failed(f"{RAY}'NoneType' object has no attribute 'y'"), "forward", PROBE)
    assert "failed: AttributeError: 'NoneType' object has no attribute 'y'\n" in str(error)


def test_an_exception_that_an_answer_quotes_is_found_behind_its_escaped_lines() -> None:
    assert detail_of(ValueError(f"Error code: 500 - {{'detail': {RAY + 'no x'!r}}}")) == "AttributeError: no x"


def test_the_exception_at_the_end_of_a_long_text_is_found() -> None:
    assert detail_of(failed(RAY + "first\n\n" + "frame\n" * 9_000 + "KeyError: 'last'")) == "KeyError: 'last'"


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
        ("\x1b[2J\x07red\x1b[0m \ud800", "red"),
        ("", "ValueError"),
        ("\x1b", "ValueError"),
    ],
)
def test_the_servers_own_words_are_taken_out(text: str, detail: str) -> None:
    assert detail_of(ValueError(text)) == detail


def test_a_long_text_is_cut() -> None:
    cut = detail_of(ValueError("x" * 10_000))
    assert len(cut) == LONGEST and "x…x" in cut


def test_a_page_of_megabytes_is_searched_only_at_its_ends() -> None:
    text = "'detail': '" * 1_000_000
    started_s = time.process_time()
    assert len(detail_of(ValueError(text))) == LONGEST
    assert not is_occupied(ValueError(text + "single LoRA adapter" + text))
    assert time.process_time() - started_s < 1.0
