"""A model on the server for as long as a run lasts: created, possibly after waiting for another tenant, and always unloaded."""

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import tenacity
import tinker

from bench import tenants
from bench.clock import Clock
from bench.errors import BenchError, InputError, ServerGoneError, UnsupportedError
from bench.failures import detail_of, is_occupied
from bench.probe import Probe
from bench.telling import Telling
from bench.wait import ResultWaiter, in_thread

TESTED_SDK = "0.25."
UNLOAD_ASKED_S = 10.0
UNLOAD_DEADLINE_S = 60.0
GIVE_BACK_WITHIN_S = 2.0
GIVE_BACK_POLL_S = 0.2
TENANT_POLL_S = 5.0
# SkyRL frees a silent session's models after 300 s and looks every 60 s.
TENANT_MARGIN_S = 90.0


@dataclass(frozen=True)
class Session:
    """A connection with one LoRA model on it; `service` reaches what else the server has.

    `gone` are the sessions that hold a model though their clients were gone before it was made.
    """

    client: tinker.TrainingClient
    model: str
    probe: Probe
    service: Any = None
    gone: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ModelRequest:
    """The model to create: its name (None: the one that the server has), the LoRA rank and the seed of its initialisation.

    With `state`, the path of a saved state, the model starts from that, its optimizer included.
    """

    model: str | None
    lora_rank: int
    seed: int
    wait_for_tenant: bool
    state: str | None = None


@contextlib.contextmanager
def open_session(probe: Probe, wait: ResultWaiter, request: ModelRequest, say: Callable[[str], None]) -> Iterator[Session]:
    """Creates the model, which on a GPU server loads the weights, and unloads it however the block ends.

    Raises:
        UnsupportedError: the server does not have the model, or another client that lives uses it and it was not asked to wait.
        ServerGoneError: the server died or did not answer in time.
    """
    _check_sdk()
    while True:
        gone = _be_alone(probe, wait, request.wait_for_tenant)
        service = wait(in_thread(lambda: _service_client(probe)), "connecting")
        model = _choose_model(service, wait, request.model)
        say(f"creating a LoRA model of rank {request.lora_rank} on {model}")
        client = _create(service, probe, wait, request, model, gone, say)
        try:
            first = tenants.ahead_of(probe, client.model_id, gone)
            if not first:
                yield Session(client, model, probe, service, gone)
                return
        finally:
            _unload(client, probe, say)
        if not request.wait_for_tenant:
            raise _beside(first[0])


def _check_sdk() -> None:
    if not tinker.__version__.startswith(TESTED_SDK):
        raise InputError(
            f"tinker {tinker.__version__} is installed; SkyRL 0.4.0 speaks with tinker {TESTED_SDK}x only.\n"
            f"pip install 'tinker>=0.25,<0.26', or use the client image."
        )


def _be_alone(probe: Probe, wait: ResultWaiter, may_wait: bool) -> frozenset[str]:
    """A server that holds several models would let two clients time each other's steps.

    Gives the sessions that hold a model though their clients are gone.
    """
    clock, telling, say = wait.clock, Telling(first_s=0.0), wait.say
    start_s = clock.now_s()
    while True:
        before = tenants.others(probe)
        alive = tenants.alive(probe, before, clock, say)
        if not alive:
            return tenants.sessions(before)
        words = tenants.describe_one(alive[0])
        if not may_wait:
            raise _beside(alive[0])
        waited_s = clock.now_s() - start_s
        if waited_s >= wait.deadline_s:
            raise ServerGoneError(f"the server was still in use after {wait.deadline_s:.0f} s: {words}")
        if telling.due(waited_s):
            wait.say(f"{words} Waiting for its end.")
        say = _unsaid  # every further look is the same
        clock.sleep(TENANT_POLL_S)


def _beside(tenant: tenants.Tenant) -> UnsupportedError:
    return UnsupportedError(
        f"{tenants.describe_one(tenant)} Each would be timed into the other's steps.\n"
        "Wait for it with --wait-for-tenant, or end the run that holds it."
    )


def _unsaid(text: str) -> None:
    pass


def _service_client(probe: Probe) -> tinker.ServiceClient:
    # The SDK's telemetry would post to the server while steps are timed.
    os.environ["TINKER_TELEMETRY"] = "0"
    key = os.environ.get("TINKER_API_KEY") or "tml-local"
    service = tinker.ServiceClient(base_url=probe.base_url, api_key=key, user_metadata=tenants.who())
    _ = service.holder
    return service


