"""What can go wrong for a user of the plots, each as one line that says what is wrong and what to do."""


class PlotInputError(Exception):
    """A file cannot be drawn: it is missing, unreadable, or not a result file (exit code 2)."""


class NothingToDraw(PlotInputError):  # noqa: N818
    """A file is sound, and has nothing of what a picture shows: asked for by name an error, else one picture less."""


class PlotOutputError(Exception):
    """A picture cannot be written (exit code 1)."""
