"""The results that the repository publishes: real files of their schema, which every later version must still draw."""

import json
from pathlib import Path

import pytest
from matplotlib.text import Text

from plots import bars
from plots.render import figure_of
from plots.results import read_result

FOLDER = Path(__file__).parents[2] / "results" / "published"
PUBLISHED = [path for path in sorted(FOLDER.glob("*.json")) if json.loads(path.read_text())["kind"] == "gspo-bench"]


def test_there_are_published_results() -> None:
    assert len(PUBLISHED) >= 6


WORDS = {"random": "random weights", "arithmetic": "trained on arithmetic"}


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_a_published_result_draws_and_says_what_its_weights_are(path: Path) -> None:
    figure = figure_of(bars.draw, read_result(path))
    words = " ".join(text.get_text() for text in figure.findobj(Text))
    assert WORDS[json.loads(path.read_text())["environment"]["server"]["weights"]] in words
