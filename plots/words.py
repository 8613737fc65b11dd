"""What the picture says in words: all of it from the result file, for a reader who has never seen the project."""

from plots.machine import Machine
from plots.measures import Measures, beyond
from plots.numbers import clipped, day_and_time, percent, plural, short
from plots.results import Caution, Comparison, Result, Setting
from plots.weights import WEIGHTS

SEPARATOR = "  \N{MIDDLE DOT}  "
MOST_CAUTIONS = 3
MOST_NOTES = 2
LONGEST_SETTING = 40  # of a lone setting's name that is written rather than counted
CONTROL = "native_1pass_control"
LABELS = {
    "native_1pass": "fused,\none pass",
    "custom_2pass": "two passes\n(round trip)",
    "sdk_custom": "SDK\ncustom loss",
    CONTROL: "fused again\n(control)",
}
IN_A_SENTENCE = {
    "native_1pass": "fused GSPO",
    "custom_2pass": "two passes",
    "sdk_custom": "the SDK's custom loss",
    CONTROL: "fused GSPO again",
}
BACKENDS = {"jax": "JAX", "fsdp": "FSDP", "megatron": "Megatron"}
ORDERS = {"interleaved": "paths interleaved", "blocked": "one path after the other"}
MODES = {"pipelined": "calls pipelined", "blocking": "each call waited for"}


def title(result: Result) -> str:
    """Say what the run found, in a dozen words."""
    if result.invalid:
        return "Not a valid result: do not use these numbers"
    best = headline(result)
    if best is None:
        change = _published_saving(result)
        if change is None:
            return "How long a GSPO training step takes"
        return _finding("native_1pass", "custom_2pass", change, "took")
    if best.interval and best.interval[0] <= 0 <= best.interval[1]:
        return f"No difference shown between {_name(best.candidate)} and {_name(best.baseline)}"
    return _finding(best.candidate, best.baseline, best.saving_pct, "takes" if best.interval else "took")


def verdict(result: Result) -> str | None:
    """Say the saving with its interval as one sentence, or why there is no interval; nothing of a result that is not valid."""
    if result.invalid:
        return None
    best = headline(result)
    if best is not None:
        pairs = f" over {plural(best.pairs, 'pair')}" if best.pairs else ""
        count = "" if best.faster_in is None or not best.pairs else f"; faster in {best.faster_in:,} of {best.pairs:,}"
        return f"The median saving{pairs} is {percent(best.saving_pct)} of the step{_interval(best)}{count}."
    change, gain = _published_saving(result), result.throughput_gain_pct
    if change is None:
        return None
    step = f"The mean step is {percent(abs(change))} {'shorter' if change >= 0 else 'longer'}"
    rate = "" if gain is None else f" and throughput {percent(abs(gain))} {'higher' if gain >= 0 else 'lower'}"
    return f"{step}{rate}; the file gives no interval."


def headline(result: Result) -> Comparison | None:
    """Return the comparison that the title speaks of: the file's first, unless that is the control."""
    return next((made for made in result.comparisons if made.candidate != CONTROL), None)


def other_comparisons(result: Result) -> list[str]:
    """Say every further comparison, and of the control whether it shows what it should."""
    best = headline(result)
    return [_control(made) if made.candidate == CONTROL else _other(made) for made in result.comparisons if made is not best]


def alert(result: Result) -> str | None:
    """Say that the run is not valid, or did not finish, and why."""
    found = [f"NOT VALID: {clipped(result.invalid, 200)}"] if result.invalid else []
    if result.partial:
        found.append("PARTIAL RUN: " + (clipped(result.reason, 200) if result.reason else "it stopped before its last step"))
    return "; ".join(found) or None


def where(result: Result) -> list[str]:
    """Say what ran where, and how: two lines."""
    setting = result.setting
    what = [clipped(setting.model, 110) if setting.model else "model not in the file"]
    if setting.weights:
        what[0] += f", {WEIGHTS[setting.weights]}"
    what.append(machine(setting))
    if setting.backend:
        preset = f", preset {name}" if (name := preset_name(setting)) else ""
        what.append(f"{BACKENDS.get(setting.backend) or clipped(setting.backend, 30)} backend{preset}")
    how = []
    if setting.sequences is not None:
        how.append(plural(setting.sequences, "sequence"))
    if setting.tokens_per_step is not None:
        how.append(plural(setting.tokens_per_step, "target token") + " a step")
    best = headline(result)
    if best is not None and best.pairs is not None:
        how.append(f"{plural(best.pairs, 'pair')} of steps")
    if setting.order:
        how.append(ORDERS.get(setting.order, f"order: {clipped(setting.order, 30)}"))
    if setting.mode:
        how.append(MODES.get(setting.mode, f"mode: {clipped(setting.mode, 30)}"))
    return [SEPARATOR.join(parts) for parts in (what, how) if parts]


