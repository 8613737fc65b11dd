"""Compiles a kernel and its launcher as Triton does on a GPU, for the architectures of users' cards: inside the image, without a GPU."""

import tempfile
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia import driver
from triton.compiler import ASTSource
from triton.runtime.build import _build

TIMES = 2  # a constant of the kernel, so that there is something to compile in


@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


if __name__ == "__main__":
    for capability in (80, 89, 90, 100):
        source = ASTSource(scale, {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {(3,): 128})
        print(capability, len(triton.compile(source, target=GPUTarget("cuda", capability, 32)).asm["cubin"]))
    # The C code that starts kernels: Python's and CUDA's headers, and a linker; libcuda itself is the driver's.
    code = Path(driver.__file__).with_name("driver.c").read_text()
    with tempfile.TemporaryDirectory() as folder:
        source_file = Path(folder, "launcher.c")
        source_file.write_text(code)
        print("launcher", _build("launcher", str(source_file), folder, [], driver.include_dirs, [], []))
