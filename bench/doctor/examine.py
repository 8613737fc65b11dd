"""Asks the machine everything, in the order in which things are mended."""

import os
from dataclasses import dataclass
from typing import Any

from bench.doctor import asked, cuda, engine, flags, gpu, host, hub, other_targets, runtime, server
from bench.doctor.commands import Output
from bench.doctor.finding import Finding, ok, warn
from bench.doctor.settings import MODELS, PRESETS, Settings
from bench.doctor.world import World

CLIENT = "gspo-bench-client:latest"
SERVERS = {"cpu": "gspo-bench-server:cpu", "cuda": "gspo-bench-server:cuda"}
LOCK = "docker/requirements/server-cuda.txt"
IMAGES = "Images"
CONTAINER_LIMIT_S = 90.0  # a first container on a cold disk

Needs = dict[str, float | None]


@dataclass(frozen=True)
class Engine:
    """What is known of the engine; program is '' without docker, info empty and images none when it does not answer."""

    program: str
    output: Output
    info: dict[str, Any]
    images: list[str]

    @property
    def snap(self) -> bool:
        return engine.is_snap(self.info, self.program)


def examine(world: World, settings: Settings) -> tuple[str, list[Finding]]:
    """(the stack that was judged, the findings)."""
    smi = gpu.query(world.run) if settings.stack != "cpu" else None
    gpus = gpu.read_gpus(smi) if smi else []
    docker = _ask_engine(world)
    tried = _judge_runtime(world, docker) if gpus and docker.info else runtime.judge_nothing(bool(docker.info))
    # As make bench chooses: cuda where a container gets the GPU. Without an engine nobody knows, and the GPU decides.
    stack = settings.stack or ("cuda" if gpus and (tried.status == "ok" or not docker.info) else "cpu")
    findings = [engine.judge_engine(docker.output, docker.program, stack)]
    if docker.program:
        findings.append(engine.judge_compose(world.run(["docker", "compose", "version", "--short"])))
    needs = world.preset_needs()
    if smi is not None:
        findings.append(gpu.judge_nvidia_smi(smi, stack, world.has_nvidia_device()))
    if gpus or stack == "cuda":
        about_gpu = _gpu_findings(world, settings, gpus, docker, tried, needs)
        findings += about_gpu if stack == "cuda" else [_soften(finding) for finding in about_gpu]
    findings += asked.judge_asked(settings, stack, list(needs), _elsewhere(world, settings, stack, docker, len(gpus)))
    if docker.info:
        findings.append(_judge_images(docker.images, stack))
    model = settings.model or MODELS[stack]
    cached = _is_cached(world, settings, model, docker)
    findings.append(_judge_disk(world, docker, stack, model, cached))
    if settings.port:
        findings.append(_judge_port(world, settings))
    findings.append(_judge_model(world, settings, stack, model, cached, docker))
    findings.append(host.judge_results(world.root / settings.results))
    return stack, findings


def _elsewhere(world: World, settings: Settings, stack: str, docker: Engine, gpus: int) -> list[Finding | None]:
    """What is wrong with the flags of each command and with what other targets take; and what the launcher in the server's image, once
    built, says of BACKEND_CONFIG and of a number of GPUs other than one. There are `gpus`, which all of them means; the CPU stack's
    container sees none.
    """
    found = [flags.judge_flags(name, text, world.read) or other_targets.judge_values(name, text) for name, text in settings.flags]
    found += [other_targets.judge_sweep(settings.sweep, world.root), other_targets.judge_task(settings.task)]
    asked_for = settings.gpus or (gpus if stack == "cuda" else 0)
    worth_it = settings.backend_config or settings.gpus != 1
    if worth_it and SERVERS[stack] in docker.images and asked.judge_backend_config(settings.backend_config, stack) is None:
        name = f"gspo-bench-doctor-{os.getpid()}"
        model = settings.model or MODELS[stack]
        command = server.try_settings(SERVERS[stack], stack, model, settings.backend_config, asked_for, _volumes(world, settings), name)
        output = world.run(command, CONTAINER_LIMIT_S)
        _remove_if_hanging(world, output, name)
        found.append(asked.judge_refusal(settings, stack, server.refusal(output)))
    return found


def _judge_model(world: World, settings: Settings, stack: str, model: str, cached: bool, docker: Engine) -> Finding:
    if hub.is_folder(model):
        if stack == "cpu" and model == MODELS["cpu"]:
            return hub.judge_folder(model, stack, True, False)
        return hub.judge_folder(model, stack, _has_folder(world, settings, stack, model, docker), world.has_folder(model))
    offline = bool(settings.offline)
    status, problem = world.hub_status(settings, model) if not (cached or offline) else (None, "")
    return hub.judge_model(settings, model, cached, offline, (status, problem))


