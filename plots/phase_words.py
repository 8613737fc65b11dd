"""What the picture of the phases says in words: which phase is whose, where the time goes, what arithmetic alone would need."""

from collections.abc import Sequence

from plots import words
from plots.breakdown import HAND_OVER, UNEXPLAINED, Breakdown, Phase, Roofline
from plots.numbers import brief, clipped, duration, percent, share, short
from plots.results import Result

FLOOR_MARK = "\N{BLACK DOWN-POINTING TRIANGLE}"
ENGINE, WIRE, WAIT, CLIENT = "engine", "wire", "wait", "client"
GROUP_OF = {
    "submit": WIRE,
    "queued": WIRE,
    "fetch": WIRE,
    "engine_forward": ENGINE,
    "engine_forward_backward": ENGINE,
    "engine_optim_step": ENGINE,
    "forward_wait": WAIT,
    "forward_backward_wait": WAIT,
    "optimizer_wait": WAIT,
    UNEXPLAINED: UNEXPLAINED,
}  # anything else is the client's own work
GROUP_NAMES = {
    ENGINE: "the server's engine",
    WIRE: "wire and queue",
    WAIT: "waiting for the server",
    CLIENT: "the client's own work",
    UNEXPLAINED: "unexplained",
}
AT_WORK = GROUP_NAMES | {ENGINE: "the server's engine at work"}
NAMES = {
    "engine_forward": "forward",
    "engine_forward_backward": "forward + backward",
    "engine_optim_step": "optimizer",
    "forward_wait": "forward",
    "forward_backward_wait": "forward + backward",
    "optimizer_wait": "optimizer",
    "weights": "ratios",
    HAND_OVER: "submit",
}
MEANINGS = {
    "encode": "the client builds its requests",
    "submit": "until the server has a request",
    "queued": "a request waits for the engine",
    "fetch": "a finished result waits, and travels",
    HAND_OVER: "the client hands its requests over",
    "decode": "the client reads a result",
    "weights": "the client works out GSPO's ratios",
    UNEXPLAINED: "what no clock accounts for",
}


def group_of(phase: Phase) -> str:
    """Return whose a phase is."""
    return GROUP_OF.get(phase.name, CLIENT)


def name_of(phase: Phase) -> str:
    """Return a phase's name as it stands below its part of the bar."""
    return NAMES.get(phase.name) or clipped(phase.name.replace("_", " "), 24)


def seconds_of(made: Breakdown, group: str) -> float:
    """Return the seconds of one group's phases in a step."""
    return sum(phase.seconds for phase in made.phases if group_of(phase) == group)


def title(drawn: Sequence[Breakdown]) -> str:
    """Say where most of the step goes, in a dozen words."""
    first = _named(drawn, "native_1pass") or drawn[0]
    if first.by_client:
        return "Where a step's time goes, by the client's clock alone"
    group = max(GROUP_NAMES, key=lambda group: seconds_of(first, group))
    step = {"native_1pass": "the fused step", "custom_2pass": "the two-pass step"}.get(first.path, "the step")
    return f"{percent(100 * seconds_of(first, group) / first.step_s)} of {step} is {AT_WORK[group]}"


def verdict(drawn: Sequence[Breakdown]) -> str:
    """Say what the two passes spend more time on, or what the client's clock cannot tell."""
    if any(made.by_client for made in drawn):
        which = "The file has no times of the server's own" if all(made.by_client for made in drawn) else "By the client's clock alone"
        return f"{which}: a wait holds the wire, the queue and the engine together."
    fused, two = _named(drawn, "native_1pass"), _named(drawn, "custom_2pass")
    if fused is None or two is None:
        return "Every phase from the moment the client starts to encode until its last result is in."
    more = two.step_s - fused.step_s
    parts = [(seconds_of(two, group) - seconds_of(fused, group), group) for group in GROUP_NAMES]
    largest = sorted((part for part in parts if part[0] * more > 0), key=lambda part: -abs(part[0]))[:2]
    listed = " and ".join(f"{duration(abs(seconds))} in {_in(group)}" for seconds, group in largest)
    return f"On average two passes take {duration(abs(more))} {'more' if more >= 0 else 'less'} a step: {listed}." if largest else ""


def utilisation(result: Result, drawn: Sequence[Breakdown]) -> list[str]:
    """Say how near each path comes to what the hardware could do, and what the saving would be if arithmetic were all."""
    lines = []
    for made in drawn:
        name = words.IN_A_SENTENCE.get(made.path, made.path)
        parts = []
        if made.floor_s:
            parts.append(f"the median step takes {brief(made.median_s / made.floor_s)} times what its arithmetic alone would")
        if made.mfu_pct is not None:
            parts.append(f"{share(made.mfu_pct / 100)} of the device's peak is used")
        if parts:
            lines.append(f"{name[0].upper()}{name[1:]}: {'; '.join(parts)}.")
    return lines + ([line] if (line := _bound(result.roofline)) else [])


