"""The first signal asks for an end, the second makes one."""

import os
import signal

import pytest

from bench.learn.stop import StopAfterStep


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_only_asks_and_the_second_interrupts(number: signal.Signals) -> None:
    before, said = signal.getsignal(number), list[str]()
    with StopAfterStep(said.append) as stop:
        assert not stop.requested
        os.kill(os.getpid(), number)
        assert stop.requested
        assert said == ["ending after this step, with a checkpoint; once more ends at once"]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before
