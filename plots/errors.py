"""What can go wrong for a user of the plots, each as one line that says what is wrong and what to do."""


class PlotInputError(Exception):
    """A file cannot be drawn: it is missing, unreadable, or not a result file (exit code 2)."""


class PlotOutputError(Exception):
    """A picture cannot be written (exit code 1)."""
