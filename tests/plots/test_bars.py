"""The picture itself: its artists against values worked out by hand, and its pixels."""

import copy
import io
import json

import matplotlib.image
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from plots import style
from plots.bars import draw
from plots.errors import PlotInputError
from plots.render import figure_of, png_of
from plots.results import read_result
from plots.size import README, SLIDE
from tests.plots.cases import CASES, PATHS
from tests.plots.pixels import assert_tidy

pytestmark = pytest.mark.slow


@pytest.fixture
def drawn(written):
    """Draw a document and return its figure."""
    return lambda document: figure_of(draw, read_result(written(document)))


def heights(axes):
    return {patch.get_gid(): patch.get_height() for patch in axes.patches}


def texts(figure):
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def extents(figure):
    """Return what is written and where, in pixels; an axis's offset text and such are empty and left out."""
    figure.draw_without_rendering()
    return [(text.get_text(), text.get_window_extent()) for text in texts(figure)]


def test_the_bars_are_drawn_for_the_published_file(published, drawn):
    seconds, tokens = drawn(published).axes
    assert heights(seconds) == {"native_1pass": 12.915, "custom_2pass": 16.771}
    assert heights(tokens) == {"native_1pass": 586.0, "custom_2pass": 451.3}
    two_passes, fused = [lines.get_segments()[0][:, 1] for lines in seconds.collections]
    assert two_passes == pytest.approx((16.771 - 0.458, 16.771 + 0.458))
    assert fused == pytest.approx((12.915 - 0.229, 12.915 + 0.229))


def test_the_bars_stand_from_the_round_trip_to_the_fused_path_and_its_control(schema1, drawn):
    seconds, _ = drawn(schema1).axes
    names = [label.get_text().replace("\n", " ") for label in seconds.get_xticklabels()]
    assert names == ["SDK custom loss", "two passes (round trip)", "fused, one pass", "fused again (control)"]
    assert [patch.get_gid() for patch in seconds.patches] == [
        "sdk_custom",
        "custom_2pass",
        "native_1pass",
        "native_1pass_control",
    ]


def test_our_bars_are_the_medians_and_every_step_is_a_dot_in_its_order(schema1, drawn):
    seconds, tokens = drawn(schema1).axes
    assert heights(seconds) == {name: schema1[name]["median_s"] for name in PATHS}
    assert heights(tokens)["native_1pass"] == pytest.approx(1249 / schema1["native_1pass"]["median_s"])
    dots = [line for line in seconds.lines if line.get_marker() == "o" and len(line.get_xdata())]
    assert sorted(list(line.get_ydata()) for line in dots) == sorted(schema1[name]["times"] for name in PATHS)
    assert all(np.all(np.diff(line.get_xdata()) > 0) for line in dots)


@pytest.mark.parametrize(
    ("case", "unit", "value"),
    [("schema1", "Seconds", " s"), ("milliseconds", "Milliseconds", " ms"), ("microseconds", "Microseconds", " µs")],
)
def test_the_unit_suits_the_longest_bar(drawn, case, unit, value):
    figure = drawn(CASES[case])
    written = [text.get_text() for text in texts(figure)]
    assert f"{unit} a step, median" in written
    assert sum(text.endswith(value) and text[0].isdigit() for text in written) == 4


def test_a_result_that_is_not_valid_is_titled_so(drawn):
    written = [text.get_text() for text in drawn(CASES["invalid"]).texts]
    assert written[:2] == ["Not a valid result: do not use these numbers", "NOT VALID: gspo: row 1 came as row 2"]
    assert not any("saving over" in text for text in written)


def test_a_step_beyond_the_panel_is_a_triangle_at_its_edge(drawn):
    seconds, _ = drawn(CASES["one slow step"]).axes
    (triangle,) = [line for line in seconds.lines if line.get_marker() == "^" and len(line.get_xdata())]
    assert list(triangle.get_ydata()) == [seconds.get_ylim()[1]]
    assert seconds.get_ylim()[1] < 1


@pytest.mark.parametrize("size", [README, SLIDE], ids=["readme", "slide"])
@pytest.mark.parametrize("case", CASES)
def test_no_two_texts_overlap_and_none_leaves_the_picture(written, case, size):
    assert_tidy(figure_of(draw, read_result(written(CASES[case])), size))


