"""What only the server's image can tell: whether it has a model's folder, and whether its launcher would take the settings."""

import re
from collections.abc import Sequence

from bench.doctor.commands import Output

BACKENDS = {"cpu": "jax", "cuda": "fsdp"}
CACHE = "/cache"
NO_FOLDER = "there is no folder "
RUN = ("docker", "run", "--rm", "--pull", "never", "--network", "none", "--tmpfs", "/tmp")


def look_for_folder(image: str, model: str, volumes: Sequence[str], name: str) -> list[str]:
    """The command that ends with 0 where a container has the model's folder, as the server's would, and with 1 where it has not."""
    return [*RUN, "--name", name, *_with_cache(volumes), "--entrypoint", "test", image, "-f", f"{model}/config.json"]


def try_settings(image: str, stack: str, model: str, backend_config: str, gpus: int, volumes: Sequence[str], name: str) -> list[str]:
    """The command that has the launcher judge BACKEND_CONFIG and GPUS (0: all, which it is not told), and start nothing.

    It reads the model's sizes, which not every number of GPUs divides, where the container has them.
    """
    flags = ["--check-only", f"--model={model}", f"--backend={BACKENDS[stack]}", f"--backend-config={backend_config}"]
    return [*RUN, "--name", name, *_with_cache(volumes), image, *flags, *([f"--gpus={gpus}"] if gpus else [])]


def _with_cache(volumes: Sequence[str]) -> list[str]:
    cache = next((volume for volume in volumes if volume.endswith("_cache")), None)
    return ["--mount", f"type=volume,source={cache},target={CACHE},readonly"] if cache else []


def refusal(output: Output) -> str:
    """Why the launcher would not take the settings, in a line; '' where it would, or where the image is older than the question.

    A model's folder that is not there is no refusal: look_for_folder says so.
    """
    if output.code != 2 or "error: " not in output.text or "--check-only" in output.text:
        return ""
    why = re.sub(r"\s+", " ", output.text.rpartition("error: ")[2]).strip().rstrip(".")
    return "" if why.startswith(NO_FOLDER) else why