def machine(setting: Setting | Machine) -> str:
    """Say what the server ran on."""
    if setting.gpus:
        kinds = list(dict.fromkeys(setting.gpus))
        counted = [(setting.gpus.count(kind), clipped(kind, 50)) for kind in kinds[:3]]
        return " + ".join(f"{count} \N{MULTIPLICATION SIGN} {kind}" if count > 1 else kind for count, kind in counted)
    if setting.cpu or setting.cpu_count:
        cores = plural(setting.cpu_count, "core") if setting.cpu_count else ""
        devices = f"as {setting.devices:,} devices" if setting.devices and setting.devices > 1 else ""
        told = ", ".join(part for part in (cores, devices) if part)
        return f"CPU only: {clipped(setting.cpu or 'unnamed', 60)}{f' ({told})' if told else ''}"
    return "machine not in the file"


def preset_name(setting: Setting) -> str | None:
    """Return the preset, and that it was changed: by the setting's name where it is one and short, else by how many."""
    if not setting.preset:
        return None
    name, changed = clipped(setting.preset, 30), setting.preset_changed
    if not changed:
        return name
    what = changed[0] if len(changed) == 1 and len(changed[0]) <= LONGEST_SETTING else plural(len(changed), "setting")
    return f"{name} with {what} changed"


def legend(drawn: Measures) -> str:
    """Say what a bar, a whisker and a dot are."""
    parts = [f"Bar: {drawn.centre} of the timed steps"]
    if drawn.whisker_words:
        parts.append(f"whisker: {drawn.whisker_words}")
    if any(bar.dots for bar in drawn.seconds):
        parts.append("dots: each step, first to last from left to right")
    if far := beyond(drawn.seconds):
        parts.append(f"triangle: a step beyond the panel (the longest took {short(max(far))} s)")
    elif beyond(drawn.tokens):
        parts.append("triangle: a step beyond the panel")
    return "; ".join(parts) + "."


def cautions(result: Result) -> list[tuple[str, bool]]:
    """Say the file's warnings, the first few in full, each with whether it speaks against the numbers: those first."""
    ordered = sorted(result.cautions, key=lambda made: not made.unstable)
    lines = [(_caution(made), made.unstable) for made in ordered[:MOST_CAUTIONS]]
    left = ordered[MOST_CAUTIONS:]
    if left:
        lines.append((f"{plural(len(left), 'more warning')} in the file.", left[0].unstable))
    return lines


def notes(result: Result) -> list[str]:
    """Say what the server says of itself."""
    return [f"Server note: {clipped(note, 160)}." for note in result.setting.notes[:MOST_NOTES]]


def source(result: Result) -> str:
    """Say which file was drawn, and when it was measured."""
    when = f", measured {clipped(day_and_time(result.created_at), 40)}" if result.created_at else ""
    return f"From {clipped(result.file, 80)}{when}."


def _published_saving(result: Result) -> float | None:
    """Return the saving from the two means, where the file has it and both paths."""
    both = result.path("native_1pass") and result.path("custom_2pass")
    return result.step_time_reduction_pct if both else None


def _finding(candidate: str, baseline: str, saving_pct: float, verb: str) -> str:
    more = "less" if saving_pct >= 0 else "more"
    pair = f"{_name(candidate)} {verb} {percent(abs(saving_pct))} {more} time a step than {_name(baseline)}"
    return pair[0].upper() + pair[1:]


def _caution(made: Caution) -> str:
    kind = "Warning" if made.unstable else "Note"
    return f"{kind} {clipped(made.code, 40)}: {clipped(made.text.rstrip('.'), 220)}."


def _control(made: Comparison) -> str:
    if made.interval is None:
        judged = ""
    elif made.interval[0] <= 0 <= made.interval[1]:
        judged = "; it holds 0, as it should"
    else:
        judged = "; it should hold 0, and does not: differences of this size mean nothing here"
    return f"Control, fused against itself: {percent(made.saving_pct)}{_interval(made)}{judged}."


def _other(made: Comparison) -> str:
    pair = f"{_name(made.candidate)} against {_name(made.baseline)}"
    return f"{pair[0].upper()}{pair[1:]}: saving {percent(made.saving_pct)}{_support(made)}."


def _support(made: Comparison) -> str:
    text = _interval(made)
    if made.pairs and made.faster_in is not None:
        text += f"; faster in {made.faster_in:,} of {plural(made.pairs, 'pair')}"
    return text


def _interval(made: Comparison) -> str:
    if made.interval is None:
        return ", without an interval"
    low, high = made.interval
    return f", {made.ci_level * 100:g} % interval {percent(low)} to {percent(high)}"


def _name(path: str) -> str:
    return IN_A_SENTENCE.get(path) or clipped(path, 40)