@pytest.mark.parametrize("case", CASES)
def test_every_value_stands_above_its_bar_and_hides_no_step(drawn, case):
    figure = drawn(CASES[case])
    figure.draw_without_rendering()
    for axes in figure.axes:
        values = axes.texts
        assert len(values) == len(axes.patches)
        for value, patch in zip(values, axes.patches, strict=True):
            assert value.get_window_extent().y0 > patch.get_window_extent().y1
        points = [axes.transData.transform(line.get_xydata()) for line in axes.lines if line.get_marker() in "o^"]
        for value in values:
            box = value.get_window_extent()
            assert not any(box.contains(x, y) for x, y in np.concatenate(points))


@pytest.mark.parametrize("case", ["published", "schema1", "a path 1000 times slower", "one slow step", "bare"])
def test_the_colour_of_each_bar_covers_the_height_of_its_value(written, case):
    result = read_result(written(CASES[case]))
    image = matplotlib.image.imread(io.BytesIO(png_of(draw, result)))[:, :, :3]
    assert image.shape[1] == 2000
    assert np.all(image[[0, -1]] == 1) and np.all(image[:, [0, -1]] == 1)  # a white rim: nothing is cut
    left = image[:, :1000] if len(figure_of(draw, result).axes) == 2 else image
    covered = {}
    for path in result.paths:
        same = np.all(np.abs(left - to_rgb(style.COLOURS[path.name])) < 0.01, axis=2)
        covered[path.name] = int(same.sum(axis=0).max()) if same.any() else 0
    longest = max(result.paths, key=lambda path: median_or_mean(result, path))
    assert covered[longest.name] > 300
    for path in result.paths:
        share = median_or_mean(result, path) / median_or_mean(result, longest)
        assert covered[path.name] == pytest.approx(share * covered[longest.name], abs=25)  # dots and whiskers hide some


def median_or_mean(result, path):
    by_median = result.schema and result.setting.tokens_per_step
    return path.median_s if by_median else path.mean_s


def test_a_dollar_sign_stays_a_dollar_sign(schema1, drawn):
    schema1["summary"]["model"] = "$\\frac{broken$"
    assert any("$\\frac{broken$" in text for text, _ in extents(drawn(schema1)))


def test_a_name_in_another_script_is_drawn_without_noise(schema1, written, recwarn):
    schema1["summary"]["model"] = "模型 \U0001f600"
    assert png_of(draw, read_result(written(schema1))).startswith(b"\x89PNG")
    assert not recwarn.list


def test_the_same_file_gives_the_same_picture_whatever_the_users_style(schema1, written):
    result = read_result(written(schema1))
    plain = png_of(draw, result)
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black", "text.usetex": True}):
        assert png_of(draw, result) == plain


places = st.sampled_from(
    [
        ("native_1pass", "times"),
        ("native_1pass", "mean_s"),
        ("native_1pass", "median_s"),
        ("custom_2pass", "stdev_s"),
        ("custom_2pass", "tokens_per_s"),
        ("sdk_custom",),
        ("summary", "total_tokens_per_step"),
        ("summary", "model"),
        ("comparisons",),
        ("comparisons", 0, "saving_median_pct"),
        ("comparisons", 0, "ci_low_pct"),
        ("comparisons", 0, "candidate"),
        ("comparisons", 0, "pairs"),
        ("warnings",),
        ("environment", "server", "gpus"),
        ("environment", "server", "cpu_count"),
        ("created_at",),
    ]
)
values = (
    st.none()
    | st.floats()
    | st.floats(1e-9, 1e9)
    | st.integers()
    | st.text()
    | st.lists(st.floats(1e-9, 1e9), max_size=60)
    | st.lists(st.fixed_dictionaries({"name": st.text()}), max_size=3)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=60)
@given(changes=st.lists(st.tuples(places, values), min_size=1, max_size=3))
def test_whatever_is_read_can_be_drawn_and_stays_inside(written, changes):
    document = copy.deepcopy(CASES["schema1"])
    for keys, value in changes:
        inner = document
        try:
            for key in keys[:-1]:
                inner = inner[key]
            inner[keys[-1]] = value
        except (TypeError, IndexError):
            continue  # an earlier change took this place away
    try:
        result = read_result(written(json.dumps(document).encode()))
    except PlotInputError:
        return
    figure = figure_of(draw, result)
    width, height = figure.canvas.get_width_height()
    assert all(0 < box.x0 < box.x1 < width and 0 < box.y0 < box.y1 < height for _, box in extents(figure))
