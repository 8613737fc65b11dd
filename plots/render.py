"""From a drawing function to a PNG on the disk, written whole or not at all."""

import io
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg

from plots import style
from plots.errors import PlotOutputError
from plots.sheet import Sheet
from plots.size import README, Size


def figure_of[T](draw: Callable[[Sheet, T], None], data: T, size: Size = README) -> Sheet:
    """Return the figure that `draw` makes of `data`, in the project's style."""
    with style.applied():
        figure = Sheet(size)
        FigureCanvasAgg(figure)
        draw(figure, data)
        return figure


def png_of[T](draw: Callable[[Sheet, T], None], data: T, size: Size = README) -> bytes:
    """Return the picture as the bytes of a PNG file."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # a name in another script: boxes
        figure = figure_of(draw, data, size)
        content = io.BytesIO()
        with style.applied():
            figure.savefig(content, format="png", dpi=size.dpi)
    return content.getvalue()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file through a temporary neighbour and a rename; raises PlotOutputError, and then leaves nothing."""
    # Process ids are the same in containers that draw at once into one folder.
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PlotOutputError(f"{path} cannot be written ({reason}); make its folder writable, or draw FILE elsewhere with --out") from None
