"""GSM8K's problems, from files of its shape and from the hub, and files that are not."""

import itertools
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench.errors import InputError
from bench.tasks import gsm8k
from bench.tasks.problem import Problem
from bench.tasks.task import open_task, shuffled

ROW = '{"question": "She has 3 and buys 4. How many?", "answer": "She has 3+4=<<3+4=7>>7.\\n#### 7"}\n'


def test_the_answer_is_what_stands_behind_the_hashes(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(ROW + '{"question": "q", "answer": "#### 1,250"}\n\n{"question": "r", "answer": "-3.5"}')
    assert gsm8k.problems("train", tmp_path) == [
        Problem("She has 3 and buys 4. How many?", "7"),
        Problem("q", "1,250"),
        Problem("r", "-3.5"),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no problems"),
        ('{"question": "q"}', 'line 1: needs a "question" and an "answer"'),
        ('{"question": "q", "answer": "#### seven"}', "line 1: its answer does not end on a number, .* but on 'seven'"),
        ('{"question": "q", "answer": "#### 7 apples"}', "does not end on a number"),
        (ROW + "{", "line 2: not JSON"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "test.jsonl").write_text(text)
    with pytest.raises(InputError, match=says) as raised:
        gsm8k.problems("test", tmp_path)
    assert str(raised.value).count("\n") <= 1


def test_a_folder_without_the_files_is_refused_with_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the problems file .*train\.jsonl: No such file.*--data is a folder"):
        open_task("gsm8k", tmp_path)


def test_the_hub_is_asked_for_both_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(name: str, config: str, split: str) -> list[dict[str, str]]:
        assert (name, config) == ("openai/gsm8k", "main")
        return [{"question": f"{split} {number}", "answer": f"#### {number}"} for number in range(4)]

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    task = open_task("gsm8k", None)
    assert task.test(2) == [Problem("test 0", "0"), Problem("test 1", "1")]
    assert task.prompt(Problem("How many?", "7")) == "How many? Provide a numerical answer without units, written inside \\boxed{}."
    first = list(itertools.islice(task.train(5), 6))
    assert first == list(itertools.islice(task.train(5), 6)) != list(itertools.islice(task.train(6), 6))
    assert {problem.question for problem in first[:4]} == {f"train {number}" for number in range(4)}


def test_each_problem_comes_once_an_epoch_and_each_epoch_in_another_order() -> None:
    problems = [Problem(str(number), "1") for number in range(20)]
    drawn = list(itertools.islice(shuffled(problems, 0), 60))
    epochs = [drawn[start : start + 20] for start in (0, 20, 40)]
    assert all(set(epoch) == set(problems) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]


def test_unknown_tasks_and_folders_for_a_task_that_makes_its_own_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='no task "chess": choose from gsm8k, arithmetic'):
        open_task("chess", None)
    with pytest.raises(InputError, match="goes with --task gsm8k"):
        open_task("arithmetic", tmp_path)
