"""Symptoms of the host's driver, of CUDA versions and of GPU memory."""

from pathlib import Path

import pytest

from bench.doctor.commands import Output
from bench.doctor.cuda import cuda_of_requirements, judge_driver
from bench.doctor.gpu import Gpu, judge_capability, judge_memory, judge_nvidia_smi, query, read_gpus

L4 = "NVIDIA L4, 23034, 3, 580.95.05\n"
MISSING = Output(None, problem="missing")
NEEDS = {"l4": 22.0, "a100": 38.0, "h100-h200": 75.0}


def gpu(name: str = "NVIDIA L4", total: int | None = 23034, used: int | None = 3) -> Gpu:
    return Gpu(name, total, used, "580.95.05")


def test_a_listed_gpu_is_read_with_its_memory_and_driver():
    assert read_gpus(Output(0, L4)) == [gpu()]


def test_memory_that_the_driver_does_not_state_is_unknown():
    assert read_gpus(Output(0, "NVIDIA GB10, [N/A], [N/A], 580.95.05\n"))[0].total_mib is None


def test_no_gpu_means_the_cpu_stack_and_no_failure():
    finding = judge_nvidia_smi(MISSING, "cpu", on_the_bus=False)
    assert (finding.status, finding.seen) == ("ok", "no NVIDIA GPU here: the CPU stack will be used")


def test_no_gpu_fails_when_the_cuda_stack_was_asked_for():
    assert judge_nvidia_smi(MISSING, "cuda", on_the_bus=False).status == "fail"


def test_a_gpu_without_a_driver_says_how_to_install_one():
    finding = judge_nvidia_smi(MISSING, "cpu", on_the_bus=True)
    assert finding.status == "warn"
    assert "nvidia-driver-580-server" in finding.action


@pytest.mark.parametrize(
    ("message", "action"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.95", "sudo reboot"),
        (
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest",
            "sudo modprobe nvidia",
        ),
        ("Unable to determine the device handle for GPU0000:01:00.0: Unknown Error", "sudo reboot"),
        ("No devices were found", "sudo dmesg | grep -i nvrm"),
    ],
)
def test_an_nvidia_smi_that_fails_says_what_to_type(message: str, action: str):
    finding = judge_nvidia_smi(Output(9, message), "cuda", on_the_bus=True)
    assert finding.status == "fail"
    assert finding.action.startswith(action)


@pytest.mark.parametrize(
    ("pins", "cuda"),
    [
        ("nvidia-cublas==13.1.1.3 \\\n    --hash=sha256:00\nnvidia-cuda-runtime==13.0.96 \\\n", (13, 0)),
        ("nvidia-cuda-runtime-cu12==12.8.90 \\\n", (12, 8)),
        ("cuda-toolkit==13.2.2 \\\n", (13, 2)),
        ("torch==2.9.0+cu129 \\\n", (12, 9)),
        ("torch==2.13.0 \\\n", None),
    ],
)
def test_the_cuda_version_is_read_from_the_pins(pins: str, cuda: tuple[int, int] | None):
    assert cuda_of_requirements("aiohttp==3.13.0 \\\n" + pins) == cuda


def test_the_repository_own_lock_states_a_cuda_version_that_is_in_the_table():
    lock = (Path(__file__).parents[3] / "docker/requirements/server-cuda.txt").read_text()
    assert judge_driver("999.0", cuda_of_requirements(lock)).status == "ok"


@pytest.mark.parametrize(
    ("driver", "cuda", "status", "need"),
    [
        ("580.65.06", (13, 0), "ok", "580"),
        ("575.57.08", (13, 0), "fail", "580"),
        ("580.95.05", (13, 1), "warn", "590"),
        ("570.26", (12, 8), "ok", "525"),
        ("570.86.15", (12, 9), "warn", "575"),
        ("470.223.02", (12, 8), "fail", "570"),
        ("530.30.02", (12, 4), "warn", "550"),
    ],
)
def test_the_driver_is_held_against_nvidia_s_table(driver: str, cuda: tuple[int, int], status: str, need: str):
    finding = judge_driver(driver, cuda)
    assert finding.status == status
    assert driver in finding.seen
    assert need in finding.seen


