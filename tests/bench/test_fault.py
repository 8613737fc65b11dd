"""What went wrong, from what Ray, vLLM, PyTorch and Python print: texts in their formats, written by hand."""

import subprocess
import sys

import pytest

from bench.fault import LONGEST, of_error, of_log, short

CYAN, PLAIN = "\x1b[36m", "\x1b[39m"


def ray_error(method: str, *lines: str) -> str:
    """A RayTaskError's text: a coloured header in the traceback's place, Ray's own frames left out, and the exception last."""
    return "\n".join(
        [
            f"{CYAN}ray::{method}(){PLAIN} (pid=4711, ip=172.17.0.2, actor_id=c0ffee, repr=<skyrl.workers.{method} object at 0x7f12>)",
            '  File "/usr/local/lib/python3.13/concurrent/futures/_base.py", line 449, in result',
            "    return self.__get_result()",
            "           ^^^^^^^^^^^^^^^^^^^",
            '  File "/opt/venv/lib/python3.13/site-packages/skyrl/backends/skyrl_train/workers/worker.py", line 211, in _set_numa_affinity',
            "    bitmask = LIBNUMA.numa_parse_nodestring(bytes(numa_node, 'ascii'))",
            "              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
            *lines,
        ]
    )


def test_of_a_ray_error_the_exception_is_told_which_stands_last_and_the_library_that_has_its_symbol() -> None:
    text = ray_error("FSDPPolicyWorkerBase.offload_to_cpu", "AttributeError: undefined symbol: numa_parse_nodestring")
    assert of_error(text) == "AttributeError: undefined symbol: numa_parse_nodestring (missing library: libnuma.so.1)"


def test_a_ray_error_within_a_drivers_traceback_is_told_the_same() -> None:
    inner = ray_error("W.init_model", "OSError: libnuma.so.1: cannot open shared object file: No such file or directory")
    outer = 'Traceback (most recent call last):\n  File "/a.py", line 3, in get\n    raise value\n'
    text = f"{outer}ray.exceptions.RayTaskError(OSError): {inner}\n"
    assert of_error(text) == "OSError: libnuma.so.1: cannot open shared object file: No such file or directory"
    assert of_log(f"{text}INFO:     Shutting down\nerror: the engine ended with exit code 1.\nIts own lines above say why.\n") == of_error(
        text
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "AttributeError: /usr/local/bin/python3.13: undefined symbol: ibv_get_device_list",
            "AttributeError: /usr/local/bin/python3.13: undefined symbol: ibv_get_device_list (missing library: libibverbs.so.1)",
        ),
        ("ImportError: libGL.so.1: cannot open shared object file: No such file or directory", None),
        ("ModuleNotFoundError: No module named 'flash_attn'", None),
        ("ImportError: /opt/vllm/_C.abi3.so: undefined symbol: cudaGetDriver", None),  # another version, not a missing one
        ("AttributeError: python: undefined symbol: of_no_library_that_is_known", None),
    ],
)
def test_a_library_is_named_where_the_exception_does_not(text: str, told: str | None) -> None:
    assert of_error(text) == (told or text)


def test_the_library_that_a_chained_exception_lacked_is_named_beside_the_last_one() -> None:
    text = ray_error(
        "W.init_model",
        "OSError: libnuma.so.1: cannot open shared object file: No such file or directory",
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        f"{CYAN}ray::W.init_model(){PLAIN} (pid=4711, ip=172.17.0.2)",
        '  File "/w.py", line 9, in init_model',
        "    raise RuntimeError(message)",
        "RuntimeError: the worker could not be set up",
    )
    assert of_error(text) == "RuntimeError: the worker could not be set up (missing library: libnuma.so.1)"


def test_an_exception_of_earlier_that_was_not_its_cause_lends_it_no_library() -> None:
    trace = 'Traceback (most recent call last):\n  File "/a.py", line 1, in f\n    g()\n'
    text = f"{trace}ImportError: libGL.so.1: cannot open shared object file\n\n{trace}KeyError: 'lora'\n"
    assert of_log(text) == "KeyError: 'lora'"


def test_an_exception_of_several_lines_is_told_in_one() -> None:
    text = ray_error(
        "W.forward", "RuntimeError: Error(s) in loading state_dict for Qwen3:", "\tsize mismatch for lm_head: (8, 4)", "see above"
    )
    assert of_error(text) == "RuntimeError: Error(s) in loading state_dict for Qwen3: size mismatch for lm_head: (8, 4) see above"