def _has_folder(world: World, settings: Settings, stack: str, model: str, docker: Engine) -> bool | None:
    """Whether the server's container would have the model's folder, None where that is not known: before its image is built."""
    if SERVERS[stack] not in docker.images:
        return None
    name = f"gspo-bench-doctor-{os.getpid()}"
    output = world.run(server.look_for_folder(SERVERS[stack], model, _volumes(world, settings), name), CONTAINER_LIMIT_S)
    _remove_if_hanging(world, output, name)
    return {0: True, 1: False}.get(output.code if output.code is not None else -1)


def _remove_if_hanging(world: World, output: Output, name: str) -> None:
    if output.problem == "timeout":
        world.run(["docker", "rm", "--force", name])


def _volumes(world: World, settings: Settings) -> list[str]:
    label = f"label=com.docker.compose.project={settings.project}"
    return world.run(["docker", "volume", "ls", "--filter", label, "--format", "{{.Name}}"]).out.split()


def _ask_engine(world: World) -> Engine:
    program = world.which("docker")
    output = world.run(["docker", "info", "--format", "{{json .}}"])
    info = engine.read_info(output)
    listed = world.run(["docker", "image", "ls", "--format", "{{.Repository}}:{{.Tag}}"]).out.split() if info else []
    return Engine(program, output, info, listed)


def _soften(finding: Finding) -> Finding:
    """A fault of the GPU on a machine where make bench would then take the CPU stack."""
    if finding.status != "fail":
        return finding
    return warn(finding.name, f"{finding.seen}; the CPU stack will be used", finding.action)


def _gpu_findings(world: World, settings: Settings, gpus: list[gpu.Gpu], docker: Engine, tried: Finding, needs: Needs) -> list[Finding]:
    findings = [cuda.judge_driver(gpus[0].driver, cuda.cuda_of_requirements(world.read(LOCK)))] if gpus else []
    findings.append(tried)
    if gpus:
        capability = gpu.judge_capability(gpus, settings.gpus or len(gpus))
        findings += [capability] if capability else []
        preset = settings.preset or PRESETS["cuda"]
        stated = {name: need for name, need in needs.items() if need is not None}
        runs = bool(docker.info) and bool(_own_containers(world, settings).out.strip())
        findings.append(gpu.judge_memory(gpus, settings.gpus or len(gpus), preset, stated, runs))
    return findings


def _own_containers(world: World, settings: Settings) -> Output:
    label = f"label=com.docker.compose.project={settings.project}"
    return world.run(["docker", "ps", "--filter", label, "--filter", "label=com.docker.compose.service=server", "--quiet"])


def _judge_runtime(world: World, docker: Engine) -> Finding:
    toolkit = bool(world.which("nvidia-ctk"))
    image = runtime.image_to_try(docker.images, (SERVERS["cuda"], CLIENT, SERVERS["cpu"]))
    if image is None:
        return runtime.predict(docker.info, toolkit, docker.snap)
    name = f"gspo-bench-doctor-{os.getpid()}"
    output = world.run(runtime.trial(image, name), CONTAINER_LIMIT_S)
    _remove_if_hanging(world, output, name)
    return runtime.judge_trial(output, toolkit, docker.snap)


def _judge_images(images: list[str], stack: str) -> Finding:
    absent = [image for image in (SERVERS[stack], CLIENT) if image not in images]
    if not absent:
        return ok(IMAGES, "built")
    return ok(IMAGES, f"make bench will build {' and '.join(image.removesuffix(':latest') for image in absent)}")


def _is_cached(world: World, settings: Settings, model: str, docker: Engine) -> bool:
    image = next((image for image in (*SERVERS.values(), CLIENT) if image in docker.images), None)
    if image is None or hub.is_folder(model):
        return False
    for volume in _volumes(world, settings):
        name = f"gspo-bench-doctor-{os.getpid()}"
        if hub.is_complete(world.run(hub.list_cache(volume, image, model, name), CONTAINER_LIMIT_S).out):
            return True
    return False


def _judge_disk(world: World, docker: Engine, stack: str, model: str, cached: bool) -> Finding:
    needs = {}
    if SERVERS[stack] not in docker.images:
        needs["server image"] = host.BUILD_GIB[stack]
    if CLIENT not in docker.images:
        needs["client image"] = host.CLIENT_BUILD_GIB
    if not (cached or hub.is_folder(model)):
        needs["model"] = host.model_gib(model)
    folders = host.image_folders(docker.info) if docker.info else ["/"]
    free = {folder: world.free_gib(folder) for folder in folders}
    seen = {folder: gib for folder, gib in free.items() if gib is not None}
    folder = min(seen, key=lambda name: seen[name]) if seen else next(iter(free))
    return host.judge_disk(free[folder], folder, needs)


def _judge_port(world: World, settings: Settings) -> Finding:
    free = world.port_is_free(settings.port)
    others = range(settings.port + 1, min(settings.port + 20, 65536))
    other = None if free else next((port for port in others if world.port_is_free(port)), None)
    holder = world.run(["docker", "ps", "--filter", f"publish={settings.port}", "--format", host.PS_FORMAT])
    return host.judge_port(settings.port, free, holder, settings.project, other)
