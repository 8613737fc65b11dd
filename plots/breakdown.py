"""Where a path's step goes, as its result file tells: phases, wire, and the floor that arithmetic sets."""

from dataclasses import dataclass

from plots.checked import Section

UNEXPLAINED = "unexplained"
HAND_OVER = "hand_over"  # what the client's clock alone calls submit: giving its requests to the SDK, not their way to the server
TIMELINE = (
    "encode",
    "submit",
    "queued",
    "engine_forward",
    "engine_forward_backward",
    "engine_optim_step",
    "fetch",
    "decode",
    "weights",
    UNEXPLAINED,
)
LEAST_REST = 1e-4  # of a step; less is rounding


@dataclass(frozen=True)
class Phase:
    """One part of a step, in mean seconds a step."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Wire:
    """HTTP requests, body bytes and dependent waits a step; None where the file does not say."""

    requests: float | None
    up_bytes: float | None
    down_bytes: float | None
    round_trips: float | None


@dataclass(frozen=True)
class Roofline:
    """What the arithmetic of a step needs on this device. `floor_s` goes by path."""

    device: str | None
    peak_tflops: float | None
    peak_source: str | None
    gradient_checkpointing: bool | None
    saving_bound_pct: float | None
    floor_s: dict[str, float]


@dataclass(frozen=True)
class Breakdown:
    """One path's mean step in phases, in the order in which they happen, and its median step, by which `mfu_pct` is.

    `by_client`: only the client's clock is known, whose waits hold wire, queue and engine together.
    `excess_s`: how much more than the step the phases add up to, 0 where they do not.
    """

    path: str
    by_client: bool
    step_s: float
    median_s: float
    phases: tuple[Phase, ...]
    excess_s: float
    floor_s: float | None
    mfu_pct: float | None
    wire: Wire | None

    def share(self, prefix: str) -> float:
        """Return the part of the step, from 0 to 1, that the phases with this beginning of a name have."""
        return sum(phase.seconds for phase in self.phases if phase.name.startswith(prefix)) / self.step_s


def read_breakdown(root: Section, path: str, step_s: float, median_s: float, roofline: Roofline | None) -> Breakdown | None:
    """Return a path's breakdown, or None where the file has no phases for it; raises PlotInputError."""
    section = root.section(path)
    timeline = section.section("timeline_mean_s")
    by_client = not timeline
    phases = _phases(section.section("phases_mean_s") if by_client else timeline)
    if by_client:
        phases = [Phase(HAND_OVER, phase.seconds) if phase.name == "submit" else phase for phase in phases]
    if not phases:
        return None
    rest = step_s - sum(phase.seconds for phase in phases)
    if rest > LEAST_REST * step_s:
        known = next((phase.seconds for phase in phases if phase.name == UNEXPLAINED), 0.0)
        phases = [phase for phase in phases if phase.name != UNEXPLAINED]
        phases.append(Phase(UNEXPLAINED, known + rest))
    utilisation = section.section("utilisation")
    floor_s = utilisation.number("floor_s", 0)
    return Breakdown(
        path=path,
        by_client=by_client,
        step_s=step_s,
        median_s=median_s,
        phases=tuple(phases),
        excess_s=-rest if rest < -LEAST_REST * step_s else 0.0,
        floor_s=floor_s if floor_s is not None or roofline is None else roofline.floor_s.get(path),
        mfu_pct=utilisation.number("mfu_pct", 0),
        wire=_wire(section.section("wire_mean")),
    )


def read_roofline(root: Section) -> Roofline | None:
    """Return the file's roofline, or None where it has none; raises PlotInputError."""
    section = root.section("roofline")
    if not section:
        return None
    paths = section.section("paths")
    floors = {name: paths.section(name).number("floor_s", 0) for name in paths.values}
    return Roofline(
        device=section.text("device"),
        peak_tflops=section.number("peak_tflops", 0),
        peak_source=section.text("peak_source"),
        gradient_checkpointing=section.flag("gradient_checkpointing"),
        saving_bound_pct=section.number("saving_bound_pct"),
        floor_s={name: floor for name, floor in floors.items() if floor is not None},
    )


def _phases(section: Section) -> list[Phase]:
    """Return the phases in the timeline's order, any other where the file has it; those of no length are left out."""
    place = {name: number for number, name in enumerate(TIMELINE)}
    ordered = sorted(section.values, key=lambda name: place[name]) if set(section.values) <= set(place) else list(section.values)
    # A clock's uncertainty can leave a phase a hair below 0.
    lengths = [(name, section.number(name)) for name in ordered]
    return [Phase(name, seconds) for name, seconds in lengths if seconds is not None and seconds > 0]


def _wire(section: Section) -> Wire | None:
    if not section:
        return None
    return Wire(*(section.number(key, 0) for key in ("requests", "up_bytes", "down_bytes", "round_trips")))
