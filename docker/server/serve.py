"""Starts SkyRL's Tinker API and its engine from this interpreter, without `uv run`.

python serve.py --model Qwen/Qwen3-0.6B --backend fsdp --preset l4
python serve.py --model /models/tiny-qwen3 --backend jax --preset cpu --port 8000
"""

import argparse
import os
import signal
import sqlite3
import sys
import tempfile
from collections.abc import MutableMapping
from pathlib import Path
from types import FrameType
from typing import Any

import compile_cache
import engine_spans
import leftovers
import pid_one
import placement
import shards
import upstream
from arguments import Parser, whole
from backend_config import UsageError, attention_config, changed, check, load_preset, parse_backend_config, sampler_config
from machine import gpus_in_sight, model_config

HERE = Path(__file__).resolve().parent
# Longer than the SDK sends a request again: 5 minutes, then the try under way with its own 10 repeats of a minute each.
KEEP_REQUESTS_S = 1800
DATABASE, CHECKPOINTS = "tinker.db", "checkpoints"
HOST_DEVICES = "--xla_force_host_platform_device_count"
STALE_SWEEP_S = 5  # how often the engine looks for sessions that stopped heart-beating; SkyRL's own 60 s make a retry wait


ROLLOUTS_HELP = (
    "how many will be sampled here; sampled: one batch, for which vLLM compiles nothing; often: as in a learning run; "
    "shipped: none, so that fsdp only trains and starts no vLLM; default: %(default)s"
)


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Parses the command line; backend_config of the result is the preset's with --backend-config's keys over it,
    and preset_changed names those that are not as in the preset."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="name on the Hugging Face hub, or folder")
    parser.add_argument("--backend", choices=["jax", "fsdp"], default="fsdp", help="default: %(default)s")
    parser.add_argument("--preset", help="a file of presets/, without .json, or any such file by its path; default: SkyRL's own settings")
    parser.add_argument("--backend-config", default="", metavar="JSON", help="settings that go over the preset's")
    parser.add_argument("--runtime-role", choices=["combined", "trainer", "inference"], default="combined")
    parser.add_argument("--rollouts", choices=["sampled", "often", "shipped"], default="often", help=ROLLOUTS_HELP)
    parser.add_argument("--gpus", type=gpu_count, help="GPUs of each node to spread the model over, or all; default: the settings', else 1")
    parser.add_argument("--nodes", type=whole(1), help="nodes of a Ray cluster to spread it over; default: the settings', else 1")
    parser.add_argument("--ray-address", default="", help="a running Ray cluster's; default: one of this machine's own, for this server")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; default: %(default)s")
    parser.add_argument("--port", type=whole(1, 65535), default=8000, help="default: %(default)s")
    parser.add_argument("--state", default="", metavar="DIR", help="folder that keeps both of these; default: they go with the server")
    parser.add_argument("--database-url", help="default: a SQLite file in the state")
    parser.add_argument("--checkpoints-base", help="folder of saved weights; default: one in the state")
    parser.add_argument("--compile-cache", metavar="DIR", help="folder for what the JAX backend compiles; default: it compiles anew")
    parser.add_argument(
        "--session-timeout-s", type=whole(1), default=300, help="drop a client's model after this silence; default: %(default)s"
    )
    parser.add_argument(
        "--keep-requests-s",
        type=whole(0),
        default=KEEP_REQUESTS_S,
        help="drop the data of requests finished longer ago; 0 keeps all; default: %(default)s",
    )
    parser.add_argument("--check-only", action="store_true", help="say whether these settings can be, as far as names tell; start nothing")
    args = parser.parse_args(argv)
    if args.rollouts == "shipped" and args.backend == "fsdp":
        args.runtime_role = "trainer"
    try:
        preset = load_preset(args.preset) if args.preset else {}
        own = {} if args.backend == "jax" else attention_config()
        over = parse_backend_config(args.backend_config)
        asked = preset | over
        args.preset_changed = changed(preset, over) if args.preset else []
        if args.backend == "jax" and args.runtime_role != "combined":
            raise UsageError(f"--runtime-role {args.runtime_role} needs --backend fsdp; the JAX backend does both in one.")
        if args.backend == "fsdp" and args.runtime_role == "combined":
            asked = sampler_config(args.rollouts, asked)
        args.backend_config = own | asked | placement.settings(args.backend, args.runtime_role, args.gpus, args.nodes, asked)
        check(args.backend, args.backend_config)
        args.placement = placement.placement_of(args.backend, args.runtime_role, args.backend_config)
        if not args.check_only:
            check_devices(args)
        if args.model.startswith(("/", ".")) and not Path(args.model).is_dir():
            raise UsageError(
                f"there is no folder {args.model}.\nGive --model (MODEL) a name on the Hugging Face hub, or a folder that is there."
            )
        if args.backend == "jax" and args.placement.devices > 1:
            by_flag = args.gpus if placement.JAX_DATA not in asked else None
            shards.check_divides(args.backend_config, model_config(args.model), by_flag)
    except UsageError as error:
        parser.exit(2, f"error: {error}\n")
    except ImportError as error:
        parser.exit(1, upstream.mismatch(str(error)) + "\n")
    return args


def gpu_count(text: str) -> int:
    """The value of --gpus: a number from 1, or "all" for those that this process sees."""
    return max(1, gpus_in_sight()) if text == "all" else whole(1, otherwise=", or all")(text)


