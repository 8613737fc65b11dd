"""The page's colours, in light and in dark: those of the charts stay themselves as long as a dark page lets them be seen."""

from plots import style
from plots.svg import NAMED, variable

DARK_PAPER = "#0f1419"
LEAST_CONTRAST = 3.0  # WCAG's for what is drawn
# What a dark page has instead.
DARK = {
    style.INK: "#e6eaef",
    style.MUTED: "#a7b1bc",
    style.FAINT: "#333c46",
    style.ALERT: "#ff9a91",
    style.PAPER: DARK_PAPER,
    style.BAND: "#161c23",
    style.BEST: "#14293a",
}


def light() -> dict[str, str]:
    """Return each CSS variable's colour on a light page, and on paper."""
    return {variable(colour): colour for colour in (*NAMED, *style.DATA)}


def dark() -> dict[str, str]:
    """Return the same on a dark page."""
    return {variable(colour): DARK.get(colour) or _seen(colour) for colour in (*NAMED, *style.DATA)}


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21 (WCAG 2.2, relative luminance)."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _seen(colour: str) -> str:
    """Return the colour, mixed with as much white as it needs on a dark page."""
    channels = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    for step in range(101):
        made = "#" + "".join(f"{round(channel + (255 - channel) * step / 100):02x}" for channel in channels)
        if contrast(made, DARK_PAPER) >= LEAST_CONTRAST:
            break
    return made


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[place : place + 2], 16) / 255) for place in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
