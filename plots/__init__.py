"""The pictures: reads result files, draws PNGs, and imports nothing of bench."""

import logging
import os

# Here, as both must come before any import of matplotlib: a backend's name from outside could stop that import, and a
# home folder that cannot be written is no news (matplotlib then makes itself a temporary folder).
os.environ["MPLBACKEND"] = "agg"
logging.getLogger("matplotlib").setLevel(logging.ERROR)
