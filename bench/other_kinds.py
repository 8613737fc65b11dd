"""The project's files that are not one run's result: what each is, and which command or picture is for it."""

import shlex
from typing import Any

from bench import image

SHOWN = "{program} show {file} prints its table; make plots draws it: {picture}."
# By a file's `kind`: what it is, and what is done with it.
KINDS = {
    "gspo-bench-sweep": ("a sweep", SHOWN.replace("{picture}", "sweep.png")),
    "gspo-bench-scale": ("a scaling run", SHOWN.replace("{picture}", "scale.png")),
    "gspo-bench-repeat": (
        "several runs on fresh servers",
        "{program} show {file} prints their table; each run's own file, which it names, is a result.",
    ),
    "gspo-bench-verify": ("a run of verify", "{program} show {file} prints its checks."),
    "gspo-bench-learn": (
        "a learning run",
        "{program} show {file} prints its accuracies; make plots draws its curve, "
        "and python -m plots RUN RUN --out both.png several in one.",
    ),
    "gspo-bench-batch": ("a frozen batch", "{program} run --batch {file} takes it again."),
}
RESULT = "Give a file that bench run wrote, such as results/last_gspo_bench.json."


def refusal(file: str, kind: str) -> str | None:
    """Why a file of another kind is not taken for a result, and what takes it; None for a kind that nobody here writes."""
    if kind not in KINDS:
        return None
    what, use = KINDS[kind]
    return f"{file} is {what}, and a result file of one run is needed.\n{use.format(program=image.program(), file=shlex.quote(file))}"


def told(document: Any) -> str:
    """A document's `kind`, '' where it has none."""
    kind = document.get("kind") if isinstance(document, dict) else None
    return kind if isinstance(kind, str) else ""
