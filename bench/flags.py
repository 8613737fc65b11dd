"""Flags and types that several commands share."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


class FiniteFloat(click.FloatRange):
    """A float in a range that is neither NaN nor infinite."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


_SERVER_OPTIONS = (
    click.option("--base-url", default="http://localhost:8000", show_default=True, help="The Tinker server's address."),
    click.option("--model", help="The base model, by the name the server knows.  [default: the one that the server has]"),
    click.option("--lora-rank", type=click.IntRange(1, 1024), default=32, show_default=True),
    click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True),
    click.option("--deadline-s", type=FiniteFloat(min=1), default=600.0, show_default=True, help="Longest wait for one result."),
    click.option("--ready-deadline-s", type=FiniteFloat(min=1), default=1800.0, show_default=True, help="Longest wait while starting."),
    click.option("--wait-for-tenant", is_flag=True, help="Wait for a client that uses the server; for one that is gone it waits anyway."),
    click.option(
        "--results", type=click.Path(path_type=Path), default=Path("results"), show_default=True, help="Folder for what is written."
    ),
)


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags that every command with a server has."""
    for option in reversed(_SERVER_OPTIONS):
        command = option(command)
    return command
