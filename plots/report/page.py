"""The page as one text: its parts in order, put into the template, which escapes whatever a file says."""

from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from plots.report.cautions import Warned
from plots.report.section import Section


@dataclass(frozen=True)
class Page:
    """What stands on the page, from top to bottom. `sources` says which files it comes from."""

    title: str
    partial: str | None
    verdict: str | None
    where: tuple[str, ...]
    warned: tuple[Warned, ...]
    sections: tuple[Section, ...]
    sources: tuple[str, ...]


def html_of(page: Page) -> str:
    """Return the page, whole and with no reference to anything outside of it."""
    environment = Environment(
        loader=PackageLoader("plots.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("report.html.jinja").render(page=page)
