"""argparse with errors of two lines, for the commands that run where nothing but Python is; the others have click's."""

import argparse
from typing import NoReturn

from bench.errors import InputError
from bench.json_object import one_line

LONGEST = 400  # of an error, which quotes what was given


class Parser(argparse.ArgumentParser):
    """argparse's own, without the usage above its errors."""

    def error(self, message: str) -> NoReturn:
        text = one_line(message).rstrip(".")
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
        self.exit(InputError.exit_code, f"bench: {text}.\nSee {self.prog} --help.\n")
