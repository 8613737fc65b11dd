"""What this server needs of SkyRL beside its public names: checks, logging and an import that would cost gigabytes."""

import importlib
import importlib.metadata
import importlib.util
import logging
import os
import sys
import types

EXPECTED_VERSION = "0.4.0"


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


def import_renderer() -> None:
    """Imports skyrl.backends.renderer, also where torch is not installed.

    The module imports torch and uses it for images only; a text server on the JAX backend needs none of its gigabytes. The
    stand-in is taken away again, so that every other library sees torch as not installed.
    """
    if importlib.util.find_spec("torch") is not None:
        return
    sys.modules["torch"] = types.ModuleType("torch")
    try:
        importlib.import_module("skyrl.backends.renderer")
    finally:
        del sys.modules["torch"]


def quiet_logs() -> None:
    """Plain one-line logs on stderr at INFO, the engine's (timing) lines among them, unwrapped and without colours."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for name in ("skyrl", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
