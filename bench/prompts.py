"""The questions that the batch is sampled from: 16 of our own, GSM8K, or a file with one JSON object a line."""

import json
import random
import stat
from pathlib import Path

from bench.errors import InputError

BUILTIN = "builtin"
GSM8K = "gsm8k"
WORD_PROBLEMS = Path(__file__).parent / "data" / "word_problems.jsonl"
MAX_FILE_BYTES = 64 * 1024 * 1024


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
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"cannot read the prompts file {path}: it is not a regular file. --prompts is builtin, gsm8k or a file.")
        if found.st_size > MAX_FILE_BYTES:
            raise InputError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes; a prompts file has one JSON object a line.")
        # Not splitlines(): JSON strings may hold U+2028 and its like. Some editors put a byte order mark first.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"cannot read the prompts file {path}: {error.strerror}. --prompts is builtin, gsm8k or a file.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8.") from error
    read = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: not JSON ({str(error).splitlines()[0]}).") from error
        question = entry.get("question") if isinstance(entry, dict) else None
        if not isinstance(question, str) or not question.strip() or not _is_text(question):
            raise InputError(f'{path}, line {number}: needs a "question" with text, such as {{"question": "What is 2+2?"}}.')
        read.append(question)
    if not read:
        raise InputError(f"{path} holds no questions.")
    return read


def _is_text(question: str) -> bool:
    """JSON can spell half of a surrogate pair, which no tokenizer takes."""
    try:
        question.encode()
    except UnicodeEncodeError:
        return False
    return True


def _gsm8k(count: int, seed: int) -> list[str]:
    import datasets

    try:
        rows = datasets.load_dataset("openai/gsm8k", "main", split="train")
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"openai/gsm8k could not be loaded ({reason}).\nCheck the network or HF_HOME, or give a file with --prompts FILE."
        ) from error
    if count > len(rows):
        raise InputError(f"{count} prompts were asked for and GSM8K's training split has {len(rows)}.")
    chosen = random.Random(seed).sample(range(len(rows)), count)
    return [rows[index]["question"] for index in chosen]
