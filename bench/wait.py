"""All waiting: for the server to come up, and for each result, always with a deadline and a word on what for."""

import concurrent.futures
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import tenacity

from bench.clock import Clock
from bench.errors import BenchError, ServerGoneError
from bench.failures import explain
from bench.probe import Health, Probe
from bench.telling import Telling
from bench.wire import WireCounter

FIRST_LOOK_S = 10.0
LOOK_EVERY_S = 5.0
# The SDK repeats for ever what is answered with an error: a server that does nothing else for so long will not do better.
FAILING_S = 60.0
# How long a server may look like this before it counts as gone: a rented machine that is moved, or whose network is cut, comes back.
PATIENCE_S = {Health.REFUSED: 5.0, Health.UNKNOWN_HOST: 60.0, Health.NOT_TINKER: 60.0, Health.SILENT: 180.0}


@dataclass(frozen=True)
class ResultWaiter:
    """Waits for the SDK's futures. It looks at the server's health only when a result is slow, so that it does not disturb short steps.

    The SDK itself retries a lost connection for ever; this ends the wait when the server is gone. `wire` tells of
    requests that fail meanwhile.
    """

    probe: Probe
    deadline_s: float
    say: Callable[[str], None]
    clock: Clock = field(default_factory=Clock)
    wire: WireCounter | None = None

    def __call__(self, future: Any, stage: str, deadline_s: float | None = None) -> Any:
        """The result of `future`, which has `result(timeout)`.

        Raises:
            ServerGoneError: the deadline passed, or the server stopped answering, in the named stage.
            BenchError: the server answered with an error.
        """
        limit_s = self.deadline_s if deadline_s is None else deadline_s
        start_s = self.clock.now_s()
        slice_s = FIRST_LOOK_S
        unwell: _Unwell | None = None
        telling = Telling()
        while True:
            waited_s = self.clock.now_s() - start_s
            if waited_s >= limit_s:
                failure = self.wire.last_failure if self.wire else None
                raise ServerGoneError(
                    f"{stage}: no answer from {self.probe.base_url} within {limit_s:.0f} s{f'; {failure} at last' if failure else ''}.\n"
                    "Look at the server's log; raise --deadline-s if it only needs longer."
                )
            try:
                return future.result(timeout=min(slice_s, limit_s - waited_s))
            except TimeoutError as error:
                # A call in a thread may have failed with a timeout of its own: that is its result, not a reason to ask again at once.
                if isinstance(future, concurrent.futures.Future) and future.done() and future.exception() is error:
                    raise explain(error, stage, self.probe) from error
                unwell = self._look(stage, start_s, unwell)
                waited_s = self.clock.now_s() - start_s
                if unwell is None and telling.due(waited_s):
                    self.say(f"{stage}: waiting since {waited_s:.0f} s")
                slice_s = LOOK_EVERY_S
            except BenchError:
                raise
            except Exception as error:
                raise explain(error, stage, self.probe) from error

    def _look(self, stage: str, start_s: float, before: "_Unwell | None") -> "_Unwell | None":
        """Since when the server has not been healthy, None where it is."""
        looked_s = self.clock.now_s()
        health = self.probe.health()
        waited_s = self.clock.now_s() - start_s
        if self.wire and self.wire.failing_s() >= FAILING_S:
            since = f"since {self.wire.failing_s():.0f} s: {self.wire.last_failure}"
            raise BenchError(
                f"{stage}: the server at {self.probe.base_url} fails every request {since}.\n"
                "It may hold a result that it cannot send, such as one with NaN in it: look at its log."
            )
        if health is Health.OK:
            return None
        since_s = looked_s if before is None else before.since_s
        unwell = before if before and before.health is health else _Unwell(since_s, health)
        unwell_s = self.clock.now_s() - since_s
        if unwell_s >= PATIENCE_S[health]:
            raise ServerGoneError(
                f"{stage}: the server at {self.probe.base_url} stopped answering ({health.value}) after {waited_s:.0f} s.\n"
                "It has died or the network is down: look at its log."
            )
        if unwell.telling.due(unwell_s):
            left_s = PATIENCE_S[health] - unwell_s
            self.say(f"{stage}: the server does not answer ({health.value}); waiting for it {left_s:.0f} s more at most")
        return unwell


@dataclass(frozen=True)
class _Unwell:
    """A server that does not answer: since when, how it looks, and when that is told of."""

    since_s: float
    health: Health
    telling: Telling = field(default_factory=lambda: Telling(first_s=0.0))


def in_thread[T](call: Callable[[], T]) -> concurrent.futures.Future[T]:
    """Runs a blocking call in a daemon thread, so that a wait for it can end and the process too."""
    future: concurrent.futures.Future[T] = concurrent.futures.Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def until_healthy(probe: Probe, deadline_s: float, say: Callable[[str], None], clock: Clock | None = None) -> None:
    """Waits until the server's API answers. A server that was there and is gone ends the wait at once.

    Raises:
        ServerGoneError: not healthy within the deadline, or gone after it had been seen.
    """
    clock = clock or Clock()
    start_s = clock.now_s()
    seen: list[Health] = []
    telling = Telling()

    def look() -> Health:
        health = probe.health()
        if health is not Health.OK and _is_gone(seen, health):
            raise ServerGoneError(f"the server at {probe.base_url} died while starting ({health.value}): look at its log.")
        seen.append(health)
        return health

    def tell(state: tenacity.RetryCallState) -> None:
        waited_s = clock.now_s() - start_s
        if telling.due(waited_s):
            say(f"waiting for {probe.base_url} since {waited_s:.0f} s, for {deadline_s:.0f} s at most: {seen[-1].value}")

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_result(lambda health: health is not Health.OK),
        wait=tenacity.wait_fixed(0.5),
        stop=lambda state: clock.now_s() - start_s >= deadline_s,
        before_sleep=tell,
        sleep=clock.sleep,
    )
    try:
        retrying(look)
    except tenacity.RetryError:
        raise ServerGoneError(
            f"no server at {probe.base_url} within {deadline_s:.0f} s: {seen[-1].value}.\n"
            "Start one (make bench does), or give its address with --base-url."
        ) from None


def _is_gone(seen: list[Health], now: Health) -> bool:
    """A container's name resolves while it lives: once known and then unknown, it has exited."""
    return now is Health.UNKNOWN_HOST and any(health is not Health.UNKNOWN_HOST for health in seen)
