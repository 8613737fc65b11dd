"""The process's end, without the interpreter's teardown, during which native threads of the SDK's transport may abort it.

A run that was stopped once ended with 134, an abort, after all was kept and said. Up to CPython 3.13 a thread that asks for the
interpreter once its teardown has begun is ended by pthread_exit, which no frame of Rust or C++ lets through.
"""

import atexit
import os
import sys
from collections.abc import Callable

UNFLUSHED = 120  # Python's own code where what was printed could not be written


class _Leaving:
    code: int | None = None

    def __call__(self) -> None:
        """Called last of all that is registered for the end, when threads have been waited for."""
        if self.code is None:
            return
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                self.code = self.code or UNFLUSHED
        os._exit(self.code)


def leaving(main: Callable[[], None]) -> None:
    """Calls main and ends the process with its exit code; call it before anything else that registers for the end is imported.

    An exception that is no SystemExit ends the process as it always does.
    """
    end = _Leaving()
    atexit.register(end)
    try:
        main()
        end.code = 0
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):  # a text for stderr is left to Python
            end.code = ended.code or 0
        raise
