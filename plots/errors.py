"""What can go wrong for a user of the plots, each as one line that says what is wrong and what to do."""


class PlotInputError(Exception):
    """A file cannot be drawn: it is missing, unreadable, or not a result file (exit code 2)."""


class NothingToDraw(PlotInputError):  # noqa: N818
    """A file is sound, and has nothing of what a picture shows: asked for by name an error, else one picture less."""


class PlotOutputError(Exception):
    """A picture cannot be written (exit code 1)."""


def lacking(error: SyntaxError | ModuleNotFoundError) -> str:
    """Return what the Python at hand lacks for drawing, and what to do, as two lines."""
    what = f"the package {error.name} is missing" if isinstance(error, ModuleNotFoundError) else "this Python is older than 3.12"
    return (
        f"{what}: pip install -r docker/requirements/client.txt (Python 3.13), or use the image:\n"
        "docker compose run --rm --no-deps plots plots /results/last_gspo_bench.json"
    )
