"""The questions that the batch is sampled from: 16 of our own, GSM8K, or a file with one JSON object a line."""

import random
from pathlib import Path

from bench.errors import InputError
from bench.json_lines import read_objects, text_of
from bench.tasks import gsm8k

BUILTIN = "builtin"
GSM8K = "gsm8k"
WORD_PROBLEMS = Path(__file__).parent / "data" / "word_problems.jsonl"


def questions(source: str, count: int, seed: int) -> list[str]:
    """`count` questions: the first ones of our own, a seeded choice of GSM8K's training split, or the first ones of a file.

    Raises:
        InputError: too few questions, an unreadable file (named with the line), or a data set that cannot be fetched.
    """
    if source == GSM8K:
        return _gsm8k(count, seed)
    path = WORD_PROBLEMS if source == BUILTIN else Path(source)
    found = read_questions(path)
    if len(found) < count:
        where = "our own" if source == BUILTIN else str(path)
        raise InputError(f"{count} prompts were asked for and {where} has {len(found)}: lower --prompts-count, or use --prompts gsm8k.")
    return found[:count]


def read_questions(path: Path) -> list[str]:
    """Every line's `question`, in order; blank lines are skipped.

    Raises:
        InputError: names the file, the line and what is wrong with it.
    """
    found = []
    for where, entry in read_objects(path, "prompts file", "--prompts is builtin, gsm8k or a file."):
        question = text_of(entry, "question")
        if question is None:
            raise InputError(f'{where}: needs a "question" with text, such as {{"question": "What is 2+2?"}}.')
        found.append(question)
    if not found:
        raise InputError(f"{path} holds no questions.")
    return found


def _gsm8k(count: int, seed: int) -> list[str]:
    rows = gsm8k.rows_of_hub("train", "give a file with --prompts FILE")
    if count > len(rows):
        raise InputError(f"{count} prompts were asked for and GSM8K's training split has {len(rows)}.")
    chosen = random.Random(seed).sample(range(len(rows)), count)
    return [rows[index]["question"] for index in chosen]
