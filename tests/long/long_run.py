"""Thousands of steps against a server of its own, with the memory of client, API and engine and the database's size over time.

    python tests/long/long_run.py --rounds 1000 --out FOLDER [--serve-flag=--keep-requests-s=120]

SERVER_PYTHON names the interpreter with docker/server's requirements, CLIENT_PYTHON the one with the client's; both default to this one.
Writes memory.csv, one row every few seconds, and ends with 1 where the client's memory was not flat: its mean over the last quarter of the
steps more than 5 % above that over the second quarter.
"""

import argparse
import csv
import json
import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SERVER = ROOT / "docker" / "server"
FLAT_PCT = 5.0
LOOK_EVERY_S = 5.0
COLUMNS = ("elapsed_s", "rounds", "client_bytes", "api_bytes", "engine_bytes", "database_bytes", "checkpoints_bytes")
Row = dict[str, float]


def resident_bytes(process: int) -> int:
    """What a process has in memory now, 0 where it has ended."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def children(process: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder.exists() else 0


def rounds_done(log: Path) -> int:
    """Counted two-pass steps that the client has told of."""
    return log.read_text(errors="replace").count("step: two-pass") if log.exists() else 0


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def wait_until_healthy(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if server.poll() is not None:
            sys.exit(f"the server ended with {server.returncode}: see its log")
        try:
            with urllib.request.urlopen(f"{url}/api/v1/healthz", timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    sys.exit("the server was not healthy within 300 s")


def watch(client: subprocess.Popen[bytes], server: subprocess.Popen[bytes], out: Path) -> list[Row]:
    """A row every few seconds until the client ends, each written at once."""
    rows: list[Row] = []
    start_s = time.monotonic()
    with (out / "memory.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        while client.poll() is None:
            engine = children(server.pid)
            database = sum(path.stat().st_size for path in out.glob("tinker.db*"))
            sizes = (resident_bytes(client.pid), resident_bytes(server.pid), sum(map(resident_bytes, engine)), database)
            values = (round(time.monotonic() - start_s, 1), rounds_done(out / "client.log"), *sizes, folder_bytes(out / "checkpoints"))
            rows.append(dict(zip(COLUMNS, values, strict=True)))
            writer.writerow(rows[-1])
            file.flush()
            time.sleep(LOOK_EVERY_S)
    return rows


def growth_pct(rows: list[Row], column: str, rounds: int) -> float:
    """From the mean over the second quarter of the rounds to that over the last one, percent."""
    quarters = [[row[column] for row in rows if low <= 4 * row["rounds"] / rounds < high] for low, high in ((1, 2), (3, 4))]
    first, last = (statistics.fmean(values) for values in quarters)
    return 100.0 * (last / first - 1.0)


def main() -> int:
    """Runs it; 0 where the client's memory is flat and the run complete."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1_000, help="of two steps each; default: %(default)s")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--serve-flag", action="append", default=[])
    parser.add_argument("--run-flag", action="append", default=[])
    args = parser.parse_args()
    out: Path = args.out.resolve()
    out.mkdir(parents=True)
    server_python = os.environ.get("SERVER_PYTHON", sys.executable)
    client_python = os.environ.get("CLIENT_PYTHON", sys.executable)
    subprocess.run([server_python, SERVER / "make_tiny_qwen3.py", out / "tiny-qwen3"], check=True)
    url = f"http://127.0.0.1:{(port := free_port())}"
    serve = [server_python, SERVER / "serve.py", "--model", out / "tiny-qwen3", "--backend", "jax", "--preset", "cpu", "--port", str(port)]
    serve += [f"--database-url=sqlite:///{out}/tinker.db", f"--checkpoints-base={out}/checkpoints", *args.serve_flag]
    run = [client_python, "-m", "bench", "run", "--base-url", url, "--results", out / "results", "--steps", str(args.rounds)]
    run += ["--prompts-count", "4", "--max-tokens", "24", *args.run_flag]
    with (out / "server.log").open("wb") as server_log, (out / "client.log").open("wb") as client_log:
        server = subprocess.Popen(serve, stdout=server_log, stderr=subprocess.STDOUT)
        try:
            wait_until_healthy(url, server)
            client = subprocess.Popen(run, stdout=client_log, stderr=subprocess.STDOUT, cwd=ROOT)
            rows = watch(client, server, out)
        finally:
            server.terminate()
            server.wait(timeout=30)
    return report(rows, args.rounds, client.returncode, out)


def report(rows: list[Row], rounds: int, code: int, out: Path) -> int:
    """Prints each column's first, last and largest value and its growth over the run's second half."""
    for column in COLUMNS[2:]:
        values = [row[column] for row in rows]
        grown = f"{growth_pct(rows, column, rounds):+.1f} %" if all(values[len(values) // 4 :]) else "n/a"
        print(f"{column:<18} {values[0] / 1e6:8.1f} MB first, {values[-1] / 1e6:8.1f} last, {max(values) / 1e6:8.1f} at most; {grown}")
    document = json.loads((out / "results" / "last_gspo_bench.json").read_text())
    print(f"client ended with {code}, {len(document['steps'])} steps, {document['status']}")
    flat = abs(growth_pct(rows, "client_bytes", rounds)) <= FLAT_PCT
    return 0 if code == 0 and flat else 1


if __name__ == "__main__":
    sys.exit(main())
