"""What `make sweep`, `make scale` and `make learn` would refuse, in settings that `make bench` does not have: judged by their own rules.

Their modules are loaded only where such a setting is there.
"""

import contextlib
import difflib
import io
import reprlib
import shlex
from pathlib import Path

from bench.doctor.finding import Finding, warn
from bench.errors import InputError


def judge_task(task: str) -> Finding | None:
    if not task:
        return None
    from bench.tasks.task import NAMES

    if task in NAMES:
        return None
    near = (difflib.get_close_matches(task.lower(), NAMES, n=1) or NAMES)[0]
    return warn("TASK", f"there is no task {reprlib.repr(task)}", f"TASK={near} make learn     # or: {', '.join(NAMES)}")


def judge_sweep(name: str, root: Path) -> Finding | None:
    """`name` is a sweep's, or a file's as seen from `root`."""
    if not name:
        return None
    from bench.sweep.plan import read_plan, shipped

    try:
        read_plan(str(root / name) if name not in shipped() and _is_path(name) else name)
    except InputError as error:
        seen = str(error).split("\n", 1)[0].rstrip(".").replace(f"{root}/", "")
        return warn("SWEEP", seen, f"SWEEP={shipped()[0]} make sweep     # or: {', '.join(shipped())}, or the path of a JSON file")
    return None


def judge_values(name: str, text: str) -> Finding | None:
    """What is wrong with the values in SWEEP_ARGS or SCALE_ARGS, whose flags are known to be there; None of other settings."""
    if not text or name not in ("SWEEP_ARGS", "SCALE_ARGS"):
        return None
    from bench.scale.main import parser as scale_parser
    from bench.sweep.main import parser as sweep_parser

    target = name.split("_")[0].lower()
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            if target == "sweep":
                sweep_parser().parse_args(["cpu", *shlex.split(text)])
            else:
                scale_parser().parse_args(shlex.split(text))
        except SystemExit as ended:
            if ended.code:
                seen = said.getvalue().split("\n", 1)[0].removeprefix("bench: ").rstrip(".")
                return warn(name, seen, f"{name}='...' make {target}     # all flags: python3 -m bench {target} --help")
    return None


def _is_path(name: str) -> bool:
    """As `read_plan` tells a file from a name."""
    return "/" in name or name.endswith(".json")
