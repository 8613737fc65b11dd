"""The pictures: reads result files, draws PNGs, and imports nothing of bench."""
