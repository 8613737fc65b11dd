"""SkyRL's engine in this interpreter, with GSPO where its backend has none. serve.py starts it with the engine's own flags."""

import ctypes
import signal
import sys

import upstream

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Runs skyrl.tinker.engine until it is stopped; exits 1 with two lines where SkyRL is not as expected."""
    if sys.platform == "linux":  # an engine never outlives its API, even one that was killed
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        if "jax" in sys.argv:
            import jax_gspo

            upstream.allow_without_torch()
            jax_gspo.install()
        from skyrl.tinker.engine import main as run_engine
    except (ImportError, RuntimeError) as error:
        sys.exit(upstream.mismatch(str(error)))
    upstream.quiet_logs()
    run_engine()


if __name__ == "__main__":
    main()
