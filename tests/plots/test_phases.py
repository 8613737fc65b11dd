"""The phases of a step: what is read against numbers worked out by hand, and the picture's parts."""

import copy

import pytest
from matplotlib.colors import to_hex

from plots import phase_words, style
from plots.errors import NothingToDraw, PlotInputError
from plots.phases import draw
from plots.render import figure_of
from plots.results import read_result
from plots.size import README, SLIDE
from tests.plots.breakdown_cases import BREAKDOWN_CASES, TIMELINES, timed_by_both
from tests.plots.pixels import assert_tidy
from tests.plots.pixels import written as texts

pytestmark = pytest.mark.slow


@pytest.fixture
def read(written):
    return lambda document: read_result(written(document))


def segments(figure):
    """Return each phase's beginning and length in inches, by path and phase."""
    return {
        patch.get_gid(): (patch.get_x(), patch.get_width())
        for axes in figure.axes
        for patch in axes.patches
        if "-" in (patch.get_gid() or "")
    }


def test_the_phases_are_read_in_their_order(read):
    native = next(made for made in read(timed_by_both()).breakdowns if made.path == "native_1pass")
    assert [(phase.name, phase.seconds) for phase in native.phases] == list(TIMELINES["native_1pass"].items())
    assert (native.step_s, native.floor_s, native.mfu_pct, native.by_client, native.excess_s) == (0.5, 0.05, 10.0, False, 0.0)
    assert native.share("engine") == pytest.approx(0.9)


def test_a_bar_is_as_long_as_its_step_and_each_part_as_its_phase(read):
    figure = figure_of(draw, read(timed_by_both()))
    found = segments(figure)
    width_in = 10.0 - 2 * 0.35  # the longest step has the whole width
    left = 0.0
    for phase, seconds in TIMELINES["custom_2pass"].items():
        assert found[f"custom_2pass-{phase}"] == pytest.approx((left, width_in * seconds / 0.75))
        left += width_in * seconds / 0.75
    assert left == pytest.approx(width_in)
    assert sum(length for name, (_, length) in found.items() if name.startswith("native_1pass-")) == pytest.approx(width_in * 0.5 / 0.75)


def test_every_phase_is_named_with_its_time_and_share(read):
    written = texts(figure_of(draw, read(timed_by_both())))
    for name, time, share in (
        ("forward + backward", "0.400 s", "80.0 %"),
        ("unexplained", "8.000 ms", "1.6 %"),
        ("ratios", "8.000 ms", "1.1 %"),
    ):
        assert name in written and time in written and share in written
    assert "90.0 % of the fused step is the server's engine at work" in written
    # 0.17 s more in the engine; submit, queued and fetch: 0.092 s against 0.036 s.
    assert "On average two passes take 0.250 s more a step: 0.170 s in the engine and 56.00 ms in wire and queue." in written
    assert "▼ arithmetic alone: 50.00 ms (10.0 % of the peak used)" in written
    assert "Fused GSPO: the median step takes 10.0 times what its arithmetic alone would; 10.0 % of the device's peak is used." in written


def test_what_the_phases_leave_of_the_step_is_unexplained_and_hatched(read):
    document = timed_by_both()
    del document["native_1pass"]["timeline_mean_s"]["fetch"]  # 0.02 s nobody accounts for, on top of 0.008 s
    figure = figure_of(draw, read(document))
    native = next(made for made in read(document).breakdowns if made.path == "native_1pass")
    assert native.phases[-1].name == "unexplained" and native.phases[-1].seconds == pytest.approx(0.028)
    (patch,) = [patch for axes in figure.axes for patch in axes.patches if patch.get_gid() == "native_1pass-unexplained"]
    assert patch.get_hatch() and to_hex(patch.get_facecolor()) == style.PHASES["unexplained"][0]


def test_phases_that_add_up_to_more_than_their_step_are_said_to(read):
    result = read(BREAKDOWN_CASES["overlapping"])
    assert phase_words.sums(result.breakdowns) == ["The phases of fused GSPO add up to 20.0 % more than its step: two of them overlap."]


