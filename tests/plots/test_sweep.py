"""A sweep's picture: its dots, floors and memory against the file, failures named, from none to a hundred settings."""

import copy
import json
import math

import pytest
from matplotlib.figure import Figure

from plots import page, style
from plots.errors import NothingToDraw, PlotInputError
from plots.render import figure_of
from plots.report.charts import NARROW_IN
from plots.report.sweeping import MOST_ROWS, sweeping
from plots.size import README, SLIDE
from plots.style import BEST
from plots.sweep import draw, draw_body
from plots.sweep_file import read_sweep
from plots.sweep_layout import body_in
from plots.sweep_words import left_out, verdict
from tests.plots.pixels import assert_tidy
from tests.plots.pixels import written as texts
from tests.plots.sweep_cases import GIB, SWEEP_CASES, row, sweep

pytestmark = pytest.mark.slow


@pytest.fixture
def read(written):
    return lambda document: read_sweep(written(document))


def dots(figure, path):
    return [(line.get_xdata()[0], line.get_ydata()[0]) for axes in figure.axes for line in axes.lines if line.get_gid() == path]


def test_each_row_has_its_two_dots_and_its_memory(read):
    figure = figure_of(draw, read(SWEEP_CASES["micro-batches"]))
    assert dots(figure, "native_1pass") == [(8.0, 0), (4.1, 1), (2.0, 2), (1.02, 3), (0.5, 4), (0.7, 5)]
    assert dots(figure, "custom_2pass") == [(10.0, 0), (5.2, 1), (2.7, 2), (1.4, 3), (0.75, 4), (0.9, 5)]
    memory = [patch.get_width() / GIB for axes in figure.axes for patch in axes.patches if patch.get_gid() == "memory"]
    assert memory == [6.0, 8.5, 14.0, 26.0, 45.0, 20.0]


def test_the_floors_are_drawn_where_the_arithmetic_ends(read):
    figure = figure_of(draw, read(SWEEP_CASES["micro-batches"]))
    (times,) = [axes for axes in figure.axes if axes.get_xscale() == "log"]
    lines = sorted(line.get_xdata()[0] for line in times.lines if list(line.get_ydata()) == [0, 1] and len(set(line.get_xdata())) == 1)
    assert lines == [0.05, 0.075]
    assert "arithmetic alone 50.00 ms" in texts(figure)


def test_the_axis_is_logarithmic_only_where_the_range_demands_it(read):
    near = figure_of(draw, read(SWEEP_CASES["on a CPU"]))
    assert not any(axes.get_xscale() == "log" for axes in near.axes)
    assert "Seconds a step, median" in texts(near)
    assert any("CPU only: AMD EPYC (2 cores)  ·  JAX backend" in text for text in texts(near))
    assert "Seconds a step, median, logarithmic" in texts(figure_of(draw, read(SWEEP_CASES["far apart"])))


def test_a_phone_s_chart_says_that_its_times_are_medians_too(read):
    made = read(SWEEP_CASES["far apart"])
    with style.applied():
        figure = Figure(figsize=(NARROW_IN, body_in(made, NARROW_IN)))
        draw_body(figure, page.Box(0, 0, NARROW_IN, body_in(made, NARROW_IN)), made)
    assert "Seconds a step, median" in texts(figure)


def test_one_setting_is_not_plural(read):
    made = read(sweep([row("a", 1.0, 2.0, None), row("b", 3.0, 4.0, None)]))
    assert left_out(made, made.rows[:1]) == "The fastest of 2 settings."
    many = read(sweep([row(f"setting {number}", 1.0 + number, 2.0 + number, None) for number in range(MOST_ROWS + 1)]))
    assert sweeping(many).notes[-1] == "1 more setting in the file."
    assert left_out(many, many.rows[:2]) == f"The 2 fastest of {MOST_ROWS + 1} settings."


def test_a_failed_row_says_why(read):
    written = texts(figure_of(draw, read(SWEEP_CASES["micro-batches"])))
    assert any(text.startswith("× out of memory: CUDA out of memory.") for text in written)
    assert "× timed out: not ready after 180 s" in written
    assert any("2 of them failed" in text for text in written)


def test_a_row_with_one_time_and_a_failure_shows_both(read):
    figure = figure_of(draw, read(SWEEP_CASES["halves"]))
    assert (0.9, 1) in dots(figure, "native_1pass")
    assert any(text.startswith("× out") for text in texts(figure))


