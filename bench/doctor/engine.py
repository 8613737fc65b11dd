"""Docker's engine and Compose: what their commands printed, judged."""

import json
import re
from typing import Any

from bench.doctor.commands import Output
from bench.doctor.finding import Finding, fail, ok, warn

ENGINE = "Docker engine"
COMPOSE = "Docker Compose"
COMPOSE_NEEDED = (2, 24)  # what compose.yaml is written for
INSTALL_ENGINE = "curl -fsSL https://get.docker.com | sudo sh     # or by hand: https://docs.docker.com/engine/install/"
INSTALL_COMPOSE = (
    "sudo apt-get install -y docker-compose-plugin     # in Ubuntu's own packages: docker-compose-v2\n"
    "elsewhere: https://docs.docker.com/compose/install/linux/"
)
LEAVE_SNAP = f"sudo snap remove docker\n{INSTALL_ENGINE}"


def read_info(output: Output) -> dict[str, Any]:
    """The object of `docker info --format '{{json .}}'`; empty when the engine did not answer."""
    try:
        info = json.loads(output.out)
    except json.JSONDecodeError:
        return {}
    return info if isinstance(info, dict) and info.get("ServerVersion") else {}


def is_snap(info: dict[str, Any], program: str) -> bool:
    """Whether this engine is the one from the snap store, which cannot reach NVIDIA's container toolkit."""
    return "/snap/" in str(info.get("DockerRootDir", "")) or "/snap/" in program


def judge_engine(output: Output, program: str, stack: str) -> Finding:
    """From `docker info --format '{{json .}}'`; program is the path of the `docker` that ran."""
    if output.problem == "missing":
        return fail(ENGINE, "`docker` is not installed, or not on PATH", INSTALL_ENGINE)
    if output.problem == "timeout":
        return fail(ENGINE, "the engine does not answer", "sudo systemctl restart docker")
    info = read_info(output)
    if info:
        return _judge_version(info, program, stack)
    text = output.text.lower()
    if "permission denied" in text:
        return fail(
            ENGINE, "it runs, and you may not use it", 'sudo usermod -aG docker "$USER"\nnewgrp docker     # or log out and in again'
        )
    if "podman" in text:
        return fail(ENGINE, "`docker` is podman here, and the compose files are written for Docker", INSTALL_ENGINE)
    if "cannot connect" in text or "failed to connect" in text or "daemon running" in text:
        return fail(ENGINE, "installed, and not running", _start(program, text))
    return fail(ENGINE, output.last_line, "sudo systemctl restart docker\ndocker info     # says more")


def _judge_version(info: dict[str, Any], program: str, stack: str) -> Finding:
    version = str(info["ServerVersion"])
    if not is_snap(info, program):
        return ok(ENGINE, version)
    if stack == "cuda":
        return fail(ENGINE, f"{version} from snap, which cannot give a container the GPU", LEAVE_SNAP)
    return warn(ENGINE, f"{version} from snap, which sees only files under your home folder", LEAVE_SNAP)


def _start(program: str, text: str) -> str:
    if "/snap/" in program:
        return "sudo snap start docker"
    if "desktop" in text:
        return "start Docker Desktop"
    if "/var/run/docker.sock" not in text:
        return "docker context ls     # the engine that DOCKER_HOST or the context names is not there"
    return "sudo systemctl enable --now docker"


def judge_compose(output: Output) -> Finding:
    """From `docker compose version --short`."""
    needed = ".".join(map(str, COMPOSE_NEEDED))
    found = re.search(r"^(?:Docker Compose version )?v?(\d+)\.(\d+)[^\s,]*", output.out.strip())
    if output.code == 0 and found:
        version = found.group(0).replace("Docker Compose version ", "")
        if (int(found.group(1)), int(found.group(2))) >= COMPOSE_NEEDED:
            return ok(COMPOSE, f"{version} ({needed} or newer is needed)")
        return fail(COMPOSE, f"have {version}, need {needed} or newer", INSTALL_COMPOSE)
    if output.problem == "timeout":
        return fail(COMPOSE, "`docker compose version` does not answer", "docker compose version")
    return fail(COMPOSE, "`docker compose` is not there (docker-compose with a hyphen is the old one)", INSTALL_COMPOSE)
