"""GSM8K (arXiv:2110.14168): word problems whose answers end on `#### NUMBER`, from the hub or from JSON-lines files of its shape."""

from pathlib import Path
from typing import Any

from bench import image
from bench.errors import InputError
from bench.json_lines import read_objects, text_of
from bench.tasks import answers
from bench.tasks.problem import Problem

DATA_SET = "openai/gsm8k"
# What the field's recipes add to a question, so that the answer can be found.
INSTRUCTION = " Provide a numerical answer without units, written inside \\boxed{}."


def problems(split: str, folder: Path | None) -> list[Problem]:
    """The problems of a split ("train" or "test"), from the hub, or from `folder`/SPLIT.jsonl.

    Raises:
        InputError: the data set cannot be fetched, or names the file and the line that is wrong.
    """
    if folder is not None:
        return read_problems(folder / f"{split}.jsonl")
    rows = rows_of_hub(split, "give a folder that has train.jsonl and test.jsonl with --data FOLDER")
    return [_problem(row, f"{DATA_SET}, {split}, row {index}") for index, row in enumerate(rows)]


def read_problems(path: Path) -> list[Problem]:
    """Every line's problem, in order.

    Raises:
        InputError: names the file, the line and what is wrong with it.
    """
    objects = read_objects(path, "problems file", "--data is a folder that has train.jsonl and test.jsonl.")
    found = [_problem(entry, where) for where, entry in objects]
    if not found:
        raise InputError(f"{path} holds no problems.")
    return found


def rows_of_hub(split: str, instead: str) -> Any:
    """The split's rows as `datasets` has them; `instead` says what else could be given.

    Raises:
        InputError: it cannot be fetched.
    """
    import datasets

    try:
        with image.shared_cache():
            return datasets.load_dataset(DATA_SET, "main", split=split)
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{DATA_SET} could not be loaded ({reason}).\nCheck the network or HF_HOME, or {instead}.") from error


def _problem(entry: Any, where: str) -> Problem:
    question, answer = text_of(entry, "question"), text_of(entry, "answer")
    if question is None or answer is None:
        raise InputError(f'{where}: needs a "question" and an "answer" with text.')
    final = answer.rpartition("####")[2].strip()
    if answers.number(final) is None:
        raise InputError(f'{where}: its answer does not end on a number, such as "#### 72", but on {final[:40]!r}.')
    return Problem(question, final)
