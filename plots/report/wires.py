"""What the saving would be behind a slow wire: worked out from the measured step, never measured."""

from plots.checked import Section as Json
from plots.numbers import clipped, duration, percent
from plots.report.section import Section, Table

MOST_ROWS = 20
LONGEST_STEP_S = 1e9
NOTE = "this run's own mean step, its waits and bytes put behind a longer wire"


def wires(root: Json) -> Section | None:
    """Return the section, or None where the file has no projection."""
    projection = root.section("projection")
    rows = [row for entry in projection.sections("rows") if (row := _row(entry))]
    if not rows:
        return None
    speed = projection.number("bandwidth_mbit_s", 0)
    at = f" at {speed:g} Mbit/s" if speed else ""
    # The note says of itself that it is a projection, or not.
    note = (projection.text("note") or "this run's own mean step, its waits and bytes put behind a longer wire").removeprefix(
        "a projection: "
    )
    lead = (f"A projection, not a measurement: {clipped(note, 600).rstrip('.')}.",)
    headings = ("round trip", "fused, one pass", "two passes", "saving, of means")
    table = Table(f"A projected mean step by the wire's round trip{at}", headings, tuple(rows[:MOST_ROWS]))
    return Section("wires", "Behind a slow wire", lead, tables=(table,))


def _row(entry: Json) -> tuple[str, ...] | None:
    rtt_ms, saving = entry.number("rtt_ms", 0), entry.number("saving_pct")
    steps = [entry.number(f"{path}_s", 0, LONGEST_STEP_S) for path in ("native_1pass", "custom_2pass")]
    if rtt_ms is None:
        return None
    return f"{rtt_ms:g} ms", *("not told" if step is None else duration(step) for step in steps), _percent(saving)


def _percent(value: float | None) -> str:
    return "not told" if value is None else percent(value)