def test_memory_that_ran_out_is_a_long_line_whose_beginning_is_kept() -> None:
    line = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.27 GiB. GPU 0 has a total capacity of 22.03 GiB of which 1.1 GiB "
    )
    text = ray_error("W.forward_backward", f"{line}is free. {'Including non-PyTorch memory, this process has memory in use. ' * 9}See docs")
    told = of_error(text)
    assert len(told) == LONGEST and told.startswith(line) and told.endswith("See docs")


def test_a_library_in_the_middle_of_a_long_line_is_named_at_its_end() -> None:
    told = of_error(f"ImportError: {'x ' * 400}libcudart.so.12: cannot open shared object file {'y ' * 400}")
    assert len(told) == LONGEST and told.endswith(" (missing library: libcudart.so.12)")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\x1b[36m\x1b[39m\x1b[0m", ""),
        ("\x1b]0;title\x07\x1b[1;31mred\x1b[0m \x9b2Jtext\x1b(B", "red text"),
        ("", ""),
        ("first line\nsecond", "first line second"),
        ("The actor died unexpectedly.\n\tclass_name: W", "The actor died unexpectedly. class_name: W"),
    ],
)
def test_a_text_without_an_exception_is_told_whole_and_colours_are_no_words(text: str, told: str) -> None:
    assert of_error(text) == told


def test_of_a_log_lines_of_ranks_and_workers_lose_what_stands_before_them() -> None:
    rank = "(FSDPPolicyWorkerBase pid=7, ip=10.0.0.2) [rank1]: "
    log = f'{rank}Traceback (most recent call last):\n{rank}  File "/w.py", line 1, in f\n{rank}    g()\n{rank}zmq.Bad: no\n(raylet) bye\n'
    assert of_log(log) == "zmq.Bad: no"
    vllm = "(EngineCore_DP0 pid=9) ERROR 12-04 02:44:05 [core.py:866] "
    assert (
        of_log(f"{vllm}Traceback (most recent call last):\n{vllm}ImportError: libGL.so.1: cannot open\n")
        == "ImportError: libGL.so.1: cannot open"
    )


def test_of_a_log_the_way_its_process_ended_is_not_why() -> None:
    trace = 'Traceback (most recent call last):\n  File "/a.py", line 1, in f\n    g()\n'
    log = f"{trace}ValueError: the reason\n{trace}KeyboardInterrupt\n{trace}asyncio.exceptions.CancelledError: end\nINFO:     done\n"
    assert of_log(log) == "ValueError: the reason"


def test_of_a_log_without_an_exception_the_last_line_that_mentions_one_is_told_else_the_last() -> None:
    assert of_log("2026-12-04 ERROR failed with KeyError on x\n\x1b[32mdone\x1b[0m\n\n") == "2026-12-04 ERROR failed with KeyError on x"
    assert of_log("one\n\x1b[1mtwo\x1b[0m\n \n") == "two"
    assert of_log("") == ""


def test_of_a_log_of_a_process_that_was_ended_from_without_the_launchers_own_word_is_told() -> None:
    end = "error: the engine ended with exit code -9.\nIts own lines above say why.\n"
    assert of_log(f"INFO: work\n{end}") == "error: the engine ended with exit code -9."
    assert of_log(f"Fatal Python error: Segmentation fault\n\nThread 0x7f\n{end}") == "Fatal Python error: Segmentation fault"


def test_the_exception_at_the_end_of_megabytes_is_found() -> None:
    assert of_log("INFO: work\n" * 500_000 + "KeyError: 'x'\n") == "KeyError: 'x'"


def test_a_text_is_cut_in_its_middle() -> None:
    assert short("x" * 300) == "x" * 300
    assert short("a" * 5_000 + "b" * 5_000) == "a" * 179 + "…" + "b" * 120


def test_as_a_program_it_tells_of_the_log_that_it_is_given() -> None:
    log = b"\xff\n\x1b[31mKeyError: 'x'\x1b[0m\n"
    ended = subprocess.run([sys.executable, "-S", "-m", "bench.fault"], input=log, capture_output=True, check=True)
    assert ended.stdout == b"KeyError: 'x'\n"
