"""Whatever the readers let through can be drawn, and its words stay inside the picture."""

import copy
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.text import Text

from plots import curve, phases, sweep
from plots.errors import PlotInputError
from plots.learning_run import read_runs
from plots.render import figure_of
from plots.results import read_result
from plots.size import README, SLIDE
from plots.sweep_file import read_sweep
from tests.plots.breakdown_cases import timed_by_both
from tests.plots.run_cases import climbing, record, write_run
from tests.plots.sweep_cases import micro_batches

pytestmark = pytest.mark.slow

numbers = st.floats() | st.floats(1e-9, 1e9) | st.integers(-1, 10**15) | st.sampled_from([0, 0.0, 1e-9, 1e9, 1e15, 5e-324])
values = st.none() | numbers | st.text() | st.lists(numbers, max_size=3) | st.dictionaries(st.text(max_size=30), numbers, max_size=14)
sizes = st.sampled_from([README, SLIDE])

RESULT = [
    ("native_1pass", "mean_s"),
    ("native_1pass", "timeline_mean_s"),
    ("custom_2pass", "timeline_mean_s", "fetch"),
    ("custom_2pass", "phases_mean_s"),
    ("native_1pass", "utilisation", "floor_s"),
    ("native_1pass", "utilisation", "mfu_pct"),
    ("native_1pass", "wire_mean", "up_bytes"),
    ("roofline",),
    ("roofline", "peak_tflops"),
    ("roofline", "paths", "custom_2pass", "floor_s"),
    ("clock", "uncertainty_s"),
]
SWEEP = [
    ("rows", 0, "native_1pass_s"),
    ("rows", 1, "custom_2pass_s"),
    ("rows", 2, "label"),
    ("rows", 3, "peak_memory_bytes"),
    ("rows", 6, "reason"),
    ("rows", 6, "native_1pass_s"),
    ("best", "label"),
    ("best", "native_1pass_s"),
    ("best", "speedup_vs_first"),
    ("best", "not_told_apart"),
    ("roofline", "paths", "native_1pass", "floor_s"),
    ("gpu",),
    ("rows",),
]
RUN = [
    ("record", "model"),
    ("record", "task"),
    ("record", "path"),
    ("record", "seed"),
    ("record", "steps"),
    ("record", "learning_rate"),
    ("record", "environment", "server", "gpus"),
    ("metrics", 0, "step"),
    ("metrics", 1, "step"),
    ("metrics", 2, "env/all/correct"),
    ("metrics", 3, "time/elapsed"),
    ("metrics", 4, "test/env/all/correct"),
    ("metrics", 4, "test/env/all/count"),
]


def changed(document, changes):
    document = copy.deepcopy(document)
    for keys, value in changes:
        inner = document
        try:
            for key in keys[:-1]:
                inner = inner[key]
            inner[keys[-1]] = value
        except (TypeError, IndexError, KeyError):
            continue  # an earlier change took this place away
    return document


def changes_of(places):
    return st.lists(st.tuples(st.sampled_from(places), values), min_size=1, max_size=4)


def assert_inside(draw, read, size, *paths):
    try:
        figure = figure_of(draw, read(*paths), size)
    except PlotInputError as error:
        assert "\n" not in str(error)
        return
    figure.draw_without_rendering()
    width, height = figure.canvas.get_width_height()
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip():
            box = text.get_window_extent()
            assert box.x0 > 0 and box.x1 < width and box.y0 > 0 and box.y1 < height, text.get_text()


@settings(deadline=None, max_examples=30)
@given(changes=changes_of(RESULT), size=sizes)
@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_result_that_is_read_has_its_phases_drawn_inside(changes, size):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.json"
        path.write_text(json.dumps(changed(timed_by_both(), changes)))
        assert_inside(phases.draw, read_result, size, path)


@settings(deadline=None, max_examples=30)
@given(changes=changes_of(SWEEP), size=sizes)
@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_sweep_that_is_read_is_drawn_inside(changes, size):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.json"
        path.write_text(json.dumps(changed(micro_batches(), changes)))
        assert_inside(sweep.draw, read_sweep, size, path)


@settings(deadline=None, max_examples=30)
@given(changes=changes_of(RUN), size=sizes, several=st.booleans())
@pytest.mark.filterwarnings("ignore:Glyph")
def test_learning_runs_that_are_read_are_drawn_inside(changes, size, several):
    document = changed({"record": record(), "metrics": climbing(9, 0.1, 0.6, held_every=4)}, changes)
    with tempfile.TemporaryDirectory() as folder:
        made = write_run(Path(folder) / "a", (document["record"], document["metrics"]))
        other = [write_run(Path(folder) / "b", (record(path="custom_2pass"), climbing(9, 0.1, 0.6)))] if several else []
        assert_inside(curve.draw, read_runs, size, made, *other)