def test_where_nothing_is_unexplained_the_picture_says_so(read):
    said = "Nothing is unexplained: every moment of these steps is in one of the phases."
    assert phase_words.accounted(read(BREAKDOWN_CASES["one phase"]).breakdowns) == [said]
    for case in ("by both clocks", "by the client's clock", "overlapping"):
        assert phase_words.accounted(read(BREAKDOWN_CASES[case]).breakdowns) == []


def test_without_a_rate_the_arithmetic_still_bounds_the_saving(read):
    document = timed_by_both()
    document["roofline"] |= {"peak_tflops": None, "device": "cpu", "paths": {}}
    result = read(document)
    assert phase_words.utilisation(result, ())[-1] == "If arithmetic were all, without gradient checkpointing, the saving would be 33.3 %."


def test_the_clients_clock_alone_is_named_as_such_in_the_title_and_at_each_bar(read):
    written = texts(figure_of(draw, read(BREAKDOWN_CASES["by the client's clock"])))
    assert "Where a step's time goes, by the client's clock alone" in written
    assert "fused, one pass: mean 0.189 s, by the client's clock" in written
    assert "The file has no times of the server's own: a wait holds the wire, the queue and the engine together." in written


def test_a_phase_keeps_its_colour_in_every_bar(read):
    figure = figure_of(draw, read(BREAKDOWN_CASES["four paths"]))
    colours = {}
    for axes in figure.axes:
        for patch in axes.patches:
            if "-" in (patch.get_gid() or ""):
                colours.setdefault(patch.get_gid().partition("-")[2], set()).add(to_hex(patch.get_facecolor()))
    assert len(colours) == 10
    assert all(len(used) == 1 for used in colours.values())
    assert len(set.union(*colours.values())) == 10


def test_one_request_and_one_wait_are_not_plural(read):
    document = timed_by_both()
    document["native_1pass"]["wire_mean"] = {"requests": 1.0, "up_bytes": None, "down_bytes": None, "round_trips": 1.001}
    document["custom_2pass"]["wire_mean"] = {"requests": 2.5, "up_bytes": None, "down_bytes": None, "round_trips": 2}
    (line,) = phase_words.wire(read(document).breakdowns)
    assert line == "The wire a step: fused GSPO, 1 request, 1 dependent wait; two passes, 2.5 requests, 2 dependent waits."


def test_a_file_without_phases_has_nothing_to_draw(published, read):
    with pytest.raises(NothingToDraw, match="has no phases"):
        figure_of(draw, read(published))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("native_1pass", "timeline_mean_s"), [1]),
        (("native_1pass", "timeline_mean_s", "fetch"), "0.1"),
        (("native_1pass", "utilisation", "floor_s"), -1),
        (("roofline", "paths"), 3),
        (("clock", "uncertainty_s"), -0.1),
    ],
)
def test_a_wrong_value_is_one_line_that_names_it(read, where, value):
    document = timed_by_both()
    inner = document
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    with pytest.raises(PlotInputError) as error:
        read(document)
    assert ".".join(where) in str(error.value) and "\n" not in str(error.value)


def test_absent_and_null_parts_are_left_out(read):
    document = timed_by_both()
    for name in ("utilisation", "wire_mean"):
        for path in ("native_1pass", "custom_2pass"):
            document[path][name] = None
    bare = copy.deepcopy(document)
    del bare["roofline"], bare["clock"]
    written = texts(figure_of(draw, read(bare)))
    assert not any("arithmetic" in text or "wire a step" in text or "clock is" in text for text in written)
    assert any("If arithmetic were all, the saving would be 33.3 %" in text for text in [" ".join(texts(figure_of(draw, read(document))))])


@pytest.mark.parametrize("size", [README, SLIDE], ids=["readme", "slide"])
@pytest.mark.parametrize("case", BREAKDOWN_CASES)
def test_no_two_texts_overlap_and_none_leaves_the_picture(read, case, size):
    assert_tidy(figure_of(draw, read(BREAKDOWN_CASES[case]), size))
