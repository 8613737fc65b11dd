"""Ends the test process with pytest's own exit code."""

import os
import sys

import pytest

STATUS = pytest.StashKey[int]()


def pytest_sessionfinish(session, exitstatus):
    session.config.stash[STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Leaves without tearing the interpreter down: beneath the native threads of JAX, torch and the SDK that aborted once, after a pass."""
    if STATUS in config.stash:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[STATUS])
