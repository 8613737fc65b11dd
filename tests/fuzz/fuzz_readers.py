"""Feeds every reader hostile files until the time is up. Whatever is not read must be refused in words, by the reader's own error.

    python tests/fuzz/fuzz_readers.py --minutes 60 [--only show] [--keep FOLDER]

Needs what tests/bench and tests/plots need. Prints each find, shrunk, with its traceback, and ends with 1 if there was one. `--keep` is
hypothesis' database: a second run begins with the finds of the first. A find becomes a case in the tests of what it broke.
"""

import argparse
import io
import json
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "docker" / "server")]

from backend_config import UsageError, parse_backend_config  # noqa: E402
from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.database import DirectoryBasedExampleDatabase  # noqa: E402
from hypothesis.errors import HypothesisWarning  # noqa: E402
from rich.console import Console  # noqa: E402

from bench import batch, failures, outputs, prompts, result_file, results  # noqa: E402
from bench.batch import FrozenBatch, Sequence  # noqa: E402
from bench.compare import samples  # noqa: E402
from bench.compare.render import markdown, print_changes, print_differences  # noqa: E402
from bench.compare.report import report  # noqa: E402
from bench.environment import gpu_memory, gpu_name  # noqa: E402
from bench.errors import BenchError, InputError  # noqa: E402
from bench.export_command import as_csv  # noqa: E402
from bench.learn.record import RunFolder  # noqa: E402
from bench.probe import Probe  # noqa: E402
from bench.show_command import setup  # noqa: E402
from bench.table import print_result_file  # noqa: E402
from bench.tasks import answers, gsm8k  # noqa: E402
from plots.errors import PlotInputError  # noqa: E402
from plots.pictures import PICTURES  # noqa: E402
from plots.report import sources  # noqa: E402
from plots.report.build import page_of  # noqa: E402
from plots.report.page import html_of  # noqa: E402
from tests.fuzz import mutations  # noqa: E402
from tests.plots import run_cases, sweep_cases  # noqa: E402

DATA = ROOT / "tests" / "data"
ROUND_S = 60.0
LONGEST_MESSAGE = 5_000
DRAWN_ONE_IN = 50
SCRATCH = Path(tempfile.mkdtemp(prefix="gspo-bench-fuzz-"))
samples.RESAMPLES = 50


def shortened(path: Path) -> Any:
    """A stored result with three of its steps, so that most changes meet something else."""
    document = json.loads(path.read_text())
    document["steps"] = document["steps"][:3] if "steps" in document else []
    return document


RESULT = shortened(DATA / "schema1_gspo_bench.json")
PUBLISHED = json.loads((DATA / "published_gspo_bench.json").read_text())
BASE = result_file.of_document(RESULT, "base.json")
TARGET_COUNT = 4
SEQUENCES = (Sequence((1, 2, 3), (4, 5), (-0.5, -1.0), 1.0), Sequence((1,), (2, 3, 4, 5), (-0.1,) * 4, -1.0))
BATCH_FILE = SCRATCH / "batch.json"
batch.save(FrozenBatch(SEQUENCES, "m", "s"), BATCH_FILE)
BATCH = json.loads(BATCH_FILE.read_text())
TIMED = shortened(ROOT / "results" / "published" / "h200-qwen3-0.6b-l4-preset-again.json")
SWEEP = sweep_cases.sweep([sweep_cases.row("a", 1.0, 1.4, 10.0), sweep_cases.row("b", 0.5, 0.7, None, status="crashed")], best=1)
RECORD = run_cases.record()
CHECKPOINT = {"schema": 1, "next_step": 2, "state": "tinker://m/weights/s", "elapsed_s": 60.0}
REPEAT = {
    "schema": 1,
    "kind": "gspo-bench-repeat",
    "created_at": "2026-11-30T09:00:00Z",
    "model": "m",
    "gpu": "cpu",
    "runs": [
        {"file": "runs/a.json", "saving_median_pct": 20.0, "ci_low_pct": 19.0, "ci_high_pct": 21.0, "native_1pass_s": 1.0,
         "custom_2pass_s": 1.25, "status": "complete"},
        {"file": "runs/b.json", "saving_median_pct": 22.0, "ci_low_pct": 21.0, "ci_high_pct": 23.0, "native_1pass_s": 1.0,
         "custom_2pass_s": 1.3, "status": "complete"},
    ],
    "between": {"n": 2, "saving_mean_pct": 21.0, "saving_stdev_pct": 1.4, "saving_low_pct": 20.0, "saving_high_pct": 22.0},
    "within_ci_width_median_pct": 2.0,
}  # fmt: skip
PROBLEMS = b'{"question": "What is 2+2?", "answer": "It is 4.\\n#### 4"}\n'
QUESTIONS = b'{"question": "What is 2+2?"}\n{"question": "And 3+3?", "answer": "6"}\n'


