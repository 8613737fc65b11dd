"""What holds for all tests: no property test is judged by the machine's speed, and the process ends with pytest's own exit code."""

import os
import sys

import pytest

try:
    import hypothesis
except ModuleNotFoundError:  # the stack's tests run with pytest alone
    pass
else:
    # An example's deadline fails where something else has the processor for a moment, and so does a limit on making examples.
    hypothesis.settings.register_profile("any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.load_profile("any machine")

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
