"""The sweep over server settings: every row, the best one, and how far it is from what the arithmetic needs."""

from plots import sweep, sweep_layout, sweep_words
from plots.numbers import clipped, duration, percent, plural
from plots.report.charts import chart
from plots.report.section import Section, Table
from plots.svg import Alternative
from plots.sweep_file import Row, Sweep

MOST_ROWS = 200


def sweeping(swept: Sweep) -> Section:
    """Return the section."""
    lead = [f"{sweep_words.title(swept)}.", sweep_words.partial(swept), sweep_words.verdict(swept)]
    instead = Alternative("The sweep over server settings", _instead(swept))
    with_memory = any(row.peak_memory_bytes is not None for row in swept.rows)  # a run without a GPU has none
    headings = ("setting", "fused, one pass", "two passes", "saving", *(["peak memory"] if with_memory else []), "how it ended")
    best = sweep_words.best_row(swept)
    rows = tuple(_row(row, row is best, with_memory) for row in swept.rows[:MOST_ROWS])
    left = len(swept.rows) - MOST_ROWS
    return Section(
        "sweep",
        "Which server settings",
        tuple(line for line in lead if line),
        tuple(sweep_words.where(swept)),
        chart("sweep", sweep.draw_body, sweep_layout.body_in, swept, instead),
        (Table("Every setting, its median step", headings, rows, remark=True, cards=True),),
        (*sweep_words.small_print(swept), *([f"{plural(left, 'more setting')} in the file."] if left > 0 else [])),
    )


def _instead(swept: Sweep) -> str:
    told = [f"{clipped(row.label, 60)}, {duration(row.native_s)} fused" for row in swept.rows[:20] if row.native_s is not None]
    more = len(swept.rows) - len(told)
    return f"{'; '.join(told) or 'No setting finished a step'}{f'; {more} more in the table below' if more else ''}."


def _row(row: Row, best: bool, with_memory: bool) -> tuple[str, ...]:
    ended = sweep_words.failure(row) or ("best" if best else "ok")
    peak = sweep_words.peak(row) or "not told"
    return (
        clipped(row.label, 120),
        _time(row.native_s),
        _time(row.two_pass_s),
        "none" if row.saving_pct is None else percent(row.saving_pct),
        *([peak] if with_memory else []),
        clipped(ended, 300),
    )


def _time(seconds: float | None) -> str:
    return "none" if seconds is None else duration(seconds)
