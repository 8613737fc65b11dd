"""The page's charts, as wide as a phone and as a screen: every word inside of them, and none over another."""

import itertools

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from plots import bars, curve, page, phases, scaling, style, sweep, sweep_layout
from plots.learning_run import read_runs
from plots.measures import measures
from plots.report.charts import NARROW_IN, WIDE_IN
from plots.results import read_result
from plots.scaling_file import read_scaling
from plots.sweep_file import read_sweep
from tests.plots.breakdown_cases import BREAKDOWN_CASES
from tests.plots.cases import CASES
from tests.plots.run_cases import RUN_CASES, write_run
from tests.plots.scaling_cases import SCALING_CASES
from tests.plots.sweep_cases import SWEEP_CASES

pytestmark = pytest.mark.slow

HAIR = 2.0  # pixels of a hundredth of an inch
MARGIN = 18.0  # the page has so much beside a chart, into which an axis's first number may reach
WIDTHS = pytest.mark.parametrize("width_in", [NARROW_IN, WIDE_IN], ids=["phone", "screen"])


def assert_tidy(module, data, width_in, body_in=None):
    height_in = (body_in or module.body_in)(data, width_in)
    with style.applied():
        figure = Figure(figsize=(width_in, height_in), dpi=100)
        module.draw_body(figure, page.Box(0, 0, width_in, height_in), data)
        figure.draw_without_rendering()
        found = [(text.get_text(), text.get_window_extent()) for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    for text, box in found:
        assert box.x0 > -MARGIN and box.x1 < 100 * width_in + MARGIN and box.y0 > -HAIR and box.y1 < 100 * height_in + HAIR, text
    for (one, box), (other, beside) in itertools.combinations(found, 2):
        over_x, over_y = min(box.x1, beside.x1) - max(box.x0, beside.x0), min(box.y1, beside.y1) - max(box.y0, beside.y0)
        assert over_x <= HAIR or over_y <= HAIR, (one, other)


@WIDTHS
@pytest.mark.parametrize("case", CASES)
def test_the_bars_are_tidy(written, case, width_in):
    assert_tidy(bars, measures(read_result(written(CASES[case]))), width_in)


@WIDTHS
@pytest.mark.parametrize("case", BREAKDOWN_CASES)
def test_the_phases_are_tidy(written, case, width_in):
    assert_tidy(phases, read_result(written(BREAKDOWN_CASES[case])).breakdowns, width_in)


@WIDTHS
@pytest.mark.parametrize("case", SWEEP_CASES)
def test_the_sweep_is_tidy(written, case, width_in):
    assert_tidy(sweep, read_sweep(written(SWEEP_CASES[case])), width_in, sweep_layout.body_in)


@WIDTHS
@pytest.mark.parametrize("case", SCALING_CASES)
def test_the_scaling_is_tidy(written, case, width_in):
    assert_tidy(scaling, read_scaling(written(SCALING_CASES[case])), width_in)


@WIDTHS
@pytest.mark.parametrize("case", RUN_CASES)
def test_the_learning_curve_is_tidy(tmp_path, case, width_in):
    runs = [write_run(tmp_path / f"run{number}", run) for number, run in enumerate(RUN_CASES[case])]
    assert_tidy(curve, read_runs(*runs), width_in)
