"""The same benchmark on fresh servers: every run, and the spread between them beside the spread within."""

from plots.numbers import clipped, duration, percent, plural
from plots.repeat_file import Repeat, Run
from plots.report.section import Section, Table


def repeats(repeat: Repeat) -> Section:
    """Return the section."""
    headings = ("run", "saving", "interval", "fused, one pass", "two passes", "how it ended")
    rows = tuple(_row(number, run) for number, run in enumerate(repeat.runs, start=1))
    where = " on ".join(clipped(told, 80) for told in (repeat.model, repeat.gpu) if told)
    return Section(
        "repeats",
        "Again, on fresh servers",
        tuple(_lead(repeat)),
        (where,) if where else (),
        tables=(Table("Every run", headings, rows, remark=True, cards=True),),
    )


def _lead(repeat: Repeat) -> list[str]:
    counted, runs = repeat.counted or 0, len(repeat.runs)
    left_out = runs - counted
    lead = []
    if repeat.saving_low_pct is not None and repeat.saving_high_pct is not None and counted > 1:
        low, high = percent(repeat.saving_low_pct), percent(repeat.saving_high_pct)
        width = percent(repeat.saving_high_pct - repeat.saving_low_pct).removesuffix(" %")
        spread = f"Between {plural(counted, 'fresh server')} the saving spread over {width} points: {low} to {high}"
        if repeat.saving_mean_pct is not None:
            spread += f", mean {percent(repeat.saving_mean_pct)}"
        if repeat.saving_stdev_pct is not None:
            spread += f", standard deviation {percent(repeat.saving_stdev_pct).removesuffix(' %')} points"
        if repeat.within_ci_width_pct is not None:
            spread += f"; within one run its interval is {percent(repeat.within_ci_width_pct).removesuffix(' %')} points wide"
        lead.append(f"{spread}.")
    else:
        lead.append(f"{plural(counted, 'complete run')}: a spread between servers needs two.")
    if left_out > 0:
        are = "is" if left_out == 1 else "are"
        lead.append(f"{left_out} of {plural(runs, 'run')} did not finish with a valid saving, and {are} not counted.")
    return lead


def _row(number: int, run: Run) -> tuple[str, ...]:
    low, high = run.ci_low_pct, run.ci_high_pct
    return (
        f"run {number}",
        "none" if run.saving_pct is None else percent(run.saving_pct),
        "none" if low is None or high is None else f"{percent(low)} to {percent(high)}",
        "none" if run.native_s is None else duration(run.native_s),
        "none" if run.two_pass_s is None else duration(run.two_pass_s),
        clipped(run.status if run.reason is None else f"{run.status}: {run.reason}", 200),
    )
