"""`python -m bench`. Doctor, sweep and scale run on hosts that have nothing but Python, so nothing else is imported for them."""

import sys
from pathlib import Path

from bench.image import typed
from bench.leave import leaving


def _main() -> None:
    if sys.argv[1:2] == ["doctor"]:
        from bench.doctor.main import main as doctor

        sys.exit(doctor(sys.argv[2:]))
    if sys.argv[1:2] == ["sweep"]:
        from bench.sweep.main import main as sweep

        sys.exit(sweep(sys.argv[2:]))
    if sys.argv[1:2] == ["scale"]:
        from bench.scale.main import main as scale

        sys.exit(scale(sys.argv[2:]))
    try:
        from bench.cli import main
    except ModuleNotFoundError as error:
        print(
            f"bench: the package {error.name} is missing: pip install -r docker/requirements/client.txt (Python 3.13), or use the image:\n"
            f"{typed(sys.argv[1:], Path.cwd())}",
            file=sys.stderr,
        )
        sys.exit(2)
    main()


if __name__ == "__main__":
    leaving(_main)
