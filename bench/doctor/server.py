"""What only the server's image can tell: whether it has a model's folder, and whether its launcher would take the settings."""

import re
from collections.abc import Sequence

from bench.doctor.commands import Output

BACKENDS = {"cpu": "jax", "cuda": "fsdp"}
CACHE = "/cache"
RUN = ("docker", "run", "--rm", "--pull", "never", "--network", "none", "--tmpfs", "/tmp")


def look_for_folder(image: str, model: str, volumes: Sequence[str], name: str) -> list[str]:
    """The command that ends with 0 where a container has the model's folder, as the server's would, and with 1 where it has not."""
    cache = next((volume for volume in volumes if volume.endswith("_cache")), None)
    mount = ["--mount", f"type=volume,source={cache},target={CACHE},readonly"] if cache else []
    return [*RUN, "--name", name, *mount, "--entrypoint", "test", image, "-f", f"{model}/config.json"]


def try_settings(image: str, stack: str, backend_config: str, gpus: int, name: str) -> list[str]:
    """The command that has the launcher judge BACKEND_CONFIG and GPUS (0: all, which it is not told), and start nothing."""
    flags = ["--check-only", "--model=not/asked", f"--backend={BACKENDS[stack]}", f"--backend-config={backend_config}"]
    return [*RUN, "--name", name, image, *flags, *([f"--gpus={gpus}"] if gpus else [])]


def refusal(output: Output) -> str:
    """Why the launcher would not take the settings, in a line; '' where it would, or where the image is older than the question."""
    if output.code != 2 or "error: " not in output.text or "--check-only" in output.text:
        return ""
    return re.sub(r"\s+", " ", output.text.rpartition("error: ")[2]).strip().rstrip(".")
