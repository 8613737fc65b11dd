"""The page's colours: known contrasts, and every colour of data seen on a light and on a dark page."""

import pytest

from plots import style
from plots.report.palette import DARK_PAPER, contrast, dark, light
from plots.svg import variable


def test_contrast_is_wcags():
    assert contrast("#ffffff", "#000000") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # WCAG's own example of just too little
    assert contrast("#123456", "#123456") == 1.0


@pytest.mark.parametrize("colour", dict.fromkeys(style.DATA))
def test_every_colour_of_data_is_seen_on_a_dark_page_and_is_itself_on_a_light_one(colour):
    assert light()[variable(colour)] == colour
    shown = dark()[variable(colour)]
    assert contrast(shown, DARK_PAPER) >= 3.0
    assert shown == colour or contrast(colour, DARK_PAPER) < 3.0


def test_every_variable_has_both_colours():
    assert light().keys() == dark().keys()


@pytest.mark.parametrize(("colours", "paper"), [(light(), style.PAPER), (dark(), DARK_PAPER)], ids=["light", "dark"])
def test_words_have_the_contrast_that_words_need(colours, paper):
    assert all(contrast(colours[name], paper) >= 4.5 for name in ("--ink", "--muted", "--alert"))
