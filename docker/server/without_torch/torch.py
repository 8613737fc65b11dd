"""Stands in for torch where it is not installed: skyrl.backends.renderer imports it, and uses it for images only."""

from typing import NoReturn


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(f"torch.{name}: torch is not installed here; this server trains on text alone")
