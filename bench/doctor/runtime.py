"""Does a container see the GPU? Judged by a container that tried, or by what the engine says of itself when no image is there yet."""

import re
from collections.abc import Sequence
from typing import Any

from bench.doctor.commands import Output
from bench.doctor.cuda import DRIVER_OF_RELEASE, OLDEST_DRIVER, install_driver
from bench.doctor.engine import LEAVE_SNAP
from bench.doctor.finding import Finding, fail, ok, warn
from bench.doctor.gpu import DRIVER_BRANCH, cuda_needed_by

NAME = "GPU in containers"
CONFIGURE = "sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker"
GUIDE = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html"
INSTALL = f"sudo apt-get install -y nvidia-container-toolkit     # first add NVIDIA's repository: {GUIDE}\n{CONFIGURE}"
CDI = "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml && sudo systemctl restart docker"


def trial(image: str, name: str) -> list[str]:
    """The command that lists the GPUs from within a container of an image that is there."""
    flags = ["--rm", "--name", name, "--pull", "never", "--network", "none", "--gpus", "all"]
    return ["docker", "run", *flags, "--entrypoint", "nvidia-smi", image, "-L"]


def judge_trial(output: Output, toolkit: bool, snap: bool) -> Finding:
    """From trial()'s command; toolkit says whether nvidia-ctk is installed on the host."""
    listed = re.findall(r"^GPU \d+: (.+?)(?: \(UUID.*)?$", output.out, re.MULTILINE)
    if output.code == 0 and listed:
        return ok(NAME, f"a container sees {', '.join(listed)}")
    if output.problem == "timeout":
        return fail(NAME, "a container with the GPU did not start in time", "sudo systemctl restart docker")
    seen, action = _symptom(output, toolkit)
    return fail(NAME, seen, LEAVE_SNAP if snap else action)


def _symptom(output: Output, toolkit: bool) -> tuple[str, str]:
    text = output.text
    lower = text.lower()

    def says(*parts: str) -> bool:
        return any(part in lower for part in parts)

    if says("could not select device driver"):
        why = "Docker was not told of it" if toolkit else "it is not installed"
        return f"Docker has no NVIDIA container toolkit: {why}", CONFIGURE if toolkit else INSTALL
    if says("failed to discover gpu vendor from cdi", "unresolvable cdi devices", "cdi device injection failed"):
        return "Docker finds no description of the GPU (CDI)", CDI if toolkit else f"{INSTALL}\n{CDI}"
    if says("invalid runtime name: nvidia", "unknown runtime specified nvidia"):
        return "Docker does not know the runtime nvidia: not configured, or not restarted since", CONFIGURE if toolkit else INSTALL
    if says("nvidia-container-runtime") and says("not found", "no such file"):
        return "Docker is configured for NVIDIA's runtime, which is not installed", INSTALL
    needed = cuda_needed_by(text)
    if needed:
        major, minor = (int(part) for part in f"{needed}.0".split(".")[:2])
        branch = DRIVER_OF_RELEASE.get((major, minor), OLDEST_DRIVER.get(major, DRIVER_BRANCH))
        return f"the host's driver is too old: the image needs CUDA {needed}, so driver {branch} or newer", install_driver(branch)
    if says("driver/library version mismatch"):
        return "the driver was updated and the old one is still loaded (driver/library version mismatch)", "sudo reboot"
    if says("libnvidia-ml.so.1"):
        action = "docker context use default     # if Docker Desktop's engine is in use, which cannot see the driver\n" + CONFIGURE
        return "the container toolkit does not find the host's driver (libnvidia-ml.so.1)", action
    if says("bpf_prog_query", "insufficient permissions"):
        action = "sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups --in-place\nsystemctl --user restart docker"
        return "a rootless Docker may not set up the GPU's device rules", action
    if says("driver rpc error: timed out"):
        return "the driver takes too long to wake up", "sudo nvidia-smi -pm 1     # keeps it awake"
    if says('"nvidia-smi": executable file not found'):
        return "a container starts, and the driver's files are not in it", CONFIGURE if toolkit else INSTALL
    return f"a container with the GPU failed: {output.last_line}", f"{CONFIGURE}\n{GUIDE}"


def predict(info: dict[str, Any], toolkit: bool, snap: bool) -> Finding:
    """From `docker info` alone, for want of an image to try with."""
    if snap:
        return fail(NAME, "Docker from snap cannot give a container the GPU", LEAVE_SNAP)
    by = _known_to(info)
    if by:
        return ok(NAME, f"Docker knows {by}; not tried, no image is here yet")
    if toolkit:
        return fail(NAME, "the container toolkit is installed, and Docker was not told of it (no image is here yet to try)", CONFIGURE)
    return fail(NAME, "no NVIDIA container toolkit (no image is here yet to try)", INSTALL)


def _known_to(info: dict[str, Any]) -> str:
    if "nvidia" in (info.get("Runtimes") or {}):
        return "the runtime nvidia"
    devices = [str(device.get("ID", "")) for device in info.get("DiscoveredDevices") or []]
    return "the GPU by CDI" if any(device.startswith("nvidia.com/gpu") for device in devices) else ""


def judge_nothing(engine_answers: bool) -> Finding:
    """When the CUDA stack was chosen and no container could be asked, for want of an engine or a GPU."""
    why = "not tried: no GPU that the host can use" if engine_answers else "not tried: no Docker engine"
    return warn(NAME, why, "mend what is above, then: make doctor")


def image_to_try(images: Sequence[str], own: Sequence[str]) -> str | None:
    """One of the images that are here, our own first, which has a C library for nvidia-smi to run on."""
    fit = [
        image
        for image in images
        if re.match(r"(?:.*/)?(?:python|debian|ubuntu|cuda|pytorch|vllm-openai):", image) and "alpine" not in image
    ]
    return next((image for image in (*own, *fit) if image in images), None)
