"""Ends `run` and `learn` at random moments, in turn, against a server of its own: no model is held beyond the timeout, nothing is lost.

    python tests/long/killed_runs.py --kills 50 --out FOLDER [--seed 1]

SERVER_PYTHON names the interpreter with docker/server's requirements, CLIENT_PYTHON the one with the client's; both default to this one.
Writes kills.csv, a row a kill, and ends with 1 where one broke a rule: a model that was held for longer than the session's timeout and two
looks of the server, a client that did not end, a told step that is in no file, a file that is not whole.
"""

import argparse
import csv
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from long_run import ROOT, SERVER, free_port, wait_until_healthy

TIMEOUT_S = 15  # more than the 10 s between two heartbeats
LOOK_S = 5  # of the server for silent sessions
ENDS_WITHIN_S = 20.0
MOMENTS_S = (0.5, 18.0)
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
COLUMNS = ("number", "program", "signal", "at_s", "last_said", "exit_code", "ended_in_s", "held_s", "told", "kept", "broken")
STEP = {"run": re.compile(r"\] step: (?:fused|two-pass) "), "learn": re.compile(r"\] step \d+: ")}
SMALL = {
    "run": ["--steps", "500", "--prompts-count", "4", "--max-tokens", "24", "--floor-steps", "1"],
    "learn": [
        "--task",
        "arithmetic",
        "--steps",
        "100000",
        "--groups",
        "2",
        "--group-size",
        "4",
        "--test-every",
        "0",
        "--checkpoint-every",
        "1",
    ],
}
Row = dict[str, Any]


def held_s(url: str) -> float:
    """Seconds until no client holds a model."""
    start_s = time.monotonic()
    while time.monotonic() - start_s < 10 * TIMEOUT_S:
        with urllib.request.urlopen(f"{url}/gspo-bench/tenants", timeout=60) as answer:
            if not json.load(answer):
                break
        time.sleep(0.1)
    return time.monotonic() - start_s


def command_of(program: str, python: str, url: str, model: Path, results: Path) -> list[str]:
    flags = ["--base-url", url, "--results", str(results), "--tokenizer", str(model), *SMALL[program]]
    if program == "learn" and (results / "last_learn.json").exists():
        flags = ["--base-url", url, "--results", str(results), "--resume"]
    return [python, "-m", "bench", program, *flags]


def kept_by_run(results: Path, before: set[Path]) -> tuple[int, list[str]]:
    """The steps in the one new file, and what is wrong with the folder."""
    new = sorted(set((results / "runs").glob("*.json")) - before) if (results / "runs").exists() else []
    if len(new) > 1:
        return 0, [f"{len(new)} files of one run"]
    if not new:
        return 0, []
    document = json.loads(new[0].read_text())
    wrong = [] if (document["status"], document["kind"]) == ("partial", "gspo-bench") else ["not marked partial"]
    return sum(step["counted"] for step in document["steps"]), wrong


def kept_by_learn(results: Path) -> tuple[int, list[str]]:
    """The last run's rows, and what is wrong with them; a row that the kill tore off is cut at the next start."""
    if not (results / "last_learn.json").exists():
        return 0, []
    folder = results / json.loads((results / "last_learn.json").read_text())["run"]
    whole = (folder / "metrics.jsonl").read_text().split("\n")[:-1] if (folder / "metrics.jsonl").exists() else []
    steps = [json.loads(line)["step"] for line in whole]
    point = json.loads((folder / "checkpoint.json").read_text())["next_step"] if (folder / "checkpoint.json").exists() else 0
    wrong = [] if steps == list(range(len(steps))) else ["rows are not one by one"]
    return len(steps), wrong + ([] if point <= len(steps) else ["a checkpoint beyond the rows"])


