"""The terminal's lines of a `bench verify` file: what each check found."""

from typing import Any

from rich.console import Console

from bench.json_object import JsonObject, printable
from bench.preset_name import preset_name

KIND = "gspo-bench-verify"


def is_verify(document: Any) -> bool:
    """Whether a document that was read is of this kind."""
    return isinstance(document, dict) and document.get("kind") == KIND


def line(outcome: str, name: str, text: str) -> str:
    """A check in one line."""
    return printable(f"{outcome:<11} {name:<13} {text}")


def print_verify(document: dict[str, Any], name: str, console: Console) -> None:
    """Prints the checks of a file. Raises InputError for a value of another type than ours."""
    root = JsonObject(name, "", document)
    server = root.object("environment").object("server")
    gpus = [gpu.text("name") or "unnamed GPU" for gpu in server.objects("gpus")]
    where = ", ".join([*gpus, *(text for text in (server.text("backend"), preset_name(server)) if text)])
    weights = f", {weights} weights" if (weights := server.text("weights")) else ""
    console.print(printable(f"{root.text('model') or 'unnamed model'}{weights}: {where or 'unknown server'}"), markup=False, soft_wrap=True)
    for check in root.objects("checks"):
        console.print(line(check.text("outcome") or "", check.text("name") or "", check.text("text") or ""), markup=False, soft_wrap=True)
