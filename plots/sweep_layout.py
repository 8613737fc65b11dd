"""Where the parts of a sweep's picture stand: its rows, and what is above and beside them."""

from dataclasses import dataclass

from plots import page, style
from plots.sweep_file import Row, Sweep

FUSED, TWO_PASS = "native_1pass", "custom_2pass"
ROWS = ((16, 0.34), (40, 0.23), (10**9, 0.155))  # up to so many rows, inches a row
NARROW_ROW_IN = 0.46  # with its label above
LEAST_ROW_IN = 0.15  # where the box is too low for all rows
TITLE_IN, FLOORS_IN = 0.45, 0.33  # above the rows: what they show, and the floors' words
AXIS_IN, LEFT_OUT_IN = 0.3, 0.22  # below them: the axis, and how many rows there is no room for
WIDEST_LABEL = 0.34  # of the picture's width
MEMORY_IN, GAP_IN = 1.9, 0.3
WIDER = 1.04  # the screen's glyphs are a little wider than the font says
BANDS = (style.PAPER, style.BAND)  # behind the rows


@dataclass(frozen=True)
class Layout:
    """Where the parts of the picture stand: `rows` in the order drawn, `size` of their words in points.

    `label_in`: room for the labels left of the times; 0 in a narrow box, where a row has its label above its dots.
    """

    rows: tuple[Row, ...]
    row_in: float
    size: float
    label_in: float
    times: page.Box
    memory: page.Box | None

    @property
    def dots_below(self) -> float:
        """How far below a row's middle its dots are, in rows."""
        return 0.0 if self.label_in else 0.2


def body_in(sweep: Sweep, width_in: float) -> float:
    """Return how high the rows and their axis are, in inches, in a box of that width."""
    row_in = next(row_in for most, row_in in ROWS if len(sweep.rows) <= most)
    return head_in(sweep) + (NARROW_ROW_IN if width_in < page.NARROW_IN else row_in) * len(sweep.rows) + AXIS_IN


def layout_in(box: page.Box, sweep: Sweep) -> Layout:
    """Return the layout in a box of the figure: of as many rows as it has room for, the fastest."""
    room_in = box.height - head_in(sweep) - AXIS_IN
    rows = sweep.rows
    if room_in / len(rows) < LEAST_ROW_IN:
        room_in -= LEFT_OUT_IN
        rows = _shown(sweep, max(1, int(room_in / LEAST_ROW_IN)))
    return _layout(box, head_in(sweep), rows, min(0.5, room_in / len(rows)))


def floors_of(sweep: Sweep) -> dict[str, float]:
    """Return the seconds that each path's arithmetic alone would take, where the file tells and there is a time beside them."""
    if sweep.roofline is None or not any(row.native_s or row.two_pass_s for row in sweep.rows):
        return {}
    return {path: s for path, s in sweep.roofline.floor_s.items() if path in (FUSED, TWO_PASS) and s > 0}


def title_y(layout: Layout, floors: dict[str, float]) -> float:
    """Return how high the line stands that says what the rows show, in inches."""
    return layout.times.bottom + layout.times.height + 0.2 + (FLOORS_IN if floors else 0)


def head_in(sweep: Sweep) -> float:
    """Return how much room is above the rows, in inches."""
    return TITLE_IN + (FLOORS_IN if floors_of(sweep) else 0)


def _shown(sweep: Sweep, most: int) -> tuple[Row, ...]:
    """Return as many rows as there is room for, in their order: the fastest."""
    fastest = sorted(sweep.rows, key=lambda row: row.native_s or row.two_pass_s or float("inf"))[:most]
    return tuple(row for row in sweep.rows if row in fastest)


def _layout(box: page.Box, head_in: float, rows: tuple[Row, ...], row_in: float) -> Layout:
    height = row_in * len(rows)
    bottom = box.bottom + box.height - head_in - height
    if box.width < page.NARROW_IN:
        return Layout(rows, row_in, 9.0, 0.0, page.Box(box.left, bottom, box.width, height), None)
    size = min(10.0, row_in * page.POINTS_PER_IN / 1.45)
    widest = max(page.width_pt(row.label, size, bold=True) for row in rows) * WIDER / page.POINTS_PER_IN + 0.15
    label_in = min(widest, WIDEST_LABEL * box.width)
    memory_in = MEMORY_IN + GAP_IN if any(row.peak_memory_bytes is not None for row in rows) else 0.0
    times = page.Box(box.left + label_in, bottom, box.width - label_in - memory_in, height)
    memory = page.Box(times.left + times.width + GAP_IN, bottom, MEMORY_IN, height) if memory_in else None
    return Layout(rows, row_in, size, label_in, times, memory)
