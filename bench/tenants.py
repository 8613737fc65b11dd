"""Who else holds a model on the server, in words, and whether that client still lives."""

import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.clock import Clock
from bench.probe import Probe

# The SDK sends a heartbeat every 10 s: a session without one in more than two of these has lost its client.
HEARTBEATS_WITHIN_S = 22.0
LOOK_EVERY_S = 1.0
UNKNOWN_S = 400.0
LONGEST_S = 86_400.0
MOST_NAMED = 3
Tenant = dict[str, Any]


def who() -> dict[str, str]:
    """What this process tells the server of itself."""
    return {"program": "gspo-bench", "host": socket.gethostname(), "pid": str(os.getpid())}


def alive(probe: Probe, before: Sequence[Tenant], clock: Clock, say: Callable[[str], None]) -> list[Tenant]:
    """Other clients' sessions that hold a model and are new or move their heartbeat since `before`; at once where there were none."""
    if not before:
        return []
    say(f"{describe_one(before[0])} Looking whether its client lives, for {HEARTBEATS_WITHIN_S:.0f} s at most.")
    seen = {_beat(entry) for entry in before}
    end_s = clock.now_s() + HEARTBEATS_WITHIN_S
    while clock.now_s() < end_s:
        clock.sleep(LOOK_EVERY_S)
        now = others(probe)
        moved = [entry for entry in now if _beat(entry) not in seen]
        if moved or not now:
            return moved
    return []


def sessions(entries: Sequence[Tenant]) -> frozenset[str]:
    """Which sessions these are of."""
    return frozenset(str(entry.get("session_id")) for entry in entries)


def ahead_of(probe: Probe, model_id: str, gone: frozenset[str]) -> list[Tenant]:
    """Of clients that found the server free at the same moment, those whose models were asked for before this one."""
    listed = probe.tenants() or []
    place = next((index for index, entry in enumerate(listed) if entry.get("model_id") == model_id), 0)
    return [entry for entry in listed[:place] if _is_others(entry) and str(entry.get("session_id")) not in gone]


@dataclass
class Company:
    """Other clients that held a model while steps were timed; `gone` are sessions whose clients were gone before."""

    probe: Probe
    gone: frozenset[str]
    seen: dict[str, Tenant] = field(default_factory=dict)

    def look(self) -> None:
        """Between two timed steps: it asks the server."""
        for entry in others(self.probe):
            if (session := str(entry.get("session_id"))) not in self.gone:
                self.seen.setdefault(session, entry)

    def words(self) -> str | None:
        """Who it was, None where this client was alone."""
        if not self.seen:
            return None
        who_they_were = ", ".join(holder(entry) for entry in list(self.seen.values())[:MOST_NAMED])
        more = f" and {len(self.seen) - MOST_NAMED} more" if len(self.seen) > MOST_NAMED else ""
        return f"steps were timed while others held a model on the server: {who_they_were}{more}"


def describe(probe: Probe) -> str:
    """Who holds a single-tenant server and when it is freed, as far as the server tells."""
    tenants = probe.tenants()
    if not tenants:
        return (
            "the server holds one model at a time, and another session has it; "
            "SkyRL frees it 300 s after that session's last heartbeat, if it had one."
        )
    return describe_one(tenants[0])


def describe_one(tenant: Tenant) -> str:
    """The same of one session."""
    freed_s = _expires_in_s(tenant)
    if freed_s is None:
        when = "freed when that session ends"
    elif freed_s < 1:
        when = "silent for longer than its timeout: freed when the server has done the request in hand"
    else:
        when = f"freed in {freed_s:.0f} s if it stays silent"
    return f"the server is taken: {holder(tenant)} holds model {tenant.get('model_id')}, {when}."


def holder(tenant: Tenant) -> str:
    """A session and whose it is."""
    told = tenant.get("user_metadata")
    client = told if isinstance(told, dict) else {}
    whose = f"{client.get('program', 'a client')} on {client.get('host', 'an unknown host')}, pid {client.get('pid', '?')}"
    return f"session {tenant.get('session_id')} ({whose})"


def freed_within_s(probe: Probe) -> float:
    """Seconds until the last of the sessions counts as left, if all stay silent."""
    waits_s = [seconds for tenant in probe.tenants() or [] if (seconds := _expires_in_s(tenant)) is not None]
    return max(waits_s) if waits_s else UNKNOWN_S


def _expires_in_s(tenant: Tenant) -> float | None:
    value = tenant.get("expires_in_s")
    return float(value) if isinstance(value, int | float) and 0 <= value <= LONGEST_S else None


def _beat(tenant: Tenant) -> tuple[str, str]:
    return str(tenant.get("session_id")), str(tenant.get("last_heartbeat_at"))


def others(probe: Probe) -> list[Tenant]:
    """The other clients' models."""
    return [entry for entry in probe.tenants() or [] if _is_others(entry)]


def _is_others(tenant: Tenant) -> bool:
    return bool(tenant.get("user_metadata") != who())
