"""Reading result files: every shape that there is, and one line for whatever is none."""

import copy
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from bench import result_file
from bench.compare import samples
from bench.compare.render import markdown
from bench.compare.report import report
from bench.errors import InputError
from bench.export_command import as_csv
from bench.result_file import ResultFile, of_document, read
from bench.show_command import setup
from bench.table import print_result_file
from tests.bench.documents import DATA, PUBLISHED, SCHEMA1, document, with_value

ROOT = Path(__file__).parents[2]


def printed(result: ResultFile) -> str:
    out = io.StringIO()
    print_result_file(result, Console(file=out, width=110, highlight=False))
    return out.getvalue()


def refusal(source: Any) -> str:
    with pytest.raises(InputError) as raised:
        of_document(source, "f.json")
    message = str(raised.value)
    assert message.startswith("f.json") and "\n" not in message
    return message


def test_schema_1_is_read_whole() -> None:
    found = read(DATA / "schema1_gspo_bench.json")
    assert (found.schema, found.partial, found.model, found.sequences, found.tokens_per_step) == (1, False, "tiny-qwen3", 16, 1249)
    assert [path.name for path in found.paths] == ["native_1pass", "native_1pass_control", "custom_2pass", "sdk_custom"]
    native = found.path("native_1pass")
    assert native is not None
    assert (native.count, native.median_s, native.requests_per_step) == (8, 0.188734, 2)
    assert len(found.steps) == len(SCHEMA1["steps"])
    assert (found.steps[0].counted, found.steps[0].started_at, found.steps[0].step_s) == (False, "2026-11-30T09:00:00Z", 2.086394)
    paired = found.comparison("custom_2pass", "native_1pass")
    assert paired is not None and len(paired.savings_pct) == 8


def test_the_published_file_has_times_and_what_follows_from_them() -> None:
    found = read(DATA / "published_gspo_bench.json")
    assert (found.schema, found.partial, found.verdict, found.reduction_pct) == (0, False, None, 23.0)
    native = found.path("native_1pass")
    assert native is not None
    # The middle two of the eight times.
    assert (native.count, native.median_s) == (8, pytest.approx((12.792 + 12.859) / 2))
    assert len(found.steps) == 16 and all(step.counted and step.round is None for step in found.steps)


RESULTS = [path for path in sorted((ROOT / "results" / "published").glob("*.json")) if '"gspo-bench"' in path.read_text()]


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_every_published_result_can_be_read_and_shown(path: Path) -> None:
    found = read(path)
    assert found.verdict is not None and found.verdict in printed(found)


def test_a_partial_file_without_a_counted_step_is_a_result() -> None:
    found = of_document(document([], status="partial", reason="the server died"), "f.json")
    assert found.partial and found.paths == ()
    text = printed(found)
    assert text.startswith("PARTIAL tiny-qwen3") and "Partial: the server died" in text


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ([], "it holds a list, not an object"),
        ({}, "it has no schema and none of native_1pass"),
        ({"schema": 2, "kind": "gspo-bench"}, "has schema 2 and this version reads up to 1: use a newer gspo-bench"),
        ({"schema": None}, "schema is null"),
        ({"schema": True}, "schema is true"),
        ({"schema": 0}, "schema is 0"),
        ({"schema": "1"}, 'schema is "1"'),
        ({"schema": 1}, "its kind is null"),
        ({"schema": 1, "kind": "mine"}, 'its kind is "mine", not "gspo-bench". Give a file that bench run wrote'),
        ({"native_1pass": 3}, "native_1pass is 3, not an object"),
        ({"native_1pass": {"times": "1"}}, 'native_1pass.times is "1", not a list of numbers'),
        ({"native_1pass": {"times": [1.0, 0.0]}}, "native_1pass.times[1] is 0.0, not a number from 1e-09"),
        ({"native_1pass": {"times": [10**400]}}, "native_1pass.times[0] is 1000"),
        ({"native_1pass": {"mean_s": True}}, "native_1pass.mean_s is true"),
    ],
)
def test_what_is_no_result_file_ends_in_one_line_that_names_the_value(source: Any, says: str) -> None:
    assert says in refusal(source)


