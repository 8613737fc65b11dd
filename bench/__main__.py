"""`python -m bench`. The doctor runs on hosts that have nothing but Python, so nothing else is imported for it."""

import sys


def _main() -> None:
    if sys.argv[1:2] == ["doctor"]:
        from bench.doctor.main import main as doctor

        sys.exit(doctor(sys.argv[2:]))
    from bench.cli import main

    main()


if __name__ == "__main__":
    _main()
