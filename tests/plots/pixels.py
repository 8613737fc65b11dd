"""What every picture must keep to: its texts inside, none over another."""

import itertools

from matplotlib.text import Text


def written(figure):
    """Return the text of everything written in a figure."""
    return [text.get_text() for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def assert_tidy(figure, least=3):
    """Assert that no text leaves the figure and that no two overlap (by more than a hair)."""
    figure.draw_without_rendering()
    width, height = figure.canvas.get_width_height()
    found = [(text.get_text(), text.get_window_extent()) for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    assert len(found) >= least
    for text, box in found:
        assert 0 < box.x0 < box.x1 < width and 0 < box.y0 < box.y1 < height, text
    for (one, box), (other, beside) in itertools.combinations(found, 2):
        over_x, over_y = min(box.x1, beside.x1) - max(box.x0, beside.x0), min(box.y1, beside.y1) - max(box.y0, beside.y0)
        assert over_x <= 1 or over_y <= 1, (one, other)
