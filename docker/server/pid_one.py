"""The first process of a container, where nobody gave it an init: SkyRL asks for its parent, and orphans are this process's to collect."""

import os
import signal

# All that ask a server to end or to look up, but for the two that a process cannot hear.
HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def step_aside() -> None:
    """As process 1, goes on in a child, and stays behind to hand signals on, to collect what ended, and to end as the child does.

    Call it before any thread is started. Anywhere else it does nothing.
    """
    if os.getpid() != 1:
        return
    heard = (*HANDED_ON, signal.SIGCHLD)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    child = os.fork()
    if child == 0:
        os.setsid()  # a terminal's Ctrl-C is for process 1, which hands it on: once, not twice
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return
    while True:
        number = signal.sigwait(heard)
        if number != signal.SIGCHLD:
            os.kill(child, number)
        elif (code := _collect(child)) is not None:
            os._exit(code)


def _collect(child: int) -> int | None:
    """Collects all that ended; the child's exit code once it is among them, 128 and the signal's number where one ended it."""
    code = None
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if ended == 0:
            return code
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            code = 128 - code if code < 0 else code
