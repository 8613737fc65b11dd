"""How numbers are written for people: with the digits that the pictures and the page give them, so that one number is never two."""

import math
from decimal import ROUND_HALF_UP, Decimal

GIB, MIB = 2**30, 2**20


def short(value: float) -> str:
    """A number from 0 with three or four digits that matter: 12.92, 586.0, 7,569, 0.184."""
    return _with_digits(value, 4 if value >= 1 else 3)


def brief(value: float) -> str:
    """A number from 0 with three digits that matter: 12.9, 586, 7,569, 0.184."""
    return _with_digits(value, 3)


def tenths(value: float) -> str:
    """A number with one digit after the point: 23.0, -1.2, 99,900."""
    size = abs(value)
    if size >= 1e7:
        text = f"{size:.2e}"
    elif size >= 1000:
        text = f"{_half_up(size, 0):,}"
    else:
        text = str(_half_up(size, 1))
    return ("-" if value < 0 and float(text.replace(",", "")) else "") + text


def signed(value: float) -> str:
    """The same of a change, with its sign; a rounded zero has none: +0.4, -1.2, 0.0."""
    text = tenths(value)
    return f"+{text}" if value > 0 and float(text.replace(",", "")) else text


def percent(value: float) -> str:
    """A percentage with one digit after the point: 23.0 %, -1.2 %, 99,900 %."""
    return f"{tenths(value)} %"


def share(part: float) -> str:
    """A part of a whole, from 0 to 1, as a percentage: 98.2 %, and what would be 0.0 % as less than 0.1 %."""
    return "< 0.1 %" if 0 < part < 0.0005 else percent(100 * part)


def duration(seconds: float) -> str:
    """A time with the unit that suits it: 12.92 s, 0.514 s, 86.30 ms, 4.210 µs."""
    scale, unit = (1.0, "s") if seconds >= 0.1 or not seconds else (1e3, "ms") if seconds >= 1e-4 else (1e6, "µs")
    return f"{short(seconds * scale)} {unit}"


def memory(count: float) -> str:
    """A number of bytes as GiB with one digit after the point, or as whole MiB where it is small: 44.9 GiB, 307 MiB."""
    return f"{tenths(count / GIB)} GiB" if count >= GIB / 2 else f"{_half_up(count / MIB, 0)} MiB"


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 pair, 8 pairs, 7,569 target tokens."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _with_digits(value: float, digits: int) -> str:
    if value >= 1e7 or 0 < value < 1e-4:
        return f"{value:.2e}"
    places = max(0, digits - 1 - math.floor(math.log10(value))) if value else 0
    return f"{_half_up(value, places):,}"


def _half_up(value: float, places: int) -> Decimal:
    """Rounded as a person does with the digits that a file shows: 12.915 to 12.92, whatever its binary form is."""
    return Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
