"""The CUDA server's image as it is built, without a GPU: what it would lack on one."""

import json
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
IMAGE = "gspo-bench-server:cuda"

pytestmark = pytest.mark.image

OF_THE_DRIVER = {"libcuda.so.1", "libnvidia-ml.so.1"}
# Plug-ins of NVSHMEM and cuFile for networks between machines, which load what such a machine has.
OF_A_NETWORK = {
    *("libibverbs.so.1", "libmlx5.so.1", "librdmacm.so.1", "libfabric.so.1", "libucp.so.0", "libucs.so.0"),
    *("libmpi.so.40", "liboshmem.so.40", "libpmix.so.2"),
}
OF_OTHER_MACHINES = {
    *("kernel32", "msvcrt", "msvcr100", "msvcr110", "ucrtbase"),  # Windows
    *("libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.7", "libhiprtc.so"),  # AMD's GPUs
    "ze_loader",  # Intel's GPUs
}
# Tried first or last among several names, one of which is there.
OTHER_NAMES = {
    "libnuma.so",  # vLLM goes on to libnuma.so.1
    "libc.so",  # PyTorch has the process's own before
    "libcudart.so",  # transformers asks whether there is one of the system's
    "yajl",  # ijson brings a parser of its own
}


def inside(*command, **environment):
    """What a command prints, run as the compose file runs the server: its user, a read-only root, no capability."""
    docker = ["docker", "run", "--rm", "--init", "--network=none", "--read-only", "--tmpfs=/tmp:exec,mode=1777"]
    contained = ["--cap-drop=ALL", "--security-opt=no-new-privileges", f"--volume={HERE}:/check:ro", "--entrypoint=python"]
    given = [f"--env={name}={value}" for name, value in environment.items()]
    ended = subprocess.run([*docker, *contained, *given, IMAGE, *command], capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


@pytest.fixture(scope="module")
def missing():
    return json.loads(inside("/check/libraries.py", "/opt/venv"))


def test_every_shared_object_finds_what_it_is_linked_to(missing):
    assert {name: file for name, file in missing["needed"].items() if name not in OF_THE_DRIVER | OF_A_NETWORK} == {}


def test_every_library_that_python_code_loads_by_name_is_there(missing):
    allowed = OF_THE_DRIVER | OF_OTHER_MACHINES | OTHER_NAMES
    assert {name: file for name, file in missing["by_name"].items() if name not in allowed} == {}


def test_skyrls_workers_bind_to_a_numa_node_by_libnuma():
    library = "import ctypes, ctypes.util; numa = ctypes.CDLL(ctypes.util.find_library('numa'))"
    assert inside("-c", f"{library}; print(bool(numa.numa_parse_nodestring), bool(numa.numa_set_membind))").split() == ["True", "True"]


def test_triton_compiles_kernels_and_their_launchers_for_the_gpus_of_the_presets():
    lines = inside("/check/triton_kernel.py", TRITON_CACHE_DIR="/tmp/triton").splitlines()
    assert [line.split()[0] for line in lines] == ["80", "89", "90", "100", "launcher"]
    assert all(int(line.split()[1]) > 1000 for line in lines[:4])


def test_nothing_would_call_nvcc_which_is_not_there():
    asked = "import shutil; from vllm.utils.flashinfer import has_flashinfer; print(shutil.which('nvcc'), has_flashinfer())"
    assert inside("-c", asked).splitlines()[-1] == "None False"


def test_what_trains_and_what_samples_can_be_imported():
    modules = [
        *(
            "skyrl.tinker.api",
            "skyrl.tinker.engine",
            "skyrl.backends.skyrl_train_backend",
            "skyrl.backends.skyrl_train.workers.fsdp.fsdp_worker",
        ),
        *(
            "skyrl.backends.skyrl_train.inference_servers.vllm_server_actor",
            "vllm_router.launch_router",
            "vllm.entrypoints.openai.api_server",
        ),
        *("vllm.v1.engine.core", "vllm.v1.worker.gpu_worker", "vllm.v1.executor.ray_executor", "vllm.model_executor.models.qwen3"),
        *("vllm.lora.worker_manager", "vllm.v1.attention.backends.flash_attn", "vllm.model_executor.warmup.kernel_warmup"),
    ]
    inside("-c", f"import importlib\nfor name in {modules!r}: importlib.import_module(name)", VLLM_CACHE_ROOT="/tmp/vllm")


def test_the_server_is_user_1000_with_a_home_and_caches_that_it_can_write_to():
    asked = "import os; print(os.getuid(), os.getgid(), os.environ['HOME'], *[os.access(d, os.W_OK) for d in ('/tmp', '/cache', '/opt')])"
    assert inside("-c", asked).split() == ["1000", "1000", "/tmp", "True", "True", "False"]