def check_devices(args: argparse.Namespace) -> None:
    """Raises UsageError where there are fewer devices than the model would be spread over; a CPU is as many for JAX as it is told."""
    if args.backend == "fsdp":
        placement.check_there(args.placement, gpus_in_sight, args.ray_address or os.environ.get("RAY_ADDRESS", ""))
    elif args.ray_address:
        raise UsageError("--ray-address needs --backend fsdp; the JAX backend here runs without Ray.")


def engine_command(engine_config: Any) -> list[str]:
    """How to start the engine: by engine.py beside this file, in this interpreter."""
    from skyrl.tinker.config import config_to_argv

    return [sys.executable, str(HERE / "engine.py"), *config_to_argv(engine_config)]


def prepare_environment(backend: str, environment: MutableMapping[str, str], devices: int = 1, ray_address: str = "") -> None:
    """Sets what the engine's processes inherit, where the caller has not: FlashInfer's sampler is compiled with nvcc at vLLM's first start.

    There is none in the image, and the start would fail there, minutes in. PyTorch's and Triton's sampler needs no compiler but gcc.
    XLA makes as many devices of the processor as it is told to; the flag says nothing to a GPU. Ray takes its cluster from a variable.
    """
    if backend == "fsdp":
        environment.setdefault("VLLM_USE_FLASHINFER_SAMPLER", "0")
    if ray_address:
        environment["RAY_ADDRESS"] = ray_address
    given = environment.get("XLA_FLAGS", "")
    if backend == "jax" and devices > 1 and HOST_DEVICES not in given:
        environment["XLA_FLAGS"] = f"{given} {HOST_DEVICES}={devices}".strip()


def serve(args: argparse.Namespace, state: Path) -> None:
    """Runs the API, which starts the engine, until a signal or the engine's end. Imports SkyRL: 3 to 10 s."""
    if args.backend == "jax":
        upstream.allow_without_torch()
    try:
        import uvicorn
        from skyrl.tinker import api
        from skyrl.tinker.config import EngineConfig
    except ImportError as error:
        sys.exit(upstream.mismatch(str(error)))
    if not callable(getattr(api, "_build_uv_run_cmd_engine", None)):
        sys.exit(upstream.mismatch("skyrl.tinker.api has no _build_uv_run_cmd_engine to replace."))

    import old_requests
    import routes

    os.environ[upstream.API_PID] = str(os.getpid())
    os.environ[engine_spans.SPANS] = str(state / "spans.jsonl")
    api._build_uv_run_cmd_engine = lambda parent_command, config: engine_command(config)
    api.app.state.engine_config = EngineConfig(
        base_model=args.model,
        backend=args.backend,
        backend_config=args.backend_config,
        runtime_role=args.runtime_role,
        database_url=args.database_url or f"sqlite:///{state}/{DATABASE}",
        checkpoints_base=args.checkpoints_base or state / CHECKPOINTS,
        session_timeout_sec=args.session_timeout_s,
        session_cleanup_interval_sec=STALE_SWEEP_S,
    )
    if args.keep_requests_s > 0:
        old_requests.start(api.app.state.engine_config.database_url, args.keep_requests_s)
    notes = ["gspo added to the JAX backend by this server"] if args.backend == "jax" else []
    api.app.include_router(routes.router(args.preset, args.preset_changed, notes, args.placement))
    upstream.quiet_logs()
    uvicorn.run(
        api.app,
        host=args.host,
        port=args.port,
        log_config=None,
        access_log=False,
        backlog=2048,
        timeout_keep_alive=75,  # SkyRL's own: idle SDK connections outlive a burst
        timeout_graceful_shutdown=1,  # clients wait in requests of minutes; a stop must not
    )


def kept_state(folder: Path) -> Path:
    """The folder, made if missing, with what the server before this one left open settled. Exits 2 where it cannot be used."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        kept = leftovers.settle(folder / DATABASE, folder / CHECKPOINTS)
    except (OSError, sqlite3.Error) as error:
        print(f"error: --state {folder} cannot be used: {error}.\nGive a folder that can be written, or remove it.", file=sys.stderr)
        sys.exit(2)
    print(f"State is kept in {folder}, with {kept} checkpoints of before.", file=sys.stderr)
    return folder.resolve()


def exit_on(signum: int, frame: FrameType | None) -> None:
    """Ends the process as a signal does; or with 1 where the engine had died, upon which SkyRL sends the signal to itself."""
    api = sys.modules.get("skyrl.tinker.api")
    engine = getattr(api.app.state, "background_engine", None) if api else None
    if engine is None or engine.returncode in (None, 0, -signal.SIGTERM):
        sys.exit(128 + signum)
    sys.exit(f"error: the engine ended with exit code {engine.returncode}.\nIts own lines above say why.")


def main() -> None:
    """Command line entry. Exits 0 where settings were only checked and can be, 2 for wrong usage, 1 where SkyRL is not as expected or its
    engine died, 143 after SIGTERM.
    """
    pid_one.step_aside()
    args = parse()
    if args.check_only:
        return
    prepare_environment(args.backend, os.environ, args.placement.devices, args.ray_address)
    if args.compile_cache and args.backend == "jax":
        compile_cache.use(Path(args.compile_cache), os.environ)
    os.umask(0)  # the cache's volume is shared with clients that run as other users
    signal.signal(signal.SIGTERM, exit_on)  # uvicorn hands the signal on to this one when it has shut down
    if args.state:
        serve(args, kept_state(Path(args.state)))
        return
    with tempfile.TemporaryDirectory(prefix="gspo-bench-server-", ignore_cleanup_errors=True) as state:
        serve(args, Path(state))


if __name__ == "__main__":
    main()
