"""Entry point of `python -m plots`."""

import sys

from plots.errors import lacking

try:
    from plots.cli import main
except (SyntaxError, ModuleNotFoundError) as error:
    print(f"plots: {lacking(error)}", file=sys.stderr)
    sys.exit(2)

sys.exit(main())