@pytest.mark.parametrize(
    ("where", "value", "says"),
    [
        (("status",), "done", 'status is "done", not complete or partial'),
        (("created_at",), "yesterday", 'created_at is "yesterday", not a time'),
        (("steps", 0, "started_at"), "=1+1", 'steps[0].started_at is "=1+1"'),
        (("steps", 1, "path"), "fused", 'steps[1].path is "fused", not native_1pass or'),
        (("steps", 1, "path"), None, "steps[1].path is null"),
        (("steps", 2, "step_s"), None, "steps[2].step_s is null"),
        (("steps", 2, "round"), -1, "steps[2].round is -1, not a whole number"),
        (("steps", 2, "phases_s", "encode"), "x", 'steps[2].phases_s.encode is "x"'),
        (("steps",), [1], "steps is a list, not a list of objects"),
        (("comparisons", 0, "savings_pct"), [1.0, None], "comparisons[0].savings_pct[1] is null"),
        (("warnings",), {}, "warnings is an object"),
        (("environment", "server"), [], "environment.server is a list"),
        (("summary", "model"), 7, "summary.model is 7, not a text"),
        (("settings",), "none", 'settings is "none", not an object'),
    ],
)
def test_a_value_of_another_type_is_named_with_its_place(where: tuple[str | int, ...], value: Any, says: str) -> None:
    assert says in refusal(with_value(SCHEMA1, where, value))


def test_deep_nesting_is_refused() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    assert "nested too deeply" in refusal(SCHEMA1 | {"settings": {"a": deep}})


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b'{"native_1pass": {"times": [NaN]}}', b"[" * 100_000, b"\x00"])
def test_a_file_that_is_no_json_ends_in_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read(path)
    assert "\n" not in str(raised.value)


def test_a_file_larger_than_any_result_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_file, "MAX_RESULT_BYTES", 10)
    path = tmp_path / "f.json"
    path.write_text(json.dumps(SCHEMA1))
    with pytest.raises(InputError, match="at most 10"):
        read(path)


def test_folders_and_devices_are_not_read(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/zero"), tmp_path / "none.json", tmp_path / ("x" * 300)):
        with pytest.raises(InputError):
            read(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, where: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Where every value of a document stands."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([where] if where else []), *(place for key, item in inner for place in places(item, (*where, key)))]


SHORT = copy.deepcopy(SCHEMA1)
SHORT["steps"] = SHORT["steps"][:3]
SHORT_PLACES = places(SHORT)
BASE = of_document(SHORT, "base.json")


@settings(max_examples=80, deadline=None)
@given(where=st.sampled_from(SHORT_PLACES), value=json_values)
def test_any_value_anywhere_is_read_and_printed_or_refused_in_one_line(where: tuple[str | int, ...], value: Any) -> None:
    try:
        found = of_document(with_value(SHORT, where, value), "f.json")
    except InputError as error:
        assert "\n" not in str(error) and len(str(error)) < 400
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "RESAMPLES", 50)
        made = report(BASE, found)
    setup(found)
    text = printed(found) + markdown(made, not made.refused) + as_csv([found])
    assert "\x1b" not in text
    text.encode()


@settings(max_examples=40, deadline=None)
@given(json_values)
def test_no_json_value_is_more_than_a_line(value: Any) -> None:
    try:
        of_document(value, "f.json")
    except InputError as error:
        assert "\n" not in str(error)


def test_published_files_are_shown_without_a_verdict_of_their_own() -> None:
    text = printed(of_document(PUBLISHED, "p.json"))
    assert "By the two means the fused path saves 23.0 % of the two-pass step" in text
    assert "None" not in text
