"""All that a result file says besides the steps, put together before the first of them is taken."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import tinker

from bench import batch as batches
from bench import datums, environment, outputs_order, path_names, paths
from bench.batch import FrozenBatch
from bench.checks import Check
from bench.errors import BenchError
from bench.numbers import plural
from bench.observer import Observer
from bench.results import RunFacts
from bench.run_warnings import RunWarning
from bench.session import Session
from bench.settings import RunSettings


def facts_of(
    session: Session,
    settings: RunSettings,
    frozen: FrozenBatch,
    arms: Sequence[tuple[str, paths.Path]],
    floor_s: dict[str, list[float]],
    memory: list[dict[str, Any]],
    observer: Observer,
    order: Check | None,
) -> RunFacts:
    """The facts; the batch is on disk then, in `batches/` of the results. Raises BenchError where the SDK splits the paths' calls apart."""
    name = f"{frozen.sha256[:12]}.json"
    batches.save(frozen, settings.results / "batches" / name)
    server = session.probe.environment()
    return RunFacts(
        model=session.model,
        batch=frozen,
        batch_file=f"batches/{name}",
        arms=tuple(name for name, _ in arms),
        requests={name: path.requests for name, path in arms},
        round_trips={name: path.requests if settings.blocking else path.waits for name, path in arms},
        chunks=chunk_count(session.client, frozen),
        settings=settings.as_recorded(),
        floor_s=floor_s,
        client=environment.client_environment(),
        server=server,
        memory=memory,
        clock=asdict(observer.offset) if observer.offset else None,
        peak_tflops=settings.peak_tflops,
        order=order,
        extra_warnings=(*outputs_order.warnings_of(order), *_server_warnings(server, settings)),
    )


def chunk_count(client: tinker.TrainingClient, frozen: FrozenBatch) -> int:
    """Into how many requests the SDK splits each gradient call: the same for every path, or the comparison would be another one.

    Raises:
        BenchError: the paths' calls are split differently.
    """
    native = [datums.gspo_datum(sequence) for sequence in frozen.sequences]
    forward = [datums.forward_datum(sequence) for sequence in frozen.sequences]
    counts = [len(list(client._chunked_requests_generator(data))) for data in (native, forward)]
    if counts[0] != counts[1]:
        raise BenchError(
            f"the SDK would split the fused call into {plural(counts[0], 'request')} and the forward into {counts[1]}: "
            "they do not compare.\n"
            "Use fewer or shorter sequences (the SDK splits above 1,024 datums or about 5 MB)."
        )
    return counts[0]


def _server_warnings(server: dict[str, Any] | None, settings: RunSettings) -> list[RunWarning]:
    found = []
    backend = (server or {}).get("backend")
    if backend == "megatron":
        text = "data-parallel Megatron can return gspo outputs out of order (SkyRL#2043)"
        found.append(RunWarning("MEGATRON_ORDER", text, "Check it with bench verify before trusting a learning run.", unstable=False))
    if backend == "jax" and path_names.SDK_CUSTOM in settings.path_names:
        text = "SkyRL's JAX backend divides by the sum of the weights, so sdk_custom's gradient is not GSPO's here; its time still counts"
        found.append(RunWarning("SDK_CUSTOM_GRADIENT", text, "Compare gradients on the fsdp backend.", unstable=False))
    if (server or {}).get("weights") == "random":
        text = "the model's weights are random: times are those of its shape, what it writes means nothing"
        found.append(RunWarning("RANDOM_WEIGHTS", text, "Nothing to do for timing.", unstable=False))
    return found
