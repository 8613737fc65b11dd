"""Ports of this machine: whether something listens on one, and the next one where nothing does."""

import socket

LOOK_S = 1.0
HIGHEST = 65_535


def listens(port: int) -> bool:
    """Whether something accepts connections on 127.0.0.1."""
    with socket.socket() as probe:
        probe.settimeout(LOOK_S)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_after(port: int) -> int | None:
    """The next higher port on which nothing listens, None where none of the next twenty is such a one."""
    return next((other for other in range(port + 1, min(port + 21, HIGHEST + 1)) if not listens(other)), None)
