"""How numbers are written for people."""

import math
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal

# What a blank between it and the number before it must not break: in a picture's lines and on the page alike.
UNITS = r"(?:%|\N{MULTIPLICATION SIGN}|s|ms|µs|[kMGT]B|[KMGT]iB|bytes|TFLOP/s|Mbit/s|points)(?!\w)"
GIB, MIB = 2**30, 2**20
MINUS = "\N{MINUS SIGN}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def short(value: float) -> str:
    """Write a number from 0 with three or four digits that matter: 12.92, 586.0, 7,569, 0.184."""
    return _with_digits(value, 4 if value >= 1 else 3)


def brief(value: float) -> str:
    """Write a number from 0 with three digits that matter: 12.9, 586, 7,569, 0.184."""
    return _with_digits(value, 3)


def percent(value: float) -> str:
    """Write a percentage with one digit after the point: 23.0 %, −1.2 %, 99,900 %."""
    size = abs(value)
    if size >= 1e7:
        text = f"{size:.2e}"
    elif size >= 1000:
        text = f"{_half_up(size, 0):,}"
    else:
        text = str(_half_up(size, 1))
    return (MINUS if value < 0 and float(text.replace(",", "")) else "") + text + " %"


def duration(seconds: float) -> str:
    """Write a time with the unit that suits it: 12.92 s, 0.514 s, 86.30 ms, 4.210 µs."""
    scale, unit = (1.0, "s") if seconds >= 0.1 or not seconds else (1e3, "ms") if seconds >= 1e-4 else (1e6, "µs")
    return f"{short(seconds * scale)} {unit}"


def share(part: float) -> str:
    """Write a part of a whole, from 0 to 1, as a percentage: 98.2 %, and what would be 0.0 % as less than 0.1 %."""
    return "< 0.1 %" if 0 < part < 0.0005 else percent(100 * part)


def memory(count: float) -> str:
    """Write a number of bytes as GiB with one digit after the point, or as whole MiB where it is small: 44.9 GiB, 307 MiB."""
    if count < GIB / 2:
        return f"{_half_up(count / MIB, 0)} MiB"
    return f"{percent(count / GIB).removesuffix(' %')} GiB"


def tick(value: float, _position: int = 0) -> str:
    """Write an axis tick."""
    return f"{value:,.10g}" if value < 1e7 else f"{value:.2g}"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun: 1 pair, 8 pairs, 7,569 target tokens."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def day_and_time(stamp: str) -> str:
    """Write an ISO time as '2026-11-30 09:00 UTC'; return anything else as it is."""
    try:
        moment = datetime.fromisoformat(stamp)
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment.tzinfo else f"{moment:%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return stamp


def clipped(text: str, longest: int) -> str:
    """Shorten a text to at most `longest` characters, leaving out its middle."""
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 3
    return text[:head] + ELLIPSIS + text[len(text) - (longest - 1 - head) :]


def _with_digits(value: float, digits: int) -> str:
    if value >= 1e7 or 0 < value < 1e-4:
        return f"{value:.2e}"
    places = max(0, digits - 1 - math.floor(math.log10(value))) if value else 0
    return f"{_half_up(value, places):,}"


def _half_up(value: float, places: int) -> Decimal:
    """Round as a person does with the digits that a file shows: 12.915 to 12.92, whatever its binary form is."""
    return Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
