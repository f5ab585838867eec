"""Displayed text of a workbook's cells: dates in ISO 8601, numbers in their cell's number format."""

import datetime as dt
import re
from functools import lru_cache
from typing import NamedTuple

_UNSHOWN = re.compile(r"_.|\*.|\[(?!\$)[^\]]*\]")
"""Parts of a number format that show nothing: spaces as wide as a character, fill characters, colours, conditions."""
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]')
_PLACEHOLDERS = re.compile(r"[#0?](?:[#0?,]*[#0?])?(?:\.([#0?]*))?(,*)")
_SIGNIFICANT = 15
"""Significant decimal digits of a 64-bit float."""
_MOST_BITS = 1000
"""Bits of an integer above which it is not written out."""
_TOO_LARGE = "########"
"""Text that Excel shows for a number too wide for its cell."""


class NumberFormat(NamedTuple):
    """The parts of an Excel number format that numbers are written with."""

    prefix: str = ""
    suffix: str = ""
    decimals: int | None = None
    """Most decimal places; None for all that the number has."""
    fewest_decimals: int = 0
    fewest_digits: int = 1
    """Fewest digits before the decimal point, as of a postal code."""
    thousands: bool = False
    scale: float = 1.0


def cell_text(value: object, number_format: str) -> str:
    """Return the displayed text of a cell, or "" for an empty cell."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return number_text(value, number_format)
        case dt.datetime():
            has_time = value.time() != dt.time() or "h" in number_format.lower()
            return f"{value:%Y-%m-%d} {_time(value.time())}" if has_time else f"{value:%Y-%m-%d}"
        case dt.date():
            return value.isoformat()
        case dt.time():
            return _time(value)
        case dt.timedelta():
            return _duration(value)
        case _:
            return str(value).strip()


def number_text(value: float, number_format: str) -> str:
    """Return a number as its Excel number format displays it; an unknown format displays all digits."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return _TOO_LARGE
    style = _style(number_format or "General", negative=value < 0)
    if style is None or value != value or value in {float("inf"), float("-inf")}:
        return _plain(value)
    shown = abs(value) * style.scale if style.prefix.startswith(("-", "(")) else value * style.scale
    if style.decimals is None:
        number = _plain(shown)
    else:
        number = f"{shown:{',' if style.thousands else ''}.{style.decimals}f}"
        if style.decimals > style.fewest_decimals:
            whole, _, fraction = number.partition(".")
            kept = fraction[: style.fewest_decimals] + fraction[style.fewest_decimals :].rstrip("0")
            number = f"{whole}.{kept}" if kept else whole
    if style.fewest_digits > 1 and not style.thousands:
        whole, point, fraction = number.lstrip("-").partition(".")
        number = f"{'-' if number.startswith('-') else ''}{whole.zfill(style.fewest_digits)}{point}{fraction}"
    sign = "-" if number.startswith("-") and number.strip("-0.,") else ""
    return f"{sign}{style.prefix}{number.lstrip('-')}{style.suffix}".strip()


@lru_cache(maxsize=1024)
def _style(number_format: str, *, negative: bool) -> NumberFormat | None:
    """Parse a number format such as `#,##0.00 "EUR";(#,##0.00)`; return None for formats of other values."""
    sections = _UNSHOWN.sub("", number_format[:200]).split(";")
    own = negative and len(sections) > 1 and bool(sections[1])
    section = sections[1] if own else sections[0]
    literals: list[str] = []

    def set_aside(found: re.Match[str]) -> str:
        literals.append(found[1] or found[2] or found[3] or "")
        return "\x00"

    section = _LITERAL.sub(set_aside, section)
    number = _PLACEHOLDERS.search(section)
    if number is None or re.search(r"[Ee@/]|[A-Za-z]", section):
        return None
    before, after = section[: number.start()], section[number.end() :]
    if _PLACEHOLDERS.search(after):
        return None  # such as a telephone number
    places = number[1] or ""
    percent = section.count("%")
    return NumberFormat(
        prefix=("-" if own and "-" in before else "") + _text(before.replace("-", ""), literals),
        suffix=_text(after, literals),
        decimals=len(places),
        fewest_decimals=len(places.rstrip("#?")),
        fewest_digits=number[0].partition(".")[0].count("0"),
        thousands="," in number[0].rstrip(",").partition(".")[0],
        scale=100.0**percent / 1000.0 ** len(number[2]),
    )


def _text(part: str, literals: list[str]) -> str:
    return "".join(literals.pop(0) if character == "\x00" else character for character in part)


def _plain(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if value.is_integer() and abs(value) < 10**_SIGNIFICANT:
        return str(int(value))
    return f"{value:.{_SIGNIFICANT}g}"


def _time(value: dt.time) -> str:
    return f"{value:%H:%M:%S}" if value.second else f"{value:%H:%M}"


def _duration(value: dt.timedelta) -> str:
    seconds = round(value.total_seconds())
    minutes, seconds = divmod(abs(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    sign = "-" if value.total_seconds() < 0 else ""
    return f"{sign}{hours}:{minutes:02}" + (f":{seconds:02}" if seconds else "")