def _choose_model(service: tinker.ServiceClient, wait: ResultWaiter, asked: str | None) -> str:
    capabilities = wait(in_thread(service.get_server_capabilities), "asking what the server serves")
    served = [entry.model_name for entry in capabilities.supported_models if entry.model_name]
    if asked is None:
        if len(served) != 1:
            raise InputError(f"the server has {len(served)} models ({', '.join(served[:5])}): choose one with --model.")
        return str(served[0])
    if served and asked not in served:
        raise UnsupportedError(
            f"the server does not have {asked!r}; it has {', '.join(served[:5])}.\nGive that as --model, or leave --model out."
        )
    return asked


def _create(
    service: tinker.ServiceClient,
    probe: Probe,
    wait: ResultWaiter,
    request: ModelRequest,
    model: str,
    silent: frozenset[str],
    say: Callable[[str], None],
) -> tinker.TrainingClient:
    def create() -> tinker.TrainingClient:
        if request.state is not None:
            return service.create_training_client_from_state_with_optimizer(request.state)
        return service.create_lora_training_client(model, rank=request.lora_rank, seed=request.seed)

    def attempt() -> tinker.TrainingClient:
        asked = in_thread(create)
        try:
            client: tinker.TrainingClient = wait(asked, "creating the model")
            return client
        except BaseException as error:
            if not (asked.done() and asked.exception()):
                _give_back(service, probe, wait.clock)
            if isinstance(error, BenchError) and error.__cause__ is not None and is_occupied(error.__cause__):  # type: ignore[arg-type]
                raise _OccupiedError(tenants.describe(probe)) from error
            raise

    def is_left() -> bool:
        return bool(silent) and tenants.sessions(tenants.others(probe)) <= silent

    def may_wait(error: BaseException) -> bool:
        return isinstance(error, _OccupiedError) and (request.wait_for_tenant or is_left())

    try:
        return attempt()
    except _OccupiedError as occupied:
        if not may_wait(occupied):
            raise _refused(occupied) from occupied
        deadline_s = tenants.freed_within_s(probe) + TENANT_MARGIN_S
        why = "Its client is gone. " if is_left() else ""
        say(f"{occupied} {why}Waiting for that, {deadline_s:.0f} s at most.")
        return _create_when_free(attempt, may_wait, probe, deadline_s, wait.clock, say)


def _refused(occupied: BaseException) -> UnsupportedError:
    return UnsupportedError(f"{occupied}\nWait for it with --wait-for-tenant, or end the run that holds it.")


def _create_when_free(
    attempt: Callable[[], tinker.TrainingClient],
    may_wait: Callable[[BaseException], bool],
    probe: Probe,
    deadline_s: float,
    clock: Clock,
    say: Callable[[str], None],
) -> tinker.TrainingClient:
    start_s, telling = clock.now_s(), Telling()

    def tell(state: tenacity.RetryCallState) -> None:
        waited_s = clock.now_s() - start_s
        if telling.due(waited_s):
            say(f"the server is still taken after {waited_s:.0f} s; waiting at most {deadline_s:.0f} s")

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception(may_wait),
        wait=tenacity.wait_fixed(TENANT_POLL_S),
        stop=lambda state: clock.now_s() - start_s >= deadline_s,
        before_sleep=tell,
        sleep=clock.sleep,
    )
    try:
        return retrying(attempt)
    except _OccupiedError as occupied:
        raise _refused(occupied) from occupied
    except tenacity.RetryError:
        raise ServerGoneError(f"the server was still taken after {deadline_s:.0f} s: {tenants.describe(probe)}") from None


class _OccupiedError(Exception):
    pass


def _give_back(service: tinker.ServiceClient, probe: Probe, clock: Clock) -> None:
    """Has the server drop what was asked for and not waited for, right after it has made it. The request may still be on its way there."""
    session_id, end_s = service.holder.get_session_id(), clock.now_s() + GIVE_BACK_WITHIN_S
    while (listed := probe.tenants()) is not None:
        asked_for = [entry.get("model_id") for entry in listed if entry.get("session_id") == session_id]
        for model_id in asked_for:
            with contextlib.suppress(httpx.HTTPError, ValueError):  # the server frees it when the session ends
                probe.post("/api/v1/unload_model", {"model_id": model_id}, timeout_s=UNLOAD_ASKED_S)
        if asked_for or clock.now_s() >= end_s:
            return
        clock.sleep(GIVE_BACK_POLL_S)


def _unload(client: tinker.TrainingClient, probe: Probe, say: Callable[[str], None]) -> None:
    """Frees the server's only place at once; a server that is gone has nothing to free."""
    try:
        answer: Any = probe.post("/api/v1/unload_model", {"model_id": client.model_id}, timeout_s=UNLOAD_ASKED_S)
        probe.post("/api/v1/retrieve_future", {"request_id": answer["request_id"]}, timeout_s=UNLOAD_DEADLINE_S)
    except (httpx.HTTPError, KeyError, TypeError, ValueError) as error:
        say(f"the model {client.model_id} could not be unloaded ({detail_of(error)}); the server frees it when the session ends")