def refused(error: Exception, lines: int = 2) -> None:
    """A refusal is a line or two that a terminal can show."""
    message = str(error)
    assert message.strip(), "an empty message"
    assert message.count("\n") < lines, f"{message.count(chr(10)) + 1} lines"
    assert len(message) <= LONGEST_MESSAGE, f"{len(message)} characters"
    shows(message)


def shows(text: str) -> None:
    """Nothing that moves a terminal's cursor, and nothing that cannot be encoded."""
    assert not [char for char in text if ord(char) < 32 and char not in "\n\t\r"], "a control character"
    text.encode()


def written(name: str, content: bytes) -> Path:
    path = SCRATCH / name
    path.write_bytes(content)
    return path


def show(content: bytes) -> None:
    try:
        found = result_file.read(written("result.json", content))
    except InputError as error:
        return refused(error)
    out = io.StringIO()
    console = Console(file=out, width=110, highlight=False)
    print_result_file(found, console)
    made = report(BASE, found)
    print_differences(made, console)
    print_changes(made, console)
    text = out.getvalue() + markdown(made, not made.refused) + "".join(label + value for label, value in setup(found))
    shows(text)
    shows(as_csv([found]))
    return None


def drawn_as(name: str) -> Callable[[bytes], None]:
    """Reads a file as the picture of this name does, and draws one in `DRAWN_ONE_IN` of those that are read."""
    picture = PICTURES[name]

    def check(content: bytes) -> None:
        source = written(picture.source, content)
        try:
            picture.read(source)
            if zlib.crc32(content) % DRAWN_ONE_IN == 0:
                picture.make(SCRATCH / "picture.png", source)
        except PlotInputError as error:
            refused(error)

    return check


def learning_run(contents: tuple[bytes, bytes, bytes]) -> None:
    """run.json, metrics.jsonl and checkpoint.json of a run, as pictures and as a resumed run read them."""
    folder = SCRATCH / "run"
    folder.mkdir(exist_ok=True)
    for name, content in zip(("run.json", "metrics.jsonl", "checkpoint.json"), contents, strict=True):
        (folder / name).write_bytes(content)
    try:
        PICTURES["curve"].read(folder)
    except PlotInputError as error:
        refused(error)
    run = RunFolder(folder)
    for read in (run.read_run, run.rows, run.read_checkpoint):
        try:
            read()
        except InputError as error:
            refused(error)


def page(contents: tuple[bytes, bytes, bytes]) -> None:
    """The page of a results folder: no text of a file becomes markup."""
    folder = SCRATCH / "results"
    folder.mkdir(exist_ok=True)
    for name, content in zip(("last_gspo_bench.json", "last_sweep.json", "last_repeat.json"), contents, strict=True):
        (folder / name).write_bytes(content)
    try:
        html = html_of(page_of(sources.of_folder(folder)))
    except PlotInputError as error:
        return refused(error)
    assert "<script>alert" not in html and "\x1b" not in html
    html.encode()
    return None


def problems(content: bytes) -> None:
    try:
        gsm8k.read_problems(written("problems.jsonl", content))
    except InputError as error:
        refused(error)


def batches(content: bytes) -> None:
    try:
        batch.load(written("batch.json", content))
    except InputError as error:
        refused(error)


def questions(content: bytes) -> None:
    try:
        prompts.read_questions(written("prompts.jsonl", content))
    except InputError as error:
        refused(error)


def backend_config(text: str) -> None:
    try:
        parse_backend_config(text)
    except UsageError as error:
        refused(error)


def server_words(text: str) -> None:
    refused(failures.explain(ValueError(text), "forward", Probe("http://server:8000")), lines=3)


def server_environment(environment: Any) -> None:
    told = environment if isinstance(environment, dict) else None
    gpu_memory(told, "ready")
    name = results.run_name(BASE_TIME, results.short_name(str(environment)), told)
    assert "/" not in name and len(name) < 200 and gpu_name(told) is not None


