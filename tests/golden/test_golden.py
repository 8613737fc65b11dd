"""What people read of the stored files, word for word: UPDATE_GOLDEN=1 pytest tests/golden writes it again, to be accepted by eye."""

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from matplotlib.text import Text

from bench.cli import cli
from plots.pictures import PICTURES
from plots.render import figure_of
from plots.report import sources
from plots.report.build import page_of
from plots.report.page import html_of

REPOSITORY = Path(__file__).parents[2]
WORDS = Path(__file__).parent / "words"
PUBLISHED, STORED = "results/published", "tests/data"
SCHEMA1 = f"{STORED}/schema1_gspo_bench.json"
TUNED, STOCK, AGAIN = (f"{PUBLISHED}/h200-qwen3-{name}.json" for name in ("4b-tuned", "4b-stock", "0.6b-l4-preset-again"))
SWEEP, SCALE = f"{PUBLISHED}/h200-qwen3-0.6b-sweep.json", f"{PUBLISHED}/h200-x2-qwen3-0.6b-scale.json"
LEARN, KILLED = f"{PUBLISHED}/cpu-learn-arithmetic", f"{PUBLISHED}/h200-learn-arithmetic-killed-once"

COMPARISONS = {
    "4b": (STOCK, TUNED),
    "4b-markdown": ("--markdown", STOCK, TUNED),
    "published": ("--anyway", f"{STORED}/published_gspo_bench.json", SCHEMA1),
    "limit": ("--anyway", "--max-regression-pct", "5", TUNED, STOCK),
}
PICTURED = {
    "bars": {"schema1": SCHEMA1, "published": f"{STORED}/published_gspo_bench.json", "4b-tuned": TUNED},
    "phases": {"schema1": SCHEMA1, "l4": AGAIN},
    "sweep": {"h200": SWEEP},
    "scale": {"h200": SCALE},
    "curve": {"cpu": LEARN, "killed": KILLED},
}
PAGES = {"schema1": SCHEMA1, "l4": AGAIN, "sweep": SWEEP, "scale": SCALE, "learn": KILLED}


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("COLUMNS", "110")


def held(name: str, words: str) -> None:
    file = WORDS / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(words)
    assert words == file.read_text()


def told(*arguments: str) -> str:
    made = CliRunner().invoke(cli, arguments)
    lines = [line.rstrip() for line in made.output.splitlines()]
    return "\n".join([f"$ bench {' '.join(arguments)}", *lines, f"exit code {made.exit_code}", ""])


def stored() -> list[str]:
    files = sorted([*REPOSITORY.glob(f"{PUBLISHED}/*.json"), *REPOSITORY.glob(f"{STORED}/*.json")])
    folders = sorted(path.parent for path in REPOSITORY.glob(f"{PUBLISHED}/*/run.json"))
    return [str(path.relative_to(REPOSITORY)) for path in (*files, *folders)]


def test_show_tells_every_stored_file():
    held("show", "\n".join(told("show", file) for file in stored()))


def test_compare_tells_what_differs():
    held("compare", "\n".join(told("compare", *arguments) for arguments in COMPARISONS.values()))


def test_export_writes_every_step():
    held("export", told("export", "--csv", "-", SCHEMA1, f"{STORED}/published_gspo_bench.json"))


@pytest.mark.slow
@pytest.mark.parametrize("picture", PICTURED)
def test_a_picture_says(picture):
    found = []
    for name, file in PICTURED[picture].items():
        made = PICTURES[picture]
        figure = figure_of(made.draw, made.read(Path(file)))
        figure.draw_without_rendering()
        texts = [text.get_text() for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
        found.append("\n".join([f"# {name}", *texts, ""]))
    held(f"picture-{picture}", "\n".join(found))


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_page_says(name):
    html = html_of(page_of(sources.of_file(Path(PAGES[name]))))
    bare = re.sub(r"<(style|svg|script)\b.*?</\1>", "", html, flags=re.DOTALL)
    lines = (" ".join(line.split()) for line in re.sub(r"<[^>]*>", "\n", bare).splitlines())
    held(f"page-{name}", "\n".join(line for line in lines if line) + "\n")
