"""The colours: told apart with each of the three colour blindnesses, by simulating them."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from plots import style

pytestmark = pytest.mark.slow

# Machado, Oliveira and Fernandes 2009, severity 1.0, for linear RGB.
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
NOTICED = 12  # CIE 1976; 2 to 3 is just seen side by side


def lab(colour, blindness):
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(BLINDNESS[blindness]) @ linear, 0, 1)
    share = XYZ @ seen / (XYZ @ np.ones(3))
    f = np.where(share > (6 / 29) ** 3, np.cbrt(share), share / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one, other, blindness):
    return float(np.linalg.norm(lab(one, blindness) - lab(other, blindness)))


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize(
    "colours",
    [
        list(style.COLOURS.values()),
        list(style.RUNS),
        [colour for group, shades in style.PHASES.items() if group != "wait" for colour in shades],
        [colour for group, shades in style.PHASES.items() if group in ("wait", "client", "unexplained") for colour in shades],
    ],
    ids=["paths", "runs", "phases by both clocks", "phases by the client's clock"],
)
def test_no_two_colours_of_a_picture_are_taken_for_each_other(colours, blindness):
    near = {pair: distance(*pair, blindness) for pair in itertools.combinations(colours, 2)}
    assert min(near.values()) > NOTICED, min(near.items(), key=lambda item: item[1])


def test_the_distance_is_the_one_of_the_books():
    # Lab of sRGB's pure red with D65: 53.2, 80.1, 67.2; white 100, 0, 0.
    assert lab("#ff0000", "none") == pytest.approx([53.2, 80.1, 67.2], abs=0.3)
    assert lab("#ffffff", "none") == pytest.approx([100, 0, 0], abs=0.1)


@pytest.mark.parametrize("colour", [style.INK, style.MUTED, style.ALERT])
@pytest.mark.parametrize("paper", [style.PAPER, style.BAND, style.BEST])
def test_words_have_a_contrast_of_4_5_on_every_ground(colour, paper):
    def luminance(name):
        rgb = np.array(to_rgb(name))
        return float(XYZ[1] @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4))

    darker, lighter = sorted((luminance(colour), luminance(paper)))
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5
