"""Where the questions come from, and files that hold none."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.errors import InputError
from bench.prompts import questions, read_questions

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def file_of(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "prompts.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_there_are_sixteen_different_word_problems_of_our_own() -> None:
    found = questions("builtin", 16, seed=0)
    assert len(set(found)) == 16
    assert all(question.endswith("?") or "?" in question for question in found)


def test_the_first_ones_are_taken_in_order(tmp_path: Path) -> None:
    path = file_of(tmp_path, '{"question": "a?"}\n\n{"question": "b?", "answer": "1"}\r\n{"question": "c?"}')
    assert questions(str(path), 2, seed=9) == ["a?", "b?"]
    assert read_questions(path) == ["a?", "b?", "c?"]


def test_more_than_there_are_is_refused_with_both_numbers(tmp_path: Path) -> None:
    path = file_of(tmp_path, '{"question": "a?"}\n')
    with pytest.raises(InputError, match=r"2 prompts were asked for and .*prompts\.jsonl has 1"):
        questions(str(path), 2, seed=0)
    with pytest.raises(InputError, match="17 prompts were asked for and our own has 16"):
        questions("builtin", 17, seed=0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no questions"),
        ("\n \n", "holds no questions"),
        ("plain text\n", "line 1: not JSON"),
        ('{"question": "a?"}\n{"question": ', "line 2: not JSON"),
        ('{"prompt": "a?"}', 'line 1: needs a "question"'),
        ('{"question": 3}', 'line 1: needs a "question"'),
        ('{"question": "  "}', 'line 1: needs a "question"'),
        ('["question"]', 'line 1: needs a "question"'),
        ('{"question": "half a pair \\ud800"}', 'line 1: needs a "question"'),
        ("[" * 200_000, "line 1: not JSON"),
        ("1" * 5_000, "line 1: not JSON"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as raised:
        read_questions(file_of(tmp_path, text))
    assert str(raised.value).count("\n") <= 1


def test_a_file_that_is_not_utf_8_or_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes('{"question": "Caf\u00e9?"}'.encode("latin-1"))
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read_questions(path)
    with pytest.raises(InputError, match=r"cannot read the prompts file .*none: No such file .*builtin, gsm8k or a file"):
        questions(str(tmp_path / "none"), 1, seed=0)


def test_a_line_separator_inside_a_question_does_not_end_its_line(tmp_path: Path) -> None:
    path = file_of(tmp_path, json.dumps({"question": "one\u2028two\x85?"}, ensure_ascii=False))
    assert read_questions(path) == ["one\u2028two\x85?"]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    assert read_questions(file_of(tmp_path, '\ufeff{"question": "a?"}')) == ["a?"]


@quick
@given(wanted=st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=5), ascii_only=st.booleans())
def test_any_questions_come_back_in_order(tmp_path: Path, wanted: list[str], ascii_only: bool) -> None:
    lines = [json.dumps({"question": question}, ensure_ascii=ascii_only) for question in wanted]
    assert read_questions(file_of(tmp_path, "\n".join(lines))) == wanted


@quick
@given(content=st.binary(max_size=100))
def test_any_bytes_are_read_or_refused_and_nothing_else(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.jsonl"
    path.write_bytes(content)
    try:
        read_questions(path)
    except InputError as error:
        assert str(error).count("\n") <= 1


def with_gsm8k(monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, str]] | Exception) -> None:
    def load_dataset(name: str, config: str, split: str) -> list[dict[str, str]]:
        assert (name, config, split) == ("openai/gsm8k", "main", "train")
        if isinstance(rows, Exception):
            raise rows
        return rows

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))


def test_gsm8k_is_a_seeded_choice_without_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gsm8k(monkeypatch, [{"question": f"q{index}"} for index in range(50)])
    first, again, other = (questions("gsm8k", 10, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len(set(first)) == 10
    with pytest.raises(InputError, match="51 prompts were asked for and GSM8K's training split has 50"):
        questions("gsm8k", 51, seed=1)


def test_gsm8k_without_a_network_says_what_to_do_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gsm8k(monkeypatch, ConnectionError("no route\nto host"))
    with pytest.raises(InputError, match=r"could not be loaded \(no route to host\)\.\nCheck the network or HF_HOME") as raised:
        questions("gsm8k", 1, seed=1)
    assert str(raised.value).count("\n") == 1


@pytest.mark.parametrize("path", ["/dev/zero", "/dev", "\udcff.jsonl"])
def test_a_device_a_folder_or_an_odd_name_is_refused_and_never_read(path: str) -> None:
    with pytest.raises(InputError, match="cannot read the prompts file"):
        read_questions(Path(path))
