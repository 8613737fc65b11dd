"""The frozen batch: what its hash covers, that it comes back as it was saved, and files that are none."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench import batch as batches
from bench.batch import FrozenBatch, Sequence
from bench.errors import InputError
from tests.bench.fakes import SMALL_BATCH

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

tokens = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=5).map(tuple)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)


@st.composite
def sequences(draw: st.DrawFn) -> Sequence:
    response = draw(tokens)
    logprobs = tuple(draw(numbers) for _ in response)
    return Sequence(draw(tokens), response, logprobs, draw(numbers))


frozen_batches = st.builds(FrozenBatch, st.lists(sequences(), min_size=1, max_size=4).map(tuple), st.text(max_size=5), st.text(max_size=5))


def saved(tmp_path: Path, change: dict[str, Any] | None = None, entry: dict[str, Any] | None = None) -> Path:
    """The small batch's file, its top level and its first sequence changed."""
    path = tmp_path / "batch.json"
    batches.save(SMALL_BATCH, path)
    document = json.loads(path.read_text())
    document.update(change or {})
    if entry:
        document["sequences"][0].update(entry)
    path.write_text(json.dumps(document))
    return path


def test_tokens_are_counted_as_targets_are() -> None:
    # Prompts of 3 and 2, responses of 2 and 3: each sequence's first token is no target.
    assert SMALL_BATCH.target_tokens == (3 + 2 - 1) + (2 + 3 - 1)
    facts = SMALL_BATCH.facts()
    assert (facts["sequences"], facts["prompt_tokens"], facts["response_tokens"], facts["target_tokens"]) == (2, 5, 5, 8)
    assert facts["response_lengths"] == [2, 3]


def test_advantages_alternate_from_plus_one() -> None:
    assert batches.alternating_advantages(5) == [1.0, -1.0, 1.0, -1.0, 1.0]


def test_a_near_empty_batch_has_one_target_a_sequence_and_no_effect() -> None:
    tiny = batches.tiny(3)
    assert len(tiny.sequences) == 3
    assert tiny.target_tokens == 3
    assert {sequence.advantage for sequence in tiny.sequences} == {0.0}


@quick
@given(batch=frozen_batches)
def test_a_batch_comes_back_as_it_was_saved(tmp_path: Path, batch: FrozenBatch) -> None:
    path = tmp_path / "batch.json"
    batches.save(batch, path)
    again = batches.load(path)
    assert again == batch
    assert again.sha256 == batch.sha256


def test_the_hash_covers_what_is_trained_on_and_nothing_else() -> None:
    first, second = SMALL_BATCH.sequences
    same = FrozenBatch(SMALL_BATCH.sequences, "another model", "another source")
    assert same.sha256 == SMALL_BATCH.sha256
    others = [
        (second, first),
        (first,),
        (replace(first, advantage=2.0), second),
        (replace(first, prompt_tokens=(3, 4, 6)), second),
        (replace(first, response_tokens=(6, 8)), second),
        (replace(first, response_logprobs=(-0.1, math.nextafter(-0.2, 0))), second),
    ]
    hashes = {FrozenBatch(other, "toy", "by hand").sha256 for other in others}
    assert len(hashes) == len(others)
    assert SMALL_BATCH.sha256 not in hashes