class Row:
    """A tensor as the SDK hands it out."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers

    def to_numpy(self) -> Any:
        return self.numbers


def server_outputs(rows: list[dict[str, Any]]) -> None:
    result = SimpleNamespace(loss_fn_outputs=rows, metrics={str(index): row for index, row in enumerate(rows)})
    outputs.finite_metrics(result)
    try:
        outputs.logprobs_of(result, SEQUENCES, "forward")
    except BenchError as error:
        refused(error)


BASE_TIME = results.RunFacts.__dataclass_fields__["created_at"].default_factory()  # type: ignore[misc]
numbers = st.lists(st.floats() | st.integers(-9, 9), max_size=6)
rows = st.lists(st.dictionaries(st.sampled_from(("logprobs", "x")), numbers.map(Row), max_size=2), max_size=3)
lines = st.lists(mutations.files(run_cases.climbing(1, 0.1, 0.5, held_every=1)[0]), min_size=1, max_size=3).map(b"\n".join)
environments = mutations.documents(RESULT["environment"]["server"]) | mutations.values
pieces = ("{'detail': '", '"detail": "', "'}", "\n", "single LoRA adapter", "x" * 500)
words = st.text(max_size=400) | st.lists(st.sampled_from(pieces)).map("".join)

TARGETS: dict[str, tuple[Callable[[Any], None], st.SearchStrategy[Any]]] = {
    "show": (show, st.one_of(mutations.files(RESULT), mutations.files(PUBLISHED))),
    "bars": (drawn_as("bars"), st.one_of(mutations.files(RESULT), mutations.files(PUBLISHED))),
    "phases": (drawn_as("phases"), mutations.files(TIMED)),
    "sweeps": (drawn_as("sweep"), mutations.files(SWEEP)),
    "learning_runs": (learning_run, st.tuples(mutations.files(RECORD), lines, mutations.files(CHECKPOINT))),
    "pages": (page, st.tuples(mutations.files(TIMED), mutations.files(SWEEP), mutations.files(REPEAT))),
    "batches": (batches, mutations.files(BATCH)),
    "questions": (questions, mutations.contents(QUESTIONS) | mutations.values.map(lambda value: mutations.as_bytes({"question": value}))),
    "problems": (problems, mutations.contents(PROBLEMS) | mutations.values.map(lambda value: mutations.as_bytes({"question": value}))),
    "answers": (answers.read, st.text(max_size=200) | st.text("#$-+.,0123456789 \n/", max_size=60)),
    "backend_config": (backend_config, st.text(max_size=60) | mutations.documents({"a.b": 1, "c": {"d": [1]}}).map(json.dumps)),
    "server_words": (server_words, words),
    "server_environment": (server_environment, environments),
    "server_outputs": (server_outputs, rows),
}


def fuzz(name: str, until_s: float, number: int, keep: Path | None) -> tuple[int, str | None]:
    """Runs one target until then; how many examples it saw, and the shrunk find, if there was one."""
    check, strategy = TARGETS[name]
    seen = 0
    found: str | None = None

    def one(example: Any) -> None:
        nonlocal seen
        seen += 1
        check(example)

    while time.monotonic() < until_s and found is None:
        number += 1
        database = DirectoryBasedExampleDatabase(keep) if keep else None
        limits = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), database=database, print_blob=False,
                          phases=(Phase.reuse, Phase.generate, Phase.shrink))  # fmt: skip
        try:
            seed(number)(limits(given(strategy)(one)))()
        except Exception:
            found = traceback.format_exc()
    return seen, found


def main() -> int:
    """Runs the targets in turn; 1 where one was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--only", choices=sorted(TARGETS), action="append")
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", HypothesisWarning)  # its word on large examples is none on a reader
    end_s = time.monotonic() + 60.0 * args.minutes
    left = list(args.only or TARGETS)
    totals = dict.fromkeys(left, 0)
    number = time.time_ns() % 2**32
    broken = 0
    while left and time.monotonic() < end_s:
        for name in list(left):
            until_s = min(end_s, time.monotonic() + min(ROUND_S, 60.0 * args.minutes / len(TARGETS)))
            seen, found = fuzz(name, until_s, number, args.keep)
            number += 1_000
            totals[name] += seen
            if found:
                broken += 1
                left.remove(name)  # its first find hides the others
                print(f"=== {name}, after {totals[name]:,} examples\n{found}", flush=True)
        print(f"{time.strftime('%H:%M:%S')} {totals}", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
