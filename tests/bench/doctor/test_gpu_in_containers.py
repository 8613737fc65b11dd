"""What docker prints when a container cannot have the GPU, and what is to be typed then."""

import pytest

from bench.doctor.commands import Output
from bench.doctor.runtime import CONFIGURE, image_to_try, judge_trial, predict

DAEMON = "docker: Error response from daemon: "
HOOK = (
    DAEMON
    + "failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start "
    "container process: error during container init: error running prestart hook #0: exit status 1, stdout: , stderr: "
    "Auto-detected mode as 'legacy'\n"
    "nvidia-container-cli: "
)


def failed(message: str) -> Output:
    return Output(125, "", message + "\n\nRun 'docker run --help' for more information")


def test_a_container_that_lists_a_gpu_is_ok():
    finding = judge_trial(Output(0, "GPU 0: NVIDIA L4 (UUID: GPU-6a1b)\n"), toolkit=True, snap=False)
    assert (finding.status, finding.seen) == ("ok", "a container sees NVIDIA L4")


@pytest.mark.parametrize("driver", ["", "nvidia"])
def test_a_missing_toolkit_is_to_be_installed_and_configured(driver: str):
    finding = judge_trial(
        failed(f'{DAEMON}could not select device driver "{driver}" with capabilities: [[gpu]]'), toolkit=False, snap=False
    )
    assert finding.status == "fail"
    assert finding.action.splitlines()[0].startswith("sudo apt-get install -y nvidia-container-toolkit")
    assert finding.action.splitlines()[1] == CONFIGURE


def test_a_toolkit_that_docker_was_not_told_of_is_only_to_be_configured():
    finding = judge_trial(failed(f'{DAEMON}could not select device driver "" with capabilities: [[gpu]]'), toolkit=True, snap=False)
    assert finding.action == CONFIGURE


def test_docker_from_snap_is_to_be_replaced_whatever_it_prints():
    finding = judge_trial(failed(f'{DAEMON}could not select device driver "" with capabilities: [[gpu]]'), toolkit=True, snap=True)
    assert finding.action.startswith("sudo snap remove docker")


@pytest.mark.parametrize("message", ["unknown or invalid runtime name: nvidia", "Unknown runtime specified nvidia."])
def test_an_unknown_runtime_asks_for_a_restart_of_docker(message: str):
    assert judge_trial(failed(DAEMON + message), toolkit=True, snap=False).action.endswith("sudo systemctl restart docker")


@pytest.mark.parametrize(
    "message",
    [
        "failed to discover GPU vendor from CDI: no known GPU vendor found",
        "failed to create task for container: CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all",
    ],
)
def test_a_missing_cdi_description_is_to_be_generated(message: str):
    assert judge_trial(failed(DAEMON + message), toolkit=True, snap=False).action.startswith("sudo nvidia-ctk cdi generate")


@pytest.mark.parametrize(
    ("message", "seen", "action"),
    [
        (
            "requirement error: unsatisfied condition: cuda>=12.4, please update your driver to a newer version: unknown",
            "needs CUDA 12.4, so driver 550",
            "nvidia-driver-550-server",
        ),
        ("initialization error: nvml error: driver/library version mismatch: unknown", "version mismatch", "sudo reboot"),
        (
            "initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: unknown",
            "does not find the host's driver",
            "docker context use default",
        ),
        (
            "mount error: failed to add device rules: bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted: unknown",
            "rootless",
            "no-cgroups",
        ),
        ("initialization error: driver rpc error: timed out: unknown", "takes too long", "nvidia-smi -pm 1"),
    ],
)
def test_the_container_runtime_s_own_errors_are_told_apart(message: str, seen: str, action: str):
    finding = judge_trial(failed(HOOK + message), toolkit=True, snap=False)
    assert finding.status == "fail"
    assert seen in finding.seen
    assert action in finding.action


def test_a_configured_runtime_that_is_not_installed_is_named():
    message = 'failed to start shim: exec: "nvidia-container-runtime": executable file not found in $PATH: unknown'
    assert "not installed" in judge_trial(failed(DAEMON + message), toolkit=False, snap=False).seen


def test_an_error_that_nobody_foresaw_is_shown_as_it_is():
    assert "no space left on device" in judge_trial(failed(DAEMON + "mkdir /x: no space left on device"), toolkit=True, snap=False).seen


def test_without_an_image_docker_info_decides_and_the_line_says_so():
    known = predict({"Runtimes": {"runc": {}, "nvidia": {}}}, toolkit=True, snap=False)
    by_cdi = predict(
        {"Runtimes": {"runc": {}}, "DiscoveredDevices": [{"Source": "cdi", "ID": "nvidia.com/gpu=all"}]}, toolkit=True, snap=False
    )
    untold = predict({"Runtimes": {"runc": {}}}, toolkit=True, snap=False)
    assert [known.status, by_cdi.status, untold.status] == ["ok", "ok", "fail"]
    assert "no image is here yet" in known.seen
    assert untold.action == CONFIGURE


def test_our_own_image_is_tried_before_any_other_and_alpine_never():
    own = ("gspo-bench-server:cuda", "gspo-bench-client:latest")
    assert image_to_try(["python:3.13", "gspo-bench-client:latest"], own) == "gspo-bench-client:latest"
    assert image_to_try(["python:3.13-alpine", "nvidia/cuda:13.0.1-base-ubuntu24.04"], own) == "nvidia/cuda:13.0.1-base-ubuntu24.04"
    assert image_to_try(["redis:7"], own) is None
