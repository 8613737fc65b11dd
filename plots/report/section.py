"""What a page is made of: sections with words, a chart and tables. The template escapes every text."""

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class Table:
    """One table. A row's first cell is its heading; `words`: its other cells are words rather than numbers."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: bool = False


@dataclass(frozen=True)
class Chart:
    """One chart twice, as <svg> elements: for a phone and for a screen. `legend` says how to read it."""

    narrow: Markup
    wide: Markup
    legend: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """One part of the page. `lead` comes before its chart and tables, `notes` after them; `folded` tables are shown on demand."""

    key: str
    heading: str
    lead: tuple[str, ...] = ()
    chart: Chart | None = None
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    folded: tuple[Table, ...] = ()
