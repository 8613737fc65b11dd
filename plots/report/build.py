"""From a results folder, or one file of it, to the page."""

from pathlib import Path

from plots import curve_words, scaling_words, sweep_words, words
from plots.render import write_whole
from plots.report import sources
from plots.report.cautions import left_out, warned
from plots.report.facts import of_result, of_run, of_scaling, of_sweep
from plots.report.learning import learning
from plots.report.page import Page, html_of
from plots.report.repeats import repeats
from plots.report.scaling import scaling_section
from plots.report.section import Section
from plots.report.sources import FILES, Sources
from plots.report.sweeping import sweeping
from plots.report.timeline import timeline
from plots.report.timing import timing
from plots.report.wires import wires

REPORT = "report.html"


def has_sources(folder: Path) -> bool:
    """Return whether a results folder has anything for a page."""
    return any((folder / name).exists() for name in FILES)


def write_folder(folder: Path) -> Path:
    """Write report.html of all that a results folder has, and return its path; raises PlotInputError or PlotOutputError."""
    write_whole(folder / REPORT, html_of(page_of(sources.of_folder(folder))).encode())
    return folder / REPORT


def write_file(file: Path, target: Path) -> None:
    """Write the page of one file, or of one learning run; raises PlotInputError or PlotOutputError."""
    write_whole(target, html_of(page_of(sources.of_file(file))).encode())


def page_of(found: Sources) -> Page:
    """Return the page's parts: those whose data are there, in the order in which a reader asks for them."""
    result = found.result
    sections: list[Section | None] = []
    if result and found.result_root:
        sections += [timing(result), timeline(result), wires(found.result_root)]
    if found.repeat:
        sections.append(repeats(found.repeat))
    if found.sweep:
        sections.append(sweeping(found.sweep))
    if found.scaling:
        sections.append(scaling_section(found.scaling))
    if found.runs:
        sections.append(learning(found.runs))
    sections += [of_result(found.result_root), of_sweep(found.sweep_root), of_scaling(found.scaling_root)]
    sections.append(of_run(found.run_root if found.runs else None))
    there = tuple(section for section in sections if section)
    if result is None:
        return Page(_title(found), None, None, (), left_out(found.wrong), there, ())
    return Page(
        title=words.title(result),
        alert=words.alert(result),
        verdict=words.verdict(result),
        where=(*words.where(result), *words.notes(result)),
        warned=(*warned(result), *left_out(found.wrong)),
        sections=there,
        sources=(words.source(result),),
    )


def _title(found: Sources) -> str:
    """Return the title of a page without a benchmark's result."""
    if found.sweep:
        return sweep_words.title(found.sweep)
    if found.scaling:
        return scaling_words.title(found.scaling)
    if found.runs:
        return curve_words.title(found.runs)
    return "The same benchmark, on fresh servers"