def test_the_best_setting_is_marked_and_told_with_its_distance_from_the_floor(read):
    figure = figure_of(draw, read(SWEEP_CASES["micro-batches"]))
    written = texts(figure)
    assert "micro-batch 16: 16.0 times as fast as micro-batch 1" in written
    assert "0.500 s a fused step at best, 10.0 times the 50.00 ms of its arithmetic alone, with 45.0 GiB at the peak." in written
    bands = [patch.get_y() for axes in figure.axes for patch in axes.patches if patch.get_facecolor()[:3] == pytest.approx(rgb(BEST))]
    assert bands == [3.5]
    bold = [text.get_text() for axes in figure.axes for text in axes.texts if text.get_weight() == "bold"]
    assert bold == ["micro-batch 16"]


def test_what_is_not_told_apart_from_the_best_is_named_beside_it(read):
    document = copy.deepcopy(SWEEP_CASES["micro-batches"])
    document["best"]["not_told_apart"] = ["micro-batch 8"]
    told = "Not told apart from it (step times overlap): "
    assert verdict(read(document)).endswith(f"with 45.0 GiB at the peak. {told}micro-batch 8.")
    assert told + "micro-batch 8." in " ".join(texts(figure_of(draw, read(document))))
    document["best"]["not_told_apart"] = list("abcdef")
    assert verdict(read(document)).endswith(f" {told}a, b, c, d and 2 more.")


@pytest.mark.parametrize("near", [{}, {"not_told_apart": None}, {"not_told_apart": []}])
def test_where_nothing_is_not_told_apart_nothing_is_said_of_it(read, near):
    document = copy.deepcopy(SWEEP_CASES["micro-batches"])
    document["best"] |= near
    assert verdict(read(document)).endswith("with 45.0 GiB at the peak.")


def rgb(colour):
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


def test_a_first_setting_that_stays_the_fastest_is_titled_so(read):
    several = sweep([row("stock", 1.0, 1.4, 8.0), row("micro-batch 4", 1.5, 2.0, 9.0)], best=0)
    assert "No other setting was faster than stock" in texts(figure_of(draw, read(several)))
    alone = sweep([row("stock", 1.0, 1.4, 8.0)], best=0)
    assert "Best server setting: stock" in texts(figure_of(draw, read(alone)))


def test_a_slide_shows_the_fastest_of_a_hundred_and_says_so(read):
    figure = figure_of(draw, read(SWEEP_CASES["a hundred"]), SLIDE)
    shown = dots(figure, "native_1pass")
    fastest = sorted(made["native_1pass_s"] for made in SWEEP_CASES["a hundred"]["rows"] if made["native_1pass_s"])[: len(shown)]
    assert sorted(seconds for seconds, _ in shown) == fastest
    assert any(f"The {len(shown)} fastest of 100 settings" in text and "15 out of memory" in text for text in texts(figure))


def test_a_sweep_without_a_row_has_nothing_to_draw(read):
    with pytest.raises(NothingToDraw, match="has no row yet"):
        read(sweep([]))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"kind": "gspo-bench"}, "kind"),
        ({"schema": 2}, "schema 2"),
        ({"rows": [row("a", 1.0, 2.0, 1.0, status="odd")]}, "rows[0].status"),
        ({"rows": [row("a", 1.0, 2.0, 1.0, native_1pass_s=0.0)]}, "rows[0].native_1pass_s"),
        ({"rows": [row("a", 1.0, 2.0, 1.0, native_1pass_s=math.inf)]}, "rows[0].native_1pass_s"),
        ({"rows": {"a": 1}}, "rows"),
        ({"best": {"label": 3}}, "best.label"),
        ({"best": {"label": "a", "not_told_apart": "b"}}, "best.not_told_apart"),
    ],
)
def test_a_wrong_file_is_one_line_that_names_the_place(written, change, named):
    document = json.dumps(sweep([row("a", 1.0, 2.0, 1.0)]) | change).replace("Infinity", "1e999")
    with pytest.raises(PlotInputError) as error:
        read_sweep(written(document.encode()))
    assert named in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("size", [README, SLIDE], ids=["readme", "slide"])
@pytest.mark.parametrize("case", SWEEP_CASES)
def test_no_two_texts_overlap_and_none_leaves_the_picture(read, case, size):
    assert_tidy(figure_of(draw, read(SWEEP_CASES[case]), size))


def test_memory_that_a_sampler_had_a_part_in_is_marked_and_said_to(read):
    document = copy.deepcopy(SWEEP_CASES["micro-batches"])
    document["rows"][0]["sampled"] = True
    written = texts(figure_of(draw, read(document)))
    assert "6.0 GiB*" in written and "45.0 GiB" in written
    assert "* This server sampled the batch too, so its memory holds the sampler's." in written
