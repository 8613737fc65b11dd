"""The page as one text: its parts in order, put into the template, which escapes whatever a file says."""

import re
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from plots.report import palette
from plots.report.cautions import Warned
from plots.report.section import Section

UNIT = re.compile(r"(?<=<) (?=\d)|(?<=\d) (?=(?:%|s|ms|µs|[KMG]iB)\b|%)")
PIECE = re.compile(r"\s+|[^\s._/]{1,16}[._/]?|[._/]")
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
        loader=PackageLoader("plots.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"flags": _flags, "bound": _bound, "breakable": _breakable}
    return environment.get_template("report.html.jinja").render(page=page, light=palette.light(), dark=palette.dark())


def _flags(text: str) -> Markup:
    """Return the text escaped, its command line flags in one piece each."""
    return Markup(FLAG.sub(r"<code>\1</code>", str(escape(text))))


def _bound(text: str) -> str:
    """Return the text with each number and its unit in one piece."""
    return UNIT.sub("\N{NO-BREAK SPACE}", text)


def _breakable(text: str) -> Markup:
    """Return the text escaped, with places where a long name may break."""
    return Markup("<wbr>").join(PIECE.findall(text))
