"""The sizes that a picture is drawn in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """`height_in` is None where a picture is as high as its words and body need. `words`: with the text around the body."""

    width_in: float
    height_in: float | None
    dpi: int
    words: bool = True


README = Size(10.0, None, 200)  # 2,000 pixels wide: sharp where a README shows it at half that
SLIDE = Size(9.6, 5.4, 200)  # 1,920 by 1,080 pixels; only the words that a room needs
SIZES = {"readme": README, "slide": SLIDE}