def kill_one(number: int, moments: random.Random, python: str, url: str, model: Path, out: Path) -> Row:
    program, how, at_s = ("run", "learn")[number % 2], moments.choice(SIGNALS), moments.uniform(*MOMENTS_S)
    results, log = out / program, out / "logs" / f"{number}.log"
    before = set((results / "runs").glob("*.json")) if (results / "runs").exists() else set()
    rows_before = kept_by_learn(results)[0] if program == "learn" else 0
    with log.open("wb") as output:
        client = subprocess.Popen(command_of(program, python, url, model, results), stdout=output, stderr=subprocess.STDOUT, cwd=ROOT)
        time.sleep(at_s)
        client.send_signal(how)
        struck_s = time.monotonic()
        try:
            code: int | None = client.wait(timeout=ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            code = None
            client.kill()
            client.wait()
    ended_in_s = time.monotonic() - struck_s
    held = held_s(url)
    said = log.read_text(errors="replace")
    told = len(STEP[program].findall(said))
    kept, broken = kept_by_run(results, before) if program == "run" else kept_by_learn(results)
    if program == "learn":
        resumed = re.search(r"step (\d+) is next", said)
        told += int(resumed[1]) if resumed else rows_before if not told else 0
    # A killed run's file is that of the round before: a round has two steps, and the second is told before it is saved.
    least = told - 2 if (program, how) == ("run", signal.SIGKILL) else told
    broken += [f"{told} steps told, {kept} kept"] if kept < least else []
    broken += ["the client did not end"] if code is None else []
    broken += [f"a model was held for {held:.0f} s"] if held > TIMEOUT_S + 2 * LOOK_S else []
    broken += ["a traceback"] if "Traceback" in said else []
    lines = [re.sub(r"^\[ *[\d.]+ s\] ", "", line) for line in said.splitlines() if line.startswith("[")]
    values = (number, program, how.name, round(at_s, 1), lines[-1][:60] if lines else "", code, round(ended_in_s, 1), round(held, 1))
    return dict(zip(COLUMNS, (*values, told, kept, "; ".join(broken)), strict=True))


def report(rows: list[Row], out: Path) -> int:
    """Prints a line for each program and signal; 0 where no rule was broken and no file but the killed's temporaries is half written."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["program"], row["signal"]].append(row)
    for (program, how), found in sorted(groups.items()):
        held = [row["held_s"] for row in found]
        times = (
            f"held {statistics.median(held):5.1f} s, {max(held):5.1f} at most; ended in {max(row['ended_in_s'] for row in found):4.1f} s"
        )
        print(f"{program:<6} {how:<8} {len(found):3} kills; {times}")
    broken = [f"kill {row['number']}: {row['broken']}" for row in rows if row["broken"]]
    for path in sorted(path for program in ("run", "learn") for path in (out / program).rglob("*.json") if not path.name.startswith(".")):
        try:
            json.loads(path.read_text())
        except ValueError:
            broken.append(f"{path} is not whole")
    left = sum(path.name.startswith(".") for program in ("run", "learn") for path in (out / program).rglob("*"))
    print(f"{len(rows)} kills, {len(broken)} broken rules, {left} temporary files left by those that were killed while they wrote")
    print("\n".join(broken))
    return 1 if broken else 0


def main() -> int:
    """Runs it; 0 where no rule was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the moments and signals; default: %(default)s")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    # In the background a shell has it ignored, and so would be all that is started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    out: Path = args.out.resolve()
    (out / "logs").mkdir(parents=True)
    server_python, client_python = (os.environ.get(name, sys.executable) for name in ("SERVER_PYTHON", "CLIENT_PYTHON"))
    model = out / "tiny-qwen3"
    subprocess.run([server_python, SERVER / "make_tiny_qwen3.py", model], check=True)
    url = f"http://127.0.0.1:{(port := free_port())}"
    serve = [server_python, SERVER / "serve.py", "--model", model, "--backend", "jax", "--preset", "cpu", "--port", str(port)]
    serve += ["--session-timeout-s", str(TIMEOUT_S), f"--compile-cache={out}/jax", f"--state={out}/state"]
    moments, rows = random.Random(args.seed), list[Row]()
    with (out / "server.log").open("wb") as server_log, (out / "kills.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        server = subprocess.Popen(serve, stdout=server_log, stderr=subprocess.STDOUT)
        try:
            wait_until_healthy(url, server)
            for number in range(args.kills):
                rows.append(kill_one(number, moments, client_python, url, model, out))
                writer.writerow(rows[-1])
                file.flush()
                print(*(f"{name}={value}" for name, value in rows[-1].items()), flush=True)
        finally:
            server.terminate()
            server.wait(timeout=30)
    return report(rows, out)


if __name__ == "__main__":
    sys.exit(main())
