"""What is said to differ between two sweeps' servers and clients."""

from bench.sweep.difference import FOLDER, what_differs

STACK = "STACK=cpu GPUS=3 image 1a2b3c; bench run --max-tokens 96 --quiet"


def test_only_what_differs_is_named_with_both_values() -> None:
    assert what_differs(STACK, STACK.replace("GPUS=3", "GPUS=2")) == "GPUS=3, now GPUS=2"
    assert what_differs(STACK, STACK.replace("1a2b3c", "ffff")) == "image 1a2b3c, now image ffff"
    assert what_differs(STACK, STACK.replace("96", "128")) == "--max-tokens 96, now --max-tokens 128"


def test_what_one_of_them_has_not_is_said_so() -> None:
    assert what_differs(STACK, STACK.replace(" GPUS=3", "").replace(" --quiet", "")) == "GPUS=3, now without; --quiet, now without"
    assert what_differs(STACK, f"{STACK} --lora-rank 8") == "now with --lora-rank 8"


def test_another_program_and_a_folder_alone() -> None:
    assert what_differs("python serve.py --preset l4", "python other.py --preset l4") == "python serve.py, now python other.py"
    assert what_differs("python serve.py", "python serve.py") == FOLDER


def test_much_that_differs_stays_short() -> None:
    many = what_differs(" ".join(f"A{index}={'x' * 500}" for index in range(9)), "B=1")
    assert many.endswith("; and 7 more") and len(many) < 300


def test_a_difference_is_always_one_line_whatever_the_file_says() -> None:
    for words in ("", "None", "--", "image", "=", "a\nb"):
        assert "\n" not in what_differs(words, STACK)
