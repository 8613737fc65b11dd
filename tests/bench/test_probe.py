"""What one look at a server finds: on a real socket, with servers that are odd in every way."""

import socket
import threading
from collections.abc import Iterator

import httpx
import pytest

from bench import probe as probes
from bench.errors import InputError
from bench.probe import Health, Probe
from tests.bench.fakes import HEALTHY, http_server, json_answer


@pytest.fixture
def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def silent_url() -> Iterator[str]:
    """A server that accepts and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def hasty_url() -> Iterator[str]:
    """A server that hangs up on everyone."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)

        def hang_up() -> None:
            try:
                while True:
                    listener.accept()[0].close()
            except OSError:
                pass

        threading.Thread(target=hang_up, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "localhost",
        "ftp://x",
        "http://",
        "http:///path",
        "http://x:0",
        "http://x:99999",
        "http://x:port",
        "http://[::1",
    ],
)
def test_an_address_that_is_none_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(InputError, match=r"is no address: give one such as http://localhost:8000"):
        Probe(url)


@pytest.mark.parametrize("url", ["http://localhost:8000", "https://tinker.example/base", "http://[::1]:8000", "http://10.0.0.1"])
def test_an_address_with_a_host_is_taken(url: str) -> None:
    assert Probe(url).base_url == url


@pytest.mark.parametrize(
    ("answer", "health"),
    [
        (json_answer('{"status": "ok"}'), Health.OK),
        (json_answer('{"status": "starting"}'), Health.NOT_TINKER),
        (json_answer("{}"), Health.NOT_TINKER),
        (json_answer("[]"), Health.NOT_TINKER),
        (json_answer('"ok"'), Health.NOT_TINKER),
        (json_answer(""), Health.NOT_TINKER),
        (json_answer("[" * 200_000), Health.NOT_TINKER),
        ((200, "text/html", b"<html>Welcome to nginx!</html>"), Health.NOT_TINKER),
        ((200, "application/json", b"\xff\xfe\x00"), Health.NOT_TINKER),
        (json_answer('{"status": "ok"}', status=404), Health.NOT_TINKER),
        (json_answer("{}", status=500), Health.NOT_TINKER),
        (json_answer("{}", status=503), Health.NOT_TINKER),
        (json_answer("", status=302), Health.NOT_TINKER),
    ],
)
def test_health_is_what_the_server_answers(answer: tuple[int, str, bytes], health: Health) -> None:
    with http_server({"/api/v1/healthz": answer}) as url:
        assert Probe(url).health() is health


def test_a_port_without_a_server_refuses(free_port: int) -> None:
    assert Probe(f"http://127.0.0.1:{free_port}").health() is Health.REFUSED


def test_a_host_that_no_one_knows_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_arguments: object, **_names: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert Probe("http://server.invalid:8000").health() is Health.UNKNOWN_HOST


def test_a_server_that_never_answers_is_silent(silent_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "TIMEOUT_S", 0.1)
    probe = Probe(silent_url)
    assert probe.health() is Health.SILENT
    assert probe.environment() is None
    assert probe.tenants() is None


def test_a_server_that_hangs_up_is_silent(hasty_url: str) -> None:
    assert Probe(hasty_url).health() is Health.SILENT
    assert Probe(hasty_url).environment() is None


def test_what_another_tinker_server_lacks_is_none() -> None:
    with http_server(dict(HEALTHY)) as url:
        probe = Probe(url)
        assert probe.health() is Health.OK
        assert probe.environment() is None
        assert probe.tenants() is None


@pytest.mark.parametrize("text", ["[]", "null", "3", '"x"', "<html>", "", "[" * 200_000])
def test_an_environment_that_is_no_object_is_none(text: str) -> None:
    with http_server({"/gspo-bench/environment": json_answer(text)}) as url:
        assert Probe(url).environment() is None


def test_numbers_that_are_not_finite_are_null_so_that_they_can_be_written() -> None:
    with http_server({"/gspo-bench/environment": json_answer('{"a": NaN, "b": -Infinity, "c": 1e999, "d": 0.5}')}) as url:
        assert Probe(url).environment() == {"a": None, "b": None, "c": None, "d": 0.5}


@pytest.mark.parametrize(
    ("text", "tenants"),
    [
        ('[{"model_id": "m"}, 3, null]', [{"model_id": "m"}]),
        ("[]", []),
        ("{}", None),
        ("null", None),
        ("<html>", None),
    ],
)
def test_tenants_are_objects_in_a_list_or_none(text: str, tenants: list[dict[str, str]] | None) -> None:
    with http_server({"/gspo-bench/tenants": json_answer(text)}) as url:
        assert Probe(url).tenants() == tenants


def test_a_post_gives_the_answer_or_an_http_error() -> None:
    with http_server({"/api/v1/unload_model": json_answer('{"request_id": "7"}')}) as url:
        assert Probe(url).post("/api/v1/unload_model", {"model_id": "m"}, timeout_s=5.0) == {"request_id": "7"}
        with pytest.raises(httpx.HTTPStatusError):
            Probe(url).post("/api/v1/other", {}, timeout_s=5.0)
