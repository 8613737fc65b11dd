"""What this server needs of SkyRL beside its public names: checks, logging, and a start without torch."""

import asyncio
import importlib.metadata
import logging
import os
import sys
from pathlib import Path

EXPECTED_VERSION = "0.4.0"
API_PID = "GSPO_BENCH_API_PID"  # the variable that tells the engine whose it is


def skyrl_version() -> str:
    """The installed SkyRL's version, or "none"."""
    try:
        return importlib.metadata.version("skyrl")
    except importlib.metadata.PackageNotFoundError:
        return "none"


def mismatch(problem: str) -> str:
    """The message for an upstream that is not as expected: what is missing, then which version would have it."""
    return (
        f"error: {problem}\n"
        f"This server was written for skyrl {EXPECTED_VERSION} and found {skyrl_version()}: install skyrl=={EXPECTED_VERSION}."
    )


def allow_without_torch() -> None:
    """Lets SkyRL's JAX backend start where torch is not installed, which saves gigabytes.

    It imports torch for images alone and peft for one config file: the stand-ins of both come last on the path, after real ones.
    """
    sys.path.append(str(Path(__file__).resolve().parent / "without_torch"))


def quiet_logs() -> None:
    """Plain one-line logs on stderr at INFO, the engine's (timing) lines among them, unwrapped and without colours."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(_is_news)
    for name in ("skyrl", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False
    logging.getLogger("absl").setLevel(logging.ERROR)
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")


def _is_news(record: logging.LogRecord) -> bool:
    """Not the traceback of a request that was cut off by the server's stop: there are as many as clients wait."""
    return not (record.exc_info and record.exc_info[0] is asyncio.CancelledError)
