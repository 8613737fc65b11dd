"""How the process ends: whole processes, for what is at stake is what happens after main."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
TORN_DOWN = """
import atexit, sys, threading, time
from bench.leave import leaving

class Torn:
    def __del__(self):
        print("torn down", flush=True)

kept = Torn()
sys.modules["kept"] = kept
"""


def ended(main: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", f"{TORN_DOWN}\n{main}"], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(("how", "code"), [("sys.exit(6)", 6), ("sys.exit()", 0), ("pass", 0), ("sys.exit(130)", 130)])
def test_the_process_ends_with_the_exit_code_and_without_a_teardown_of_the_interpreter(how: str, code: int) -> None:
    process = ended(f"def main():\n    print('done')\n    {how}\nleaving(main)")
    assert (process.returncode, process.stdout, process.stderr) == (code, "done\n", "")


def test_threads_are_waited_for_and_what_is_registered_for_the_end_is_done() -> None:
    work = "lambda: (time.sleep(0.2), print('the thread'))"
    process = ended(f"def main():\n    atexit.register(print, 'at the end')\n    threading.Thread(target={work}).start()\nleaving(main)")
    assert (process.returncode, process.stdout) == (0, "the thread\nat the end\n")


def test_an_exception_and_a_text_for_stderr_end_it_as_they_always_do() -> None:
    process = ended("def main():\n    raise ValueError('unforeseen')\nleaving(main)")
    assert (process.returncode, process.stdout) == (1, "torn down\n")
    assert process.stderr.rstrip().endswith("ValueError: unforeseen")
    process = ended("def main():\n    sys.exit('in words')\nleaving(main)")
    assert (process.returncode, process.stderr) == (1, "in words\n")


@pytest.mark.skipif(not FULL.exists(), reason="needs a file that is always full")
def test_output_that_cannot_be_written_is_no_success() -> None:
    program = f"{TORN_DOWN}\ndef main():\n    print('lost')\nleaving(main)"
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with FULL.open("w") as full:
        process = subprocess.run([sys.executable, "-c", program], stdout=full, env=buffered, timeout=60, check=False)
    assert process.returncode == 120
