"""More GPUs: how much faster each number of them is, with the same batch and with one that grows."""

from plots import scaling, scaling_words
from plots.numbers import brief, duration, percent
from plots.report.charts import chart
from plots.report.section import Section, Table
from plots.scaling_file import Row, Scaling
from plots.svg import Alternative


def scaling_section(scaled: Scaling) -> Section:
    """Return the section."""
    lead = [f"{scaling_words.title(scaled)}.", scaling_words.partial(scaled), scaling_words.verdict(scaled)]
    headings = ("on", "batch", "fused, one pass", "two passes", "saving", "pace", "efficiency", "how it ended")
    rows = tuple(_row(scaled, row) for row in scaled.rows)
    return Section(
        "scale",
        f"More {scaling_words.noun(scaled)}s",
        tuple(line for line in lead if line),
        tuple(scaling_words.where(scaled)),
        chart(
            "scale",
            scaling.draw_body,
            scaling.body_in,
            scaled,
            Alternative(f"How more {scaling_words.noun(scaled)}s scale", _instead(scaled)),
        ),
        (Table(f"Every number of {scaling_words.noun(scaled)}s, its median step", headings, rows, remark=True, cards=True),),
        tuple(scaling_words.small_print(scaled)),
    )


def _instead(scaled: Scaling) -> str:
    told = [
        f"{scaling_words.counted(scaled, row.gpus)}, {scaling_words.KINDS[row.batch]}: {brief(pace)} times"
        for row in scaled.rows
        if (pace := scaled.pace(row)) is not None
    ]
    return f"{'; '.join(told) or 'No row finished a step'}."


def _row(scaled: Scaling, row: Row) -> tuple[str, ...]:
    pace, share = scaled.pace(row), scaling_words.efficiency_pct(scaled, row)
    ended = "ok" if row.status == "ok" else scaling_words.failure(row) + (f": {row.reason}" if row.reason else "")
    return (
        scaling_words.counted(scaled, row.gpus),
        scaling_words.KINDS[row.batch],
        "none" if row.native_s is None else duration(row.native_s),
        "none" if row.two_pass_s is None else duration(row.two_pass_s),
        "none" if row.saving_pct is None else percent(row.saving_pct),
        "none" if pace is None else f"{brief(pace)} \N{MULTIPLICATION SIGN}",
        "none" if share is None else percent(share),
        ended,
    )
