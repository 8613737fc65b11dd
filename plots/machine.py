"""What a server ran on, as its part of a file tells."""

from dataclasses import dataclass

from plots.checked import Section


@dataclass(frozen=True)
class Machine:
    """GPUs by name, and the CPU; None where the file does not say. `devices`: those that the model is spread over, of one node."""

    gpus: tuple[str, ...]
    cpu: str | None
    cpu_count: int | None
    devices: int | None = None


def read_machine(server: Section) -> Machine:
    """Read a file's `environment.server`; raises PlotInputError."""
    gpus = tuple(gpu.text("name") or "unnamed GPU" for gpu in server.sections("gpus"))
    return Machine(gpus, server.text("cpu"), server.whole("cpu_count"), server.section("placement").whole("devices_per_node"))
