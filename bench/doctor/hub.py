"""Can the model be had: from the cache volume, or from the Hugging Face hub?"""

import re
from collections.abc import Sequence

from bench.doctor.finding import Finding, fail, ok, warn
from bench.doctor.settings import MODELS, Settings

NAME = "Model"
CACHE = "/cache"  # where the server's image keeps what it downloads; HF_HOME is huggingface/ in it


def is_folder(model: str) -> bool:
    """Whether MODEL names a folder in the server's container, not a model of the hub."""
    return model.startswith(("/", ".", "~"))


def list_cache(volume: str, image: str, model: str, name: str) -> list[str]:
    """The command that lists the model's files in a volume that is mounted at /cache or at HF_HOME."""
    snapshots = [f"{CACHE}/{home}hub/models--{model.replace('/', '--')}/snapshots" for home in ("huggingface/", "")]
    flags = ["--rm", "--name", name, "--pull", "never", "--network", "none"]
    mount = ["--mount", f"type=volume,source={volume},target={CACHE},readonly"]
    return ["docker", "run", *flags, *mount, "--entrypoint", "find", image, "-L", *snapshots, "-type", "f"]


def is_complete(listing: str) -> bool:
    """Whether one snapshot in `find -L`'s listing has a config and all its weights. Links to what is missing are not listed."""
    snapshots: dict[str, list[str]] = {}
    for line in listing.splitlines():
        found = re.search(r"/snapshots/([^/]+)/([^/]+)$", line.strip())
        if found:
            snapshots.setdefault(found.group(1), []).append(found.group(2))
    return any("config.json" in names and _has_weights(names) for names in snapshots.values())


def _has_weights(names: Sequence[str]) -> bool:
    shards = [re.fullmatch(r"model-\d+-of-(\d+)\.safetensors", name) for name in names]
    counts = [int(shard.group(1)) for shard in shards if shard]
    return len(counts) == counts[0] if counts else "model.safetensors" in names


def judge_folder(model: str, stack: str, there: bool | None, on_host: bool) -> Finding:
    """`there`: whether the server's container has it, None before that can be seen; `on_host`: whether this machine has such a folder,
    of which compose mounts none."""
    if there:
        return ok(NAME, f"{model}, a folder in the server's container: nothing to download")
    action = f"MODEL={MODELS[stack]} make bench     # or with a model of the hub, by its name there"
    own = "; this machine's own folder of that name is not seen there" if on_host else ""
    if there is None:
        seen = f"whether the server's container has the folder {model} is not known: its image is not built yet, or did not start{own}"
        return warn(NAME, seen, action)
    return fail(NAME, f"the server's container has no folder {model} with a config.json{own}", action)


def judge_model(settings: Settings, model: str, cached: bool, offline: bool, answer: tuple[int | None, str]) -> Finding:
    """answer is (the hub's HTTP status for the model's config.json, ''), or (None, why there is none)."""
    status, problem = answer
    if cached:
        return ok(NAME, f"{model} is in the cache")
    if offline:
        seen = f"{model} is not in the cache, and the hub is not to be asked (HF_HUB_OFFLINE)"
        return fail(NAME, seen, "HF_HUB_OFFLINE=0 make bench     # for the first run")
    if status is None:
        action = f"curl -sI {settings.hub}     # says more\nHF_ENDPOINT=https://... make bench     # with a mirror that you can reach"
        return fail(NAME, f"{model} is not in the cache, and {settings.hub} cannot be reached ({problem})", action)
    if status < 400:
        return ok(NAME, f"{model} can be had from {settings.hub}")
    if status in (401, 403):
        return _refused(settings, model)
    if status == 404:
        return fail(
            NAME, f"{settings.hub} has no model {model}", "MODEL=... make bench     # a name as on the hub, such as Qwen/Qwen3-0.6B"
        )
    if status == 429:
        return warn(
            NAME, f"{settings.hub} refuses for now: too many downloads from this address", _give_token("with a token the limit is higher")
        )
    return warn(NAME, f"{settings.hub} answers with HTTP {status}", "make doctor     # again in a few minutes")


def _refused(settings: Settings, model: str) -> Finding:
    if settings.token:
        action = f"open {settings.hub}/{model}     # ask for access there with the account of HF_TOKEN"
        return fail(NAME, f"{model} is not open to your HF_TOKEN, or there is no such model", action)
    return fail(NAME, f"{model} needs a token, or there is no such model", _give_token("of an account that may read it"))


def _give_token(why: str) -> str:
    return f"echo HF_TOKEN=hf_... >> .env     # {why}: https://huggingface.co/settings/tokens"
