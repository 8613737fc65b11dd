"""Where a step's time goes: each path's phases beside each other, its wire, and how far the engine is from what the arithmetic needs."""

from plots import phase_words, phases, words
from plots.breakdown import TIMELINE, Breakdown
from plots.numbers import clipped, duration, share
from plots.report.charts import chart
from plots.report.section import Section, Table
from plots.results import Result
from plots.svg import Alternative

MOST_PHASES = 30


def timeline(result: Result) -> Section | None:
    """Return the section, or None for a file without phases."""
    drawn = result.breakdowns
    if not drawn:
        return None
    headings = ("phase", *(_label(made) for made in drawn))
    instead = Alternative("Where a step's time goes", _instead(drawn))
    return Section(
        "timeline",
        "Where the time goes",
        (f"{phase_words.title(drawn)}.", *filter(None, [phase_words.verdict(drawn)]), *phase_words.utilisation(result, drawn)),
        chart=chart("timeline", phases.draw_body, phases.body_in, drawn, instead, phase_words.legend(drawn)),
        tables=(Table("A mean step, phase by phase", headings, _rows(drawn), cards=len(drawn) > 2),),
        notes=(*phase_words.sums(drawn), *phase_words.glossary(drawn), *phase_words.wire(drawn), *phase_words.clock(result)),
    )


def _instead(drawn: tuple[Breakdown, ...]) -> str:
    told = []
    for made in drawn:
        parts = ", ".join(f"{phase_words.name_of(phase)} {duration(phase.seconds)}" for phase in made.phases[:MOST_PHASES])
        told.append(f"{_label(made)}, {duration(made.step_s)}: {parts}")
    return f"{'; '.join(told)}."


def _rows(drawn: tuple[Breakdown, ...]) -> tuple[tuple[str, ...], ...]:
    names = dict.fromkeys(phase.name for made in drawn for phase in made.phases)
    place = {name: number for number, name in enumerate(TIMELINE)}
    rows = []
    for name in sorted(names, key=lambda name: place.get(name, len(place)))[:MOST_PHASES]:
        found = [next((phase for phase in made.phases if phase.name == name), None) for made in drawn]
        named = next(phase for phase in found if phase)
        cells = (
            f"{duration(phase.seconds)} ({share(phase.seconds / made.step_s)})" if phase else "none"
            for phase, made in zip(found, drawn, strict=True)
        )
        rows.append((phase_words.name_of(named), *cells))
    return (*rows, ("the whole step, mean", *(duration(made.step_s) for made in drawn)))


def _label(made: Breakdown) -> str:
    return words.IN_A_SENTENCE.get(made.path) or clipped(made.path, 40)
