"""What `bench show` prints of a verify file."""

import io
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from bench.errors import InputError
from bench.show_command import show_command
from bench.verify_table import print_verify

DOCUMENT: dict[str, Any] = {
    "schema": 1,
    "kind": "gspo-bench-verify",
    "model": "Qwen/[red]x",
    "checks": [
        {"name": "order", "outcome": "pass", "text": "a batch's logprobs are each datum's own", "numbers": {}},
        {"name": "mask", "outcome": "cannot tell", "text": "the server returns no loss\x1b[2J", "numbers": {}},
    ],
    "environment": {"server": {"gpus": [{"name": "NVIDIA L4"}], "backend": "fsdp", "preset": "l4", "weights": "random"}},
}


def printed(document: dict[str, Any]) -> list[str]:
    out = io.StringIO()
    print_verify(document, "f.json", Console(file=out, width=110, highlight=False))
    return out.getvalue().splitlines()


def test_each_check_is_a_line_under_what_was_checked() -> None:
    lines = printed(DOCUMENT)
    assert lines[0] == "Qwen/[red]x, random weights: NVIDIA L4, fsdp, l4"
    assert lines[1] == "pass        order         a batch's logprobs are each datum's own"
    assert lines[2].startswith("cannot tell mask          the server returns no loss")
    assert "\x1b" not in lines[2]


def test_a_preset_with_settings_over_it_is_called_so() -> None:
    server = DOCUMENT["environment"]["server"] | {"preset_changed": ["a", "b"]}
    assert printed(DOCUMENT | {"environment": {"server": server}})[0].endswith("fsdp, l4 with 2 settings changed")


def test_a_server_that_told_nothing_is_unknown() -> None:
    assert printed({**DOCUMENT, "environment": {"server": None}})[0] == "Qwen/[red]x: unknown server"


def test_values_of_another_type_are_named() -> None:
    with pytest.raises(InputError, match="checks is a list, not a list of objects"):
        printed({**DOCUMENT, "checks": [3]})


def test_show_prints_the_published_file() -> None:
    path = Path(__file__).parents[2] / "results" / "published" / "h200-qwen3-0.6b-l4-preset-verify.json"
    shown = CliRunner().invoke(show_command, [str(path)])
    assert shown.exit_code == 0
    assert [line.split()[:2] for line in shown.output.splitlines()[1:]] == [
        ["pass", name] for name in ("order", "mask", "accumulation", "equivalence")
    ]
