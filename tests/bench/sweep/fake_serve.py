"""A server of nothing but Python that behaves as its settings say: crashes, runs out of memory, hangs, refuses, leaves children behind.

python fake_serve.py --port P [--family FILE] --backend-config JSON
"""

import argparse
import json
import os
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

ORPHAN = "import os, sys, time; os.setsid(); print(os.getpid(), file=open(sys.argv[1], 'a'), flush=True); time.sleep(600)"
PARENT = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[1], sys.argv[2]])"


def leave_orphan(family):
    """A process in a session of its own whose parent has ended, as daemons are."""
    subprocess.run([sys.executable, "-c", PARENT, ORPHAN, family], check=True)
    while not open(family).read().strip():  # noqa: PTH123, SIM115
        time.sleep(0.01)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--family")
    parser.add_argument("--backend-config", default="{}")
    args = parser.parse_args()
    config = json.loads(args.backend_config)
    says = config.get("says", "serving")
    if args.family:
        leave_orphan(args.family)
    if config.get("does") == "refuse":
        print("error: the fake backend has no setting 'does'.\nIts settings are others.", file=sys.stderr)
        return 2
    if config.get("does") == "crash":
        print(says, flush=True)
        return 1
    if config.get("does") == "die":
        print("an engine at work", flush=True)
        os.kill(os.getpid(), 9)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps({"config": config, "gpus": [{"name": config.get("gpu", "Fake 1"), "peak_bytes": 3 << 30}], "base_model": "m"})
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            print(says, flush=True)

    HTTPServer(("127.0.0.1", args.port), Handler).serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
