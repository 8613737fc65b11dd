"""Heights, whiskers and dots, worked out by hand."""

import statistics

import numpy as np
import pytest

from plots.measures import Bar, beyond, highest, measures
from plots.results import read_result


def by_path(bars):
    return {bar.path: bar for bar in bars}


def test_a_published_bar_is_the_mean_and_its_whisker_the_deviation(published, written):
    drawn = measures(read_result(written(published)))
    assert drawn.centre == "mean"
    native = by_path(drawn.seconds)["native_1pass"]
    assert native.height == 12.915
    assert native.whisker == pytest.approx((12.686, 13.144))
    rate = by_path(drawn.tokens)["native_1pass"]
    assert rate.height == 586.0  # the file's, though 7569 / 12.915 is 586.06
    rates = [7569 / time for time in published["native_1pass"]["times"]]
    assert rate.dots == pytest.approx(rates)
    assert rate.whisker[1] - rate.height == pytest.approx(statistics.stdev(rates))


def test_our_bar_is_the_median_and_its_whisker_the_quartiles(schema1, written):
    schema1["native_1pass"] |= {"median_s": 0.5, "times": [0.1, 0.3, 0.5, 0.7, 0.9]}
    schema1["summary"]["total_tokens_per_step"] = 1000
    drawn = measures(read_result(written(schema1)))
    assert drawn.centre == "median"
    native = by_path(drawn.seconds)["native_1pass"]
    assert (native.height, native.dots) == (0.5, (0.1, 0.3, 0.5, 0.7, 0.9))
    assert native.whisker == pytest.approx((0.3, 0.7))
    rate = by_path(drawn.tokens)["native_1pass"]
    assert rate.height == 2000
    assert rate.whisker == pytest.approx(tuple(np.percentile([10000, 1000 / 0.3, 2000, 1000 / 0.7, 1000 / 0.9], [25, 75])))


def test_below_four_steps_there_is_no_whisker(schema1, written):
    schema1["native_1pass"] |= {"median_s": 0.2, "times": [0.1, 0.2, 0.3]}
    assert by_path(measures(read_result(written(schema1))).seconds)["native_1pass"].whisker is None


def test_without_a_token_count_the_files_own_rates_are_drawn_beside_the_means(schema1, written):
    del schema1["summary"]["total_tokens_per_step"], schema1["batch"]
    drawn = measures(read_result(written(schema1)))
    assert drawn.centre == "mean"
    assert by_path(drawn.seconds)["custom_2pass"].height == schema1["custom_2pass"]["mean_s"]
    assert by_path(drawn.tokens)["custom_2pass"].height == schema1["custom_2pass"]["tokens_per_s"]


def test_without_any_rate_there_is_no_second_panel(written):
    assert measures(read_result(written({"native_1pass": {"times": [1.0, 2.0]}}))).tokens == ()


def test_a_deviation_wider_than_the_mean_stops_at_zero(written):
    document = {"native_1pass": {"mean_s": 1.0, "stdev_s": 3.0, "times": [1.0]}}
    assert measures(read_result(written(document))).seconds[0].whisker == (0.0, 4.0)


def test_a_step_far_above_every_bar_does_not_set_the_panels_height():
    bars = (Bar("native_1pass", 10.0, (9.0, 11.0), (9.0, 14.0, 100.0)), Bar("custom_2pass", 8.0, None, (8.0,)))
    assert highest(bars) == 14.0  # the limit is 1.5 times 11
    assert beyond(bars) == (100.0,)
    assert beyond(bars[1:]) == ()
