"""A client of nothing but Python: asks the fake server for its settings and ends as they say.

python fake_client.py run --base-url URL --results FOLDER ...; FAKE_DOCUMENT is a result file to write as its own.
"""

import json
import os
import signal
import sys
import time
import urllib.request
from pathlib import Path


def end(code, words):
    print(f"bench: {words}", flush=True)
    os._exit(code)


def settings(url):
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{url}/gspo-bench/environment") as answer:
                return json.loads(answer.read())["config"]
        except OSError:
            time.sleep(0.05)
    return end(3, f"no server at {url} within 15 s: connection refused.")


def main():
    signal.signal(signal.SIGTERM, lambda *_: end(130, "interrupted"))
    signal.signal(signal.SIGUSR1, lambda *_: end(3, "the server's container has ended"))
    flags = dict(zip(sys.argv, sys.argv[1:], strict=False))
    config = settings(flags["--base-url"])
    print("[   0.1 s] the model is ready", flush=True)
    if config.get("client") == "oom":
        end(1, "native_1pass: the server failed: CUDA out of memory. Tried to allocate 2 GiB")
    if config.get("client") == "hang":
        time.sleep(600)
    document = json.loads(Path(os.environ["FAKE_DOCUMENT"]).read_text())
    runs = Path(flags["--results"]) / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    (runs / f"{time.time_ns()}.json").write_text(json.dumps(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
