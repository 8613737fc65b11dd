"""What differs between two runs, by hand, and how it is printed."""

import io
import re

import pytest
from rich.console import Console

from bench.compare.differences import MAX_ROWS, NOT_TOLD, differences, short, text_of
from bench.compare.render import NO_DIFFERENCE, markdown, print_changes, print_differences
from bench.compare.report import report
from bench.result_file import of_document
from tests.bench.documents import PUBLISHED, SCHEMA1, document, with_value


def found(where: tuple[str | int, ...], value: object) -> dict[str, tuple[str, str]]:
    """The differences that a changed value of the file makes."""
    rows = differences(of_document(SCHEMA1, "a"), of_document(with_value(SCHEMA1, where, value), "b")).rows
    return {row.name: (row.a, row.b) for row in rows}


def printed(a: object, b: object) -> str:
    out = io.StringIO()
    made = report(of_document(a, "a.json"), of_document(b, "b.json"))
    console = Console(file=out, width=110, highlight=False)
    print_differences(made, console)
    print_changes(made, console)
    return out.getvalue()


SERVER = SCHEMA1["environment"]["server"]


@pytest.mark.parametrize(
    ("where", "value", "name", "b"),
    [
        (("settings", "seed"), 7, "settings.seed", "7"),
        (("settings", "learning_rate"), 2e-6, "settings.learning_rate", "2e-06"),
        (("batch", "sha256"), "e" * 64, "batch.sha256", "e" * 64),
        (("summary", "model"), "m2", "model", "m2"),
        (("environment", "server", "backend"), "other", "server.backend", "other"),
        (("environment", "server", "backend_config"), {"a": {"b": False}}, "server.backend_config.a.b", "no"),
        (("environment", "server", "versions", "tinker"), "9.9", "server.versions.tinker", "9.9"),
        (("environment", "server", "image"), "sha256:1", "server.image", "sha256:1"),
        (("environment", "server", "cuda"), "13.0", "server.cuda", "13.0"),
        (("environment", "client", "python"), "3.99", "client.python", "3.99"),
        (("native_1pass", "chunks_per_call"), 2, "native_1pass.chunks_per_call", "2"),
    ],
)
def test_a_changed_fact_is_one_row(where: tuple[str, ...], value: object, name: str, b: str) -> None:
    rows = found(where, value)
    assert rows[name][1] == b
    assert len(rows) == 1 or name == "server.backend_config.a.b"


def test_a_section_that_an_older_file_lacks_is_one_row_and_memory_in_use_is_none() -> None:
    rows = found(("environment", "server", "model_config"), {"hidden_size": 64, "dtype": "float32"})
    assert rows == {"server.model_config": (NOT_TOLD, "2 facts")}
    assert found(("environment", "client", "peak_memory_bytes"), 12345) == {}


def test_gpus_differ_by_name_driver_and_memory_and_not_by_what_is_used() -> None:
    l4 = {"name": "NVIDIA L4", "driver": "580.1", "total_bytes": 24 * 2**30, "used_bytes": 1}
    rows = found(("environment", "server", "gpus"), [l4])
    assert rows["server.gpus"] == ("none", "NVIDIA L4")
    assert rows["server.gpus.driver"] == (NOT_TOLD, "580.1")
    assert rows["server.gpus.memory"] == (NOT_TOLD, "24.0 GiB")
    a = with_value(SCHEMA1, ("environment", "server", "gpus"), [l4])
    b = with_value(SCHEMA1, ("environment", "server", "gpus"), [l4 | {"used_bytes": 5}])
    assert differences(of_document(a, "a"), of_document(b, "b")).rows == ()


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("created_at",), "2027-01-01T00:00:00Z"),
        (("batch", "file"), "elsewhere.json"),
        (("batch", "response_lengths"), [1]),
        (("environment", "memory"), []),
        (("native_1pass", "mean_s"), 5.0),
    ],
)
def test_when_where_and_how_long_are_no_differences_of_the_setup(where: tuple[str, ...], value: object) -> None:
    assert found(where, value) == {}


def test_what_a_file_does_not_tell_is_summed_up_rather_than_listed() -> None:
    made = differences(of_document(PUBLISHED, "p"), of_document(document([1.0], [2.0]), "b"))
    assert made.a_untold == ("batch", "settings", "server", "client", "requests")
    assert made.b_untold == ()
    assert {row.name for row in made.rows} == {"model", "target tokens a step"}


def test_a_setting_that_only_one_has_is_a_row() -> None:
    assert found(("settings", "new_setting"), True) == {"settings.new_setting": (NOT_TOLD, "yes")}