def test_a_driver_too_old_says_have_and_need():
    assert judge_driver("535.183.01", (13, 0)).seen.startswith("have 535.183.01, need 580 or newer for the wheels' CUDA 13.0")


def test_a_cuda_version_that_the_table_lacks_is_a_warning():
    assert judge_driver("600.1", (14, 0)).status == "warn"


def test_an_l4_fits_the_l4_preset():
    finding = judge_memory([gpu()], 1, "l4", NEEDS, own_server_runs=False)
    assert (finding.status, finding.seen) == ("ok", "22.5 GiB (22 needed for the preset l4)")


def test_too_little_memory_names_the_largest_preset_that_fits():
    finding = judge_memory([gpu("NVIDIA A100-SXM4-40GB", 40960)], 1, "h100-h200", NEEDS, own_server_runs=False)
    assert finding.status == "fail"
    assert finding.action == "PRESET=a100 make bench"


def test_too_little_memory_for_any_preset_leaves_the_cpu_stack():
    assert judge_memory([gpu("Tesla T4", 15360)], 1, "l4", NEEDS, own_server_runs=False).action == "STACK=cpu make bench"


def test_a_preset_made_for_the_gpu_is_pointed_out():
    assert "PRESET=h100-h200 is made for this GPU" in judge_memory([gpu("NVIDIA H200", 143771)], 1, "l4", NEEDS, own_server_runs=False).seen


def test_memory_that_others_use_counts_unless_it_is_our_own_server():
    busy = [gpu(used=9216)]
    assert judge_memory(busy, 1, "l4", NEEDS, own_server_runs=False).status == "fail"
    assert judge_memory(busy, 1, "l4", NEEDS, own_server_runs=True).status == "ok"


def test_more_gpus_than_there_are_is_a_failure():
    assert judge_memory([gpu()], 2, "l4", NEEDS, own_server_runs=False).action == "GPUS=1 make bench"


@pytest.mark.parametrize(
    ("name", "capability", "status"), [("Tesla V100", 7.0, "fail"), ("Tesla T4", 7.5, "fail"), ("NVIDIA L4", 8.9, "ok")]
)
def test_a_gpu_that_does_not_compute_in_bfloat16_fails_with_what_it_has_and_needs(name: str, capability: float, status: str):
    (old,) = read_gpus(Output(0, f"{name}, 23034, 3, 580.95.05, {capability}\n"))
    finding = judge_capability([old], 1)
    assert finding is not None and finding.status == status
    if status == "fail":
        assert finding.seen == f"{name} has compute capability {capability}, and needs 8.0 for bfloat16"
        assert finding.action.startswith("STACK=cpu make bench")


def test_only_the_gpus_that_will_be_used_are_judged_and_one_that_does_not_say_is_not():
    mixed = read_gpus(Output(0, "NVIDIA L4, 23034, 3, 580.95.05, 8.9\nTesla T4, 15360, 3, 580.95.05, 7.5\n"))
    assert [judge_capability(mixed, wanted).status for wanted in (1, 2)] == ["ok", "fail"]  # type: ignore[union-attr]
    assert judge_capability([gpu()], 1) is None


def test_a_driver_that_does_not_know_the_capability_is_asked_again_without_it():
    asked = []

    def run(command: list[str]) -> Output:
        asked.append(command[1])
        return Output(2, 'Field "compute_cap" is not a valid field to query.\n') if "compute_cap" in command[1] else Output(0, L4)

    assert read_gpus(query(run)) == [gpu()]
    assert asked == [
        "--query-gpu=name,memory.total,memory.used,driver_version,compute_cap",
        "--query-gpu=name,memory.total,memory.used,driver_version",
    ]