def test_the_split_between_prompt_and_response_changes_the_hash() -> None:
    one = FrozenBatch((Sequence((1, 2), (3,), (-0.5,), 1.0),), "", "")
    other = FrozenBatch((Sequence((1,), (2, 3), (-0.5, -0.5), 1.0),), "", "")
    assert one.sha256 != other.sha256


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"prompt_tokens": []}, "sequence 0: prompt_tokens must be a list of at least one"),
        ({"prompt_tokens": None}, "prompt_tokens must be a list"),
        ({"prompt_tokens": [-1]}, "holds -1, which is no token id"),
        ({"prompt_tokens": [2**31]}, "holds 2147483648, which is no token id"),
        ({"prompt_tokens": [1.5]}, r"holds 1\.5, which is no token id"),
        ({"prompt_tokens": [True]}, "holds True, which is no token id"),
        ({"response_tokens": []}, "response_tokens must be a list of at least one"),
        ({"response_tokens": "ab"}, "response_tokens must be a list"),
        ({"response_logprobs": [-0.1]}, r"response_logprobs must be a list as long as response_tokens \(2\)"),
        ({"response_logprobs": {"a": 1, "b": 2}}, "response_logprobs must be a list"),
        ({"response_logprobs": [-0.1, "x"]}, r"response_logprobs\[1\] is 'x'"),
        ({"response_logprobs": [-0.1, None]}, r"response_logprobs\[1\] is None"),
        ({"response_logprobs": [True, -0.1]}, r"response_logprobs\[0\] is True"),
        ({"response_logprobs": [-0.1, -1e300]}, r"response_logprobs\[1\] is -1e\+300"),
        ({"advantage": None}, "advantage is None"),
        ({"advantage": 10**400}, "advantage is 1000.*must be a finite number"),
        ({"prompt_tokens": [[[[[[[[[[[1]]]]]]]]]]]}, "which is no token id"),
        ({"advantage": 5.0}, "was changed after it was saved"),
    ],
)
def test_a_sequence_that_cannot_be_is_refused_by_its_number_and_value(tmp_path: Path, entry: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as raised:
        batches.load(saved(tmp_path, entry=entry))
    assert str(raised.value).count("\n") <= 1
    assert len(str(raised.value)) < 400 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kind": "gspo-bench"}, "is not a batch file"),
        ({"kind": None}, "is not a batch file"),
        ({"schema": 2}, "has batch schema 2; this version reads 1"),
        ({"schema": None}, "has batch schema None"),
        ({"sequences": []}, "holds no sequences"),
        ({"sequences": {"0": {}}}, "holds no sequences"),
        ({"sequences": [1]}, "sequence 0 is not an object"),
        ({"sequences": [[]]}, "sequence 0 is not an object"),
        ({"sha256": "0" * 64}, "was changed after it was saved"),
        ({"sha256": None}, "was changed after it was saved"),
    ],
)
def test_a_file_that_is_no_batch_is_refused(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        batches.load(saved(tmp_path, change=change))


@pytest.mark.parametrize("text", ["[]", "null", "3", '"gspo-bench-batch"'])
def test_json_of_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "batch.json"
    path.write_text(text)
    with pytest.raises(InputError, match="is not a batch file"):
        batches.load(path)


def test_a_file_cut_short_is_refused_at_any_place(tmp_path: Path) -> None:
    whole = saved(tmp_path).read_bytes().strip()
    path = tmp_path / "cut.json"
    for length in range(0, len(whole), 17):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError):
            batches.load(path)


def test_nan_in_a_batch_file_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    path.write_text(path.read_text().replace("-0.1", "NaN"))
    with pytest.raises(InputError, match="holds NaN"):
        batches.load(path)


def test_the_tokens_alone_have_a_hash_that_logprobs_and_advantages_leave_alone() -> None:
    first, *rest = SMALL_BATCH.sequences
    moved = replace(first, response_logprobs=tuple(value - 1e-7 for value in first.response_logprobs), advantage=0.5)
    other = replace(first, response_tokens=(*first.response_tokens[:-1], 11))
    cut = replace(first, prompt_tokens=first.prompt_tokens[:-1], response_tokens=(first.prompt_tokens[-1], *first.response_tokens))
    same, *different = (replace(SMALL_BATCH, sequences=(entry, *rest)) for entry in (moved, other, cut))
    assert same.sha256 != SMALL_BATCH.sha256
    assert same.tokens_sha256 == SMALL_BATCH.tokens_sha256 == SMALL_BATCH.facts()["tokens_sha256"]
    assert all(entry.tokens_sha256 != SMALL_BATCH.tokens_sha256 for entry in different)


@pytest.mark.parametrize("key", ["schema", "model", "sha256", "sequences"])
def test_deep_nesting_anywhere_is_refused_in_a_short_message(tmp_path: Path, key: str) -> None:
    path = saved(tmp_path, change={key: "DEEP"})
    path.write_text(path.read_text().replace('"DEEP"', "[" * 5_000 + "]" * 5_000))
    try:
        batches.load(path)
    except InputError as error:
        assert len(str(error)) < 400 + len(str(tmp_path))
    else:
        assert key == "model"  # where it came from is only text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(["kind", "schema", "model", "source", "sha256", "sequences"])
entry_fields = st.sampled_from(["prompt_tokens", "response_tokens", "response_logprobs", "advantage"])


@quick
@given(change=st.dictionaries(fields, json_values, max_size=2), entry=st.dictionaries(entry_fields, json_values, max_size=2))
def test_any_json_in_any_field_is_read_or_refused_and_nothing_else(tmp_path: Path, change: dict[str, Any], entry: dict[str, Any]) -> None:
    path = saved(tmp_path, entry=entry)
    document = json.loads(path.read_text()) | change
    path.write_text(json.dumps(document))
    try:
        batches.load(path)
    except InputError as error:
        assert str(error).count("\n") <= 1


@quick
@given(content=st.binary(max_size=200))
def test_any_bytes_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.json"
    path.write_bytes(content)
    with pytest.raises(InputError):
        batches.load(path)
