"""The figure that every picture is drawn on."""

from matplotlib.figure import Figure

from plots.size import Size


class Sheet(Figure):
    """A matplotlib figure that knows which size it has."""

    def __init__(self, size: Size) -> None:
        super().__init__(figsize=(size.width_in, size.height_in or size.width_in), dpi=size.dpi)
        self.size = size
