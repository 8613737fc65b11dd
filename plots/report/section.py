"""What a page is made of: sections with words, a chart and tables. The template escapes every text."""

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class Table:
    """One table. A row's first cell is its heading.

    words: the other cells are words rather than numbers; remark: the last one is; cards: on a phone each row is a card, for there is
    no room for the columns.
    """

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: bool = False
    remark: bool = False
    cards: bool = False


@dataclass(frozen=True)
class Chart:
    """One chart twice, as <svg> elements: for a phone and for a screen. `legend` says how to read it."""

    narrow: Markup
    wide: Markup
    legend: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """One part of the page.

    lead: before its chart and tables, and `where` what ran where, in small; notes: after them; folded: tables shown on demand.
    """

    key: str
    heading: str
    lead: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    chart: Chart | None = None
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    folded: tuple[Table, ...] = ()
