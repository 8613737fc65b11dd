"""Who else holds a model on the server, in words, and whether that client still lives."""

import os
import socket
from collections.abc import Callable
from typing import Any

from bench.clock import Clock
from bench.probe import Probe

# The SDK sends a heartbeat every 10 s: a session without one in more than two of these has lost its client.
HEARTBEATS_WITHIN_S = 22.0
LOOK_EVERY_S = 1.0
UNKNOWN_S = 400.0
LONGEST_S = 86_400.0
Tenant = dict[str, Any]


def who() -> dict[str, str]:
    """What this process tells the server of itself."""
    return {"program": "gspo-bench", "host": socket.gethostname(), "pid": str(os.getpid())}


def alive(probe: Probe, clock: Clock, say: Callable[[str], None]) -> list[Tenant]:
    """Other clients' sessions that hold a model and whose heartbeat was seen to move; at once where there are none."""
    before = _others(probe)
    if not before:
        return []
    say(f"{describe_one(before[0])} Looking whether its client lives, for {HEARTBEATS_WITHIN_S:.0f} s at most.")
    seen = {_beat(entry) for entry in before}
    end_s = clock.now_s() + HEARTBEATS_WITHIN_S
    while clock.now_s() < end_s:
        clock.sleep(LOOK_EVERY_S)
        now = _others(probe)
        moved = [entry for entry in now if _beat(entry) not in seen]
        if moved or not now:
            return moved
    return []


def holders(probe: Probe) -> frozenset[str]:
    """The other clients' sessions that hold a model."""
    return frozenset(str(entry.get("session_id")) for entry in _others(probe))


def describe(probe: Probe) -> str:
    """Who holds a single-tenant server and when it is freed, as far as the server tells."""
    tenants = probe.tenants()
    if not tenants:
        return "the server holds one model at a time, and another session has it; SkyRL frees it 300 s after that session's last heartbeat."
    return describe_one(tenants[0])


def describe_one(tenant: Tenant) -> str:
    """The same of one session."""
    told = tenant.get("user_metadata")
    client = told if isinstance(told, dict) else {}
    holder = f"{client.get('program', 'a client')} on {client.get('host', 'an unknown host')}, pid {client.get('pid', '?')}"
    freed_s = _expires_in_s(tenant)
    if freed_s is None:
        when = "freed when that session ends"
    elif freed_s < 1:
        when = "silent for longer than its timeout: freed when the server has done the request in hand"
    else:
        when = f"freed in {freed_s:.0f} s if it stays silent"
    return f"the server is taken: session {tenant.get('session_id')} ({holder}) holds model {tenant.get('model_id')}, {when}."


def freed_within_s(probe: Probe) -> float:
    """Seconds until the last of the sessions counts as left, if all stay silent."""
    waits_s = [seconds for tenant in probe.tenants() or [] if (seconds := _expires_in_s(tenant)) is not None]
    return max(waits_s) if waits_s else UNKNOWN_S


def _expires_in_s(tenant: Tenant) -> float | None:
    value = tenant.get("expires_in_s")
    return float(value) if isinstance(value, int | float) and 0 <= value <= LONGEST_S else None


def _beat(tenant: Tenant) -> tuple[str, str]:
    return str(tenant.get("session_id")), str(tenant.get("last_heartbeat_at"))


def _others(probe: Probe) -> list[Tenant]:
    ours = who()
    return [entry for entry in probe.tenants() or [] if entry.get("user_metadata") != ours]
