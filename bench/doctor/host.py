"""What `make bench` needs of the host besides Docker and a GPU: disk, a port, a folder to write to."""

import re
import reprlib
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.doctor.commands import Output
from bench.doctor.finding import Finding, fail, ok, warn

DISK = "Disk space"
PORT = "Port"
RESULTS = "results/"
# GiB that a build from nothing takes: layers of both stages and the package cache beside them.
BUILD_GIB = {"cpu": 8.0, "cuda": 40.0}
CLIENT_BUILD_GIB = 3.0
SPARE_GIB = 2.0  # results, logs, compiled kernels


def model_gib(model: str) -> float:
    """About what a model's download takes, by the size in its name, two bytes a parameter; 10 when the name has none."""
    found = re.search(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)[Bb](?![A-Za-z0-9])", model)
    return float(found.group(1)) * 2 + 0.5 if found else 10.0


def image_folders(info: Mapping[str, Any]) -> list[str]:
    """Where this engine keeps images, by `docker info`: with containerd's store there are two places."""
    folders = [str(info.get("DockerRootDir") or "/var/lib/docker")]
    if "io.containerd.snapshotter" in str(info.get("DriverStatus")):
        folders.append("/var/lib/containerd")
    return folders


def judge_disk(free_gib: float | None, folder: str, needs_gib: Mapping[str, float]) -> Finding:
    """Free space where images are kept, None when this machine does not have that folder; needs_gib by what takes it."""
    need = sum(needs_gib.values()) + SPARE_GIB
    parts = " + ".join(f"{what} {gib:.0f}" for what, gib in needs_gib.items())
    needed = f"about {need:.0f} GiB needed" + (f": {parts} + {SPARE_GIB:.0f} to work in" if parts else "")
    if free_gib is None:
        return warn(DISK, f"Docker keeps images in {folder}, which is not on this machine ({needed})", "docker system df")
    seen = f"{free_gib:.0f} GiB free in {folder} ({needed})"
    if free_gib < need:
        return fail(
            DISK,
            seen,
            "docker system df     # shows what Docker keeps\ndocker builder prune && docker image prune     # drops what nothing uses",
        )
    return ok(DISK, seen)


def judge_port(port: int, free: bool, containers: Output, project: str, other: int | None) -> Finding:
    """containers is of `docker ps` with PS_FORMAT for this port; other is a port that is free."""
    if free:
        return ok(PORT, f"{port} is free")
    rows = [line.split("\t") for line in containers.out.splitlines() if line.count("\t") == 1]
    if any(label == project for _, label in rows):
        return ok(PORT, f"{port} is held by our own server ({rows[0][0]})")
    elsewhere = f"PORT={other} make bench" if other else "PORT=... make bench     # with a free port"
    if rows:
        return fail(PORT, f"{port} is taken by the container {rows[0][0]}", f"{elsewhere}\ndocker stop {rows[0][0]}     # or so")
    return fail(PORT, f"{port} is taken by another program", f"{elsewhere}\nsudo ss -ltnp 'sport = :{port}'     # or end what this shows")


PS_FORMAT = '{{.Names}}\t{{.Label "com.docker.compose.project"}}'


def judge_results(folder: Path) -> Finding:
    """Writes a file of no bytes into folder and removes it; one that is not there by the nearest above it that is."""
    try:
        return _judge_folder(folder)
    except OSError as error:  # such as a name that is too long, or one below a folder that may not be looked into
        return fail(
            RESULTS,
            f"{reprlib.repr(str(folder))} cannot be looked at: {error.strerror}",
            "RESULTS=./results make bench     # or another folder",
        )


def _judge_folder(folder: Path) -> Finding:
    own = f'sudo chown -R "$(id -u):$(id -g)" {shlex.quote(_short(folder))}'
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not there.is_dir():
        what = "it" if there == folder else _short(there)
        return fail(
            RESULTS, f"{what} is a file, and a folder is needed", f"mv {shlex.quote(_short(there))} {shlex.quote(_short(there))}.old"
        )
    if there != folder:  # make bench makes all that are missing
        return _try(there, "will be made", f'sudo chown "$(id -u):$(id -g)" {shlex.quote(_short(there))}')
    for inner in (folder, folder / "runs"):
        finding = _try(inner, "writable", own) if inner.is_dir() else ok(RESULTS, "writable")
        if finding.status != "ok":
            return finding
    return ok(RESULTS, "writable")


def _short(folder: Path) -> str:
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)


def _try(folder: Path, fine: str, action: str) -> Finding:
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-"):
            return ok(RESULTS, fine)
    except OSError as error:
        return fail(RESULTS, f"cannot write to {_short(folder)}: {error.strerror}", action)
