"""The page as one text: its parts in order, put into the template, which escapes whatever a file says."""

import re
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from plots.numbers import UNITS
from plots.report import palette
from plots.report.cautions import Warned
from plots.report.section import Section

BOUND = re.compile(rf"(?<=<) (?=\d)|(?<=\d) (?={UNITS}|[a-z])")
PIECE = re.compile(r"[^\S\xa0]+|(?:[^\s._/]|\xa0){1,16}[._/]?|[._/]")
FLAG = re.compile(r"(?<![\w&;-])(--[a-z][a-z-]*)")


@dataclass(frozen=True)
class Page:
    """What stands on the page, from top to bottom. `sources` says which files it comes from."""

    title: str
    alert: str | None
    verdict: str | None
    where: tuple[str, ...]
    warned: tuple[Warned, ...]
    sections: tuple[Section, ...]
    sources: tuple[str, ...]


def html_of(page: Page) -> str:
    """Return the page, whole and with no reference to anything outside of it."""
    environment = Environment(
        loader=PackageLoader("plots.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finished,
    )
    environment.filters |= {"flags": _flags, "breakable": _breakable}
    return environment.get_template("report.html.jinja").render(page=page, light=palette.light(), dark=palette.dark())


def _finished(value: object) -> object:
    """Return what the template writes, of whichever place: a text with its numbers bound, anything else as it is."""
    return _bound(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _bound(text: str) -> str:
    """Return the text with each number and its unit, or what it counts, in one piece."""
    return BOUND.sub("\N{NO-BREAK SPACE}", text)


def _flags(text: str) -> Markup:
    """Return the text escaped, its command line flags in one piece each."""
    return Markup(FLAG.sub(r"<code>\1</code>", str(escape(_bound(text)))))


def _breakable(text: str) -> Markup:
    """Return the text escaped, with places where a long name may break."""
    return Markup("<wbr>").join(PIECE.findall(_bound(text)))
