"""A scaling run's picture: its bars against the file, what is lost, failures named, from one row to a thousand GPUs."""

import json

import pytest
from matplotlib.colors import to_hex

from plots import style
from plots.errors import NothingToDraw, PlotInputError
from plots.render import figure_of
from plots.scaling import draw
from plots.scaling_file import read_scaling
from plots.size import README, SLIDE
from tests.plots.pixels import assert_tidy
from tests.plots.pixels import written as texts
from tests.plots.scaling_cases import SCALING_CASES, row, scale


@pytest.fixture
def read(written):
    return lambda document: read_scaling(written(document))


def bars(figure):
    return [[round(patch.get_height(), 6) for patch in axes.patches if patch.get_gid() == "pace"] for axes in figure.axes if axes.patches]


def ideals(figure):
    return [line.get_ydata()[0] for axes in figure.axes for line in axes.lines if line.get_gid() == "ideal"]


def test_bars_are_the_pace_against_one_gpu_and_dashes_what_nothing_lost_would_be(read):
    figure = figure_of(draw, read(SCALING_CASES["to eight"]))
    # The same batch: 8 s over 8, 5, 4 and 3.2 s. The growing one: twice the tokens in 8 s, four times in 10 s, eight times in 12.8 s.
    assert bars(figure) == [[1.0, 1.6, 2.0, 2.5], [1.0, 2.0, 3.2, 5.0]]
    assert ideals(figure) == [2, 4, 8, 2, 4, 8]


def test_the_words_say_what_the_most_gpus_gain_and_what_is_left_of_each(read):
    written = texts(figure_of(draw, read(SCALING_CASES["to eight"])))
    assert "8 GPUs: 2.50 times as fast as 1 GPU, 5.00 times with a batch that grows" in written
    # 2.5 / 8 and 5 / 8, half a digit up.
    assert "Each of 8 GPUs does 31.3 % of what one alone does with the same batch, 62.5 % with the growing batch." in written
    for words in ("80.0 %", "1.60 ×", "5.000 s", "7.143 s", "30.0 %", "2 GPUs", "tokens a second by the median step, 1 GPU = 1 ×"):
        assert words in written


def test_a_row_that_failed_has_no_bar_and_says_why(read):
    figure = figure_of(draw, read(SCALING_CASES["none of one"]))
    written = texts(figure)
    assert bars(figure) == [[1.0, round(5 / 3, 6)], [1.0]]
    assert any(text.startswith("× out of") for text in written) and any(text.startswith("× timed out") for text in written)
    assert "4 GPUs, growing batch: timed out: not done within 900 s" in written
    assert "4 GPUs: 1.67 times as fast as 2 GPUs" in written
    assert "PARTIAL RUN: the time budget of 600 s is spent" in written


def test_devices_of_a_processor_are_not_called_gpus(read):
    written = texts(figure_of(draw, read(SCALING_CASES["on a CPU"])))
    assert "2 devices: 1.60 times as fast as 1 device" in written
    assert any(text.startswith("These devices are XLA's, all of one processor") for text in written)
    assert "2 devices" in written and "2 GPUs" not in written


def test_one_row_is_no_comparison(read):
    assert "The same step on 1 GPU: nothing to compare yet" in texts(figure_of(draw, read(SCALING_CASES["a reference alone"])))
    with pytest.raises(NothingToDraw, match="has no row yet"):
        read(scale([]))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"kind": "gspo-bench"}, "kind"),
        ({"schema": 2}, "schema 2"),
        ({"rows": [row(1, "same", 1.0, 8.0) | {"gpus": 0}]}, "rows[0].gpus"),
        ({"rows": [row(1, "same", 1.0, 8.0) | {"gpus": 1.5}]}, "rows[0].gpus"),
        ({"rows": [row(1, "same", 1.0, 8.0) | {"gpus": None}]}, "rows[0].gpus"),
        ({"rows": [row(1, "odd", 1.0, 8.0)]}, "rows[0].batch"),
        ({"rows": [row(1, "same", 1.0, 8.0, native_1pass_s=0.0)]}, "rows[0].native_1pass_s"),
    ],
)
def test_a_wrong_file_is_one_line_that_names_the_place(written, change, named):
    with pytest.raises(PlotInputError) as error:
        read_scaling(written(json.dumps(scale([row(1, "same", 1.0, 8.0)]) | change).encode()))
    assert named in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("size", [README, SLIDE], ids=["readme", "slide"])
@pytest.mark.parametrize("case", SCALING_CASES)
def test_no_two_texts_overlap_and_none_leaves_the_picture(read, case, size):
    assert_tidy(figure_of(draw, read(SCALING_CASES[case]), size))


def test_no_mark_stands_for_two_passes_which_have_no_bar(read):
    figure = figure_of(draw, read(SCALING_CASES["to eight"]))
    drawn = {to_hex(patch.get_facecolor()) for axes in figure.axes for patch in axes.patches if patch.get_gid() == "pace"}
    marks = {to_hex(line.get_color()) for axes in figure.axes for line in axes.lines if line.get_marker() not in ("", "None", None)}
    assert drawn == {style.COLOURS["native_1pass"]} and not marks
