"""From a results folder, or one result file, to the page."""

from dataclasses import dataclass, replace
from pathlib import Path

from plots import bars, words
from plots.checked import Section as Json
from plots.checked import read_object
from plots.measures import measures
from plots.render import write_whole
from plots.repeat_file import Repeat, read_repeat
from plots.report import repeats, timing
from plots.report.cautions import warned
from plots.report.charts import chart
from plots.report.facts import facts
from plots.report.page import Page, html_of
from plots.report.section import Section
from plots.report.wires import wires
from plots.results import Result, read_result
from plots.svg import Alternative

REPORT = "report.html"
RESULT, REPEAT = "last_gspo_bench.json", "last_repeat.json"
SOURCES = (RESULT, REPEAT)


@dataclass(frozen=True)
class Sources:
    """What was read; None for what a folder does not have. `root` is the result's file as it is."""

    result: Result | None = None
    root: Json | None = None
    repeat: Repeat | None = None


def has_sources(folder: Path) -> bool:
    """Return whether a results folder has anything for a page."""
    return any((folder / name).exists() for name in SOURCES)


def write_folder(folder: Path) -> Path:
    """Write report.html of all that a results folder has, and return its path; raises PlotInputError or PlotOutputError."""
    result, repeat = (folder / name for name in SOURCES)
    sources = Sources(
        read_result(result) if result.exists() else None,
        read_object(result) if result.exists() else None,
        read_repeat(repeat) if repeat.exists() else None,
    )
    write_whole(folder / REPORT, html_of(_page(sources)).encode())
    return folder / REPORT


def write_file(file: Path, target: Path) -> None:
    """Write the page of one result file of any schema; raises PlotInputError or PlotOutputError."""
    write_whole(target, html_of(_page(Sources(read_result(file), read_object(file)))).encode())


def _page(sources: Sources) -> Page:
    sections: list[Section | None] = []
    result, root = sources.result, sources.root
    if result:
        sections.append(_paths(result))
    if root:
        sections.append(wires(root))
    if sources.repeat:
        sections.append(repeats.repeats(sources.repeat))
    if root:
        sections.append(facts(root))
    found = tuple(section for section in sections if section)
    read = [words.source(result)] if result else []
    if result is None:
        return Page("Results of gspo-bench", None, None, (), (), found, tuple(read))
    return Page(
        title=words.title(result),
        partial=words.partial(result),
        verdict=words.verdict(result),
        where=(*words.where(result), *words.notes(result)),
        warned=warned(result),
        sections=found,
        sources=tuple(read),
    )


def _paths(result: Result) -> Section:
    drawn = measures(result)
    panels = 2 if drawn.tokens else 1
    instead = Alternative("The two paths", timing.instead(result))
    heights_in = (3.0 * panels + bars.PANEL_GAP_IN * (panels - 1), bars.BODY_IN)
    made = chart("paths", lambda figure, box: bars.draw_body(figure, box, drawn), heights_in, instead, words.legend(drawn))
    return replace(timing.timing(result), chart=made)