def row(made: Breakdown) -> tuple[str, ...]:
    """Name a bar, and in fewer and fewer words: its path, the mean step and whose clock it is by."""
    name = words.LABELS[made.path].replace("\n", " ")
    step = f"mean {duration(made.step_s)}"
    whose = ("by the client's clock", "client's clock") if made.by_client else ()
    return *(f"{name}: {step}, {clock}" for clock in whose), f"{name}: {step}", f"{name.partition(' (')[0]}: {step}"


def legend(drawn: Sequence[Breakdown]) -> str:
    """Say what a bar and its mark are."""
    mark = f" {FLOOR_MARK}: where it would end if arithmetic were all." if any(made.floor_s for made in drawn) else ""
    return f"Each bar: the mean timed step of a path, all bars on one scale.{mark}"


def floor(made: Breakdown) -> tuple[str, str, str]:
    """Say in a few words, and in fewer and fewer, what a path's arithmetic alone would take."""
    seconds = duration(made.floor_s or 0)
    used = "" if made.mfu_pct is None else f" ({share(made.mfu_pct / 100)} of the peak used)"
    return f"{FLOOR_MARK} arithmetic alone: {seconds}{used}", f"{FLOOR_MARK} arithmetic: {seconds}", f"{FLOOR_MARK} {seconds}"


def wire(drawn: Sequence[Breakdown]) -> list[str]:
    """Say what a step sends and fetches."""
    told = []
    for made in drawn:
        if made.wire is None:
            continue
        parts = []
        if made.wire.requests is not None:
            parts.append(_counted(made.wire.requests, "request"))
        if made.wire.up_bytes is not None and made.wire.down_bytes is not None:
            parts.append(f"{_bytes(made.wire.up_bytes)} up, {_bytes(made.wire.down_bytes)} down")
        if made.wire.round_trips is not None:
            parts.append(_counted(made.wire.round_trips, "dependent wait"))
        if parts:
            told.append(f"{words.IN_A_SENTENCE.get(made.path, made.path)}, {', '.join(parts)}")
    return [f"The wire a step: {'; '.join(told)}."] if told else []


def glossary(drawn: Sequence[Breakdown]) -> list[str]:
    """Say what those of the phases that occur mean whose names do not tell."""
    occurring = {phase.name for made in drawn for phase in made.phases}
    told = [f"{NAMES.get(name, name)}: {meaning}" for name, meaning in MEANINGS.items() if name in occurring]
    return [f"{'; '.join(told)}."] if told else []


def sums(drawn: Sequence[Breakdown]) -> list[str]:
    """Say where phases add up to more than their step."""
    lines = []
    for made in drawn:
        if made.excess_s:
            name = words.IN_A_SENTENCE.get(made.path, made.path)
            lines.append(f"The phases of {name} add up to {share(made.excess_s / made.step_s)} more than its step: two of them overlap.")
    return lines


def accounted(drawn: Sequence[Breakdown]) -> list[str]:
    """Say where nothing is unexplained, as then no part of a bar does."""
    whole = not any(made.by_client or made.excess_s or seconds_of(made, UNEXPLAINED) for made in drawn)
    return ["Nothing is unexplained: every moment of these steps is in one of the phases."] if whole else []


def clock(result: Result) -> list[str]:
    """Say how well the server's clock was aligned with the client's."""
    if result.clock_uncertainty_s is None:
        return []
    return [f"The server's clock is aligned with the client's within {duration(result.clock_uncertainty_s)}."]


def _bound(roofline: Roofline | None) -> str | None:
    if roofline is None:
        return None
    recomputed = {True: ", with gradient checkpointing", False: ", without gradient checkpointing", None: ""}[
        roofline.gradient_checkpointing
    ]
    saving = "" if roofline.saving_bound_pct is None else f"the saving would be {percent(roofline.saving_bound_pct)}"
    if roofline.peak_tflops is None:
        return f"If arithmetic were all{recomputed}, {saving}." if saving else None
    device = "" if not roofline.device else f" on {clipped(roofline.device, 50)}"
    source = "" if not roofline.peak_source else f" ({clipped(roofline.peak_source, 90)})"
    floor = f"Arithmetic alone: the step's multiplications{device} at {short(roofline.peak_tflops)} TFLOP/s{source}{recomputed}"
    return f"{floor}. If arithmetic were all, {saving}." if saving else f"{floor}."


def _in(group: str) -> str:
    return {WIRE: "wire and queue", WAIT: "waits", CLIENT: "the client's own work", ENGINE: "the engine"}.get(group, "what is unexplained")


def _counted(mean: float, noun: str) -> str:
    """Write a mean count a step with its noun: 1 request, 2.5 requests."""
    text = f"{mean:,.3g}"
    return f"{text} {noun}" + ("" if text == "1" else "s")


def _bytes(count: float) -> str:
    scale, unit = next((pair for pair in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")) if count >= pair[0]), (1.0, "bytes"))
    return f"{count / scale:,.3g} {unit}"


def _named(drawn: Sequence[Breakdown], path: str) -> Breakdown | None:
    return next((made for made in drawn if made.path == path), None)
