"""SkyRL's engine in this interpreter, with GSPO where its backend has none. serve.py starts it with the engine's own flags."""

import ctypes
import os
import signal
import sys

import engine_spans
import silent_sessions
import upstream

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """An engine never outlives its API, even one that was killed, and be it before this line."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(os.environ.get(upstream.API_PID, os.getppid())):
        sys.exit(1)


def main() -> None:
    """Runs skyrl.tinker.engine until it is stopped; exits 1 with two lines where SkyRL is not as expected."""
    end_with_parent()
    try:
        if dict(zip(sys.argv, sys.argv[1:], strict=False)).get("--backend") == "jax":
            import jax_gspo

            upstream.allow_without_torch()
            jax_gspo.install()
        from skyrl.tinker import engine

        silent_sessions.install(engine.TinkerEngine)
        if log := engine_spans.log_from_environment():
            engine_spans.install(engine.TinkerEngine, log)
    except (ImportError, RuntimeError) as error:
        sys.exit(upstream.mismatch(str(error)))
    upstream.quiet_logs()
    engine.main()


if __name__ == "__main__":
    main()