def test_rows_beyond_the_most_are_counted() -> None:
    many = SCHEMA1["settings"] | {f"s{index}": index for index in range(MAX_ROWS + 5)}
    made = differences(of_document(SCHEMA1, "a"), of_document(SCHEMA1 | {"settings": many}, "b"))
    assert (len(made.rows), made.left_out) == (MAX_ROWS, 5)
    assert "... and 5 more." in printed(SCHEMA1, SCHEMA1 | {"settings": many})


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (None, "x", "none"),
        (True, "x", "yes"),
        (1, "x", "1"),
        (1.0, "x", "1"),
        (1e-6, "x", "1e-06"),
        (16 * 2**30, "memory_bytes", "16.0 GiB"),
        (5, "memory_bytes", "5"),
        (["a", 1, None], "x", "a, 1, none"),
        ([], "x", "none"),
        ({"a": {"b": [1]}}, "x", "{a: {b: 1}}"),
        ("a\nb\x1b[31m", "x", "a b [31m"),
        (10**400, "x", "1" + "0" * 400),
        (10**400, "memory_bytes", "1" + "0" * 400),
    ],
)
def test_values_in_words(value: object, name: str, text: str) -> None:
    assert text_of(value, name) == text


def test_hashes_are_shown_by_their_first_digits_and_long_values_cut() -> None:
    assert short("sha256:" + "0123456789abcdef" * 4) == "0123456789ab"
    assert short("x" * 500) == "x" * 117 + "..."
    assert short("x" * 64) == "x" * 64


def test_equal_runs_say_that_nothing_differs_and_what_steps_cannot_show() -> None:
    text = printed(SCHEMA1, SCHEMA1)
    assert NO_DIFFERENCE in text
    assert text.startswith("A: a.json; taken 2026-11-30T09:00:00Z")
    assert "no difference that 8 steps can show" in " ".join(text.replace("│", " ").split())
    assert text.rstrip().endswith("run each side again on a fresh server.")


def test_differences_stand_before_the_changes() -> None:
    text = printed(SCHEMA1, with_value(SCHEMA1, ("settings", "seed"), 7))
    assert text.index("settings.seed") < text.index("what they show")


def test_partial_files_and_warnings_against_the_numbers_are_named() -> None:
    warned = {"code": "DRIFT", "text": "t", "action": "a", "unstable": True}
    text = printed(document([1.0] * 4), document([1.0] * 4, [2.0], status="partial", reason="it died", warnings=[warned]))
    assert "B: b.json; taken 2026-11-30T09:00:00Z; partial (it died); its own warnings speak against its numbers: DRIFT" in text
    assert "Only B has custom_2pass." in text


def test_markdown_keeps_what_a_file_says_out_of_the_markup() -> None:
    nasty = "a|b`c`<img src=x>@team\n| x |"
    made = report(of_document(SCHEMA1, "a.json"), of_document(with_value(SCHEMA1, ("settings", "prompts"), nasty), "b.json"))
    text = markdown(made, with_changes=True)
    row = next(line for line in text.splitlines() if "settings.prompts" in line)
    assert row.endswith("| `a\\|b'c'<img src=x>@team \\| x \\|` |")
    assert row.replace("\\|", "").count("|") == 4
    assert text.index("<details>") < text.index("</details>") < text.index("what they show")
    assert "<details><summary>1 difference between the runs</summary>" in text


def test_markdown_has_the_minus_sign_of_the_readmes_tables_and_a_terminal_a_plain_one() -> None:
    a, b = document([1.0, 1.1, 0.9, 1.0]), document([1.1, 0.9, 1.0, 1.0])
    made = report(of_document(a, "a-1.json"), of_document(b, "b-2.json"))
    text = markdown(made, with_changes=True)
    assert (
        re.search(r"interval \N{MINUS SIGN}\d+\.\d to \+\d+\.\d %", text)
        and " -" not in text.partition("what they show")[2].split("---")[-1]
    )
    assert "`A: a-1.json;" in text
    assert re.search(r"interval -\d", " ".join(printed(a, b).replace("│", " ").split()))


def test_markdown_of_what_may_not_be_compared_has_no_changes() -> None:
    made = report(of_document(SCHEMA1, "a.json"), of_document(with_value(SCHEMA1, ("summary", "model"), "m2"), "b.json"))
    text = markdown(made, with_changes=False)
    assert "**Not comparable:** `another model (tiny-qwen3; m2)`" in text
    assert "what they show" not in text
