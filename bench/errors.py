"""What a run can end with: one class an exit code, each with a message of one or two lines."""

from typing import Any

EXIT_DONE = 0
EXIT_INTERRUPTED = 130


class BenchError(Exception):
    """The run failed. `str(error)` is one or two lines: what is wrong, with the value; what to do."""

    exit_code = 1


class InputError(BenchError):
    """A flag, an environment variable or a file is wrong."""

    exit_code = 2


class UnsavedError(InputError):
    """A run was measured whole and its file could not be written; `document` is what it would have held."""

    def __init__(self, message: str, document: dict[str, Any]) -> None:
        super().__init__(message)
        self.document = document


class ServerGoneError(BenchError):
    """The server was not reachable, died, or did not answer within its deadline."""

    exit_code = 3


class UnsupportedError(BenchError):
    """The server cannot do what was asked, such as a loss that its backend lacks."""

    exit_code = 4


class NotEquivalentError(BenchError):
    """Two paths that must take the same step do not."""

    exit_code = 5


class UnstableError(BenchError):
    """With `--strict`: the run cannot support its number."""

    exit_code = 6


class CompareError(BenchError):
    """Result files that cannot be compared, or a regression beyond what was allowed."""

    exit_code = 7
