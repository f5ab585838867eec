"""Displayed text of a workbook's cells: dates in ISO 8601, numbers and texts in their cell's number format."""

import datetime as dt
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache, partial
from math import floor, isfinite, log10
from operator import eq, ge, gt, le, lt, ne
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r'"([^"]*)"?|\\(.)|\[\$([^\]-]*)[^\]]*\]|(\[(?:<=|>=|<>|<|>|=)-?[\d.]+\])|_.|\*.|\[[^\]]*\]')
"""Literal texts, a condition, and what shows nothing: spaces as wide as a character, fill characters, colours."""
_FIRST_LITERAL: Final = 0xE000
"""The first of the characters that stand for literal texts while a format is read."""
_LITERAL: Final = re.compile("[\ue000-\uf8ff]")
_CONDITION: Final = re.compile(r"\[(<=|>=|<>|<|>|=)(-?[\d.]+)\]")
_CONDITIONS: Final = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq, "<>": ne}
_GENERAL: Final = re.compile("general", re.IGNORECASE)
_OF_DAYS: Final = re.compile(r"[A-DF-Za-df-z@]")
_PLACEHOLDERS: Final = re.compile(r"[#0?](?:[^Ee/]*[#0?])?")
_FRACTION: Final = re.compile(r"(?:([#0?]+)([^#0?/]+))?[#0?]+\s*/\s*([#0?]+|[1-9]\d*)")
_EXPONENT: Final = re.compile(r"[Ee]([+-])(0+)")
_ELAPSED: Final = re.compile(r"\[([ms])+\]", re.IGNORECASE)
_SIGNIFICANT: Final = 15
"""Significant decimal digits of a 64-bit float."""
_MOST_PLACES: Final = 12
"""Decimal places up to which a number is rounded as in Excel, half away from zero."""
_NEAR: Final = 1e-6
_MOST_BITS: Final = 1000
"""Bits of an integer above which it is not written out."""
_TOO_LARGE: Final = "########"
"""Text that Excel shows for a number too wide for its cell."""
_LONGEST_FORMAT: Final = 200


class _Section(NamedTuple):
    """A part of a number format, and the numbers that it is for."""

    condition: str
    bound: float
    has_sign: bool
    """Whether negative numbers get a minus."""
    write: Callable[[float], str]
    """Writes the absolute value of a number."""


class _Digits(NamedTuple):
    """The placeholders of a number format."""

    whole: str
    """Placeholders before the decimal point, with what stands between them; "" for nothing but thousands."""
    fewest_digits: int
    most_digits: int
    """Placeholders before the decimal point."""
    places: int
    fewest_places: int
    thousands: bool


_ESCAPED = re.compile(r"_x(00[01][0-9A-Fa-f])_")
"""A control character, such as the end of a line, as programs write it into a cell."""


def cell_text(value: object, number_format: str) -> str:
    """Return the displayed text of a cell; "" for an empty one, and for one whose format shows nothing."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return number_text(value, number_format)
        case dt.datetime():
            has_time = value.time() != dt.time() or "h" in number_format.lower()
            return f"{_day(value, number_format)}{' ' + _time(value.time()) if has_time else ''}"
        case dt.date():
            return _day(value, number_format)
        case dt.time():
            return _time(value)
        case dt.timedelta():
            return _duration(value, number_format)
        case _:
            text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), str(value)).strip()
            return text if number_format in {"General", "@"} else _text_section(number_format).replace("@", text)


def number_text(value: float, number_format: str) -> str:
    """Return a number as its Excel number format displays it; an unknown format displays all digits."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return _TOO_LARGE
    if number_format == "General" or not isfinite(value):
        return _plain(value)
    for section in _sections(number_format or "General"):
        if not section.condition or _CONDITIONS[section.condition](value, section.bound):
            text = section.write(abs(value))
            sign = "-" if value < 0 and section.has_sign and any("1" <= digit <= "9" for digit in text) else ""
            return f"{sign}{text}".strip()
    return _plain(value)


@lru_cache(maxsize=1024)
def _sections(number_format: str) -> tuple[_Section, ...]:
    """Parse a number format such as `#,##0.00 "EUR";(#,##0.00);"-"` or `[>=1000]0.0,"k";0`."""
    parts, literals = _parts(number_format)
    own = [_CONDITION.search(part) for part in parts[:3]]
    usual = {1: ("",), 2: (">" if any(own) else ">=", ""), 3: (">", "<", "")}[len(own)]
    found: list[_Section] = []
    for part, condition, default in zip(parts, own, usual, strict=False):
        sign, bound = (condition[1], float(condition[2])) if condition else (default, 0.0)
        is_negative = (sign.startswith("<") and bound <= 0) or (len(own) == 2 and len(found) == 1 and not any(own))
        found.append(_Section(sign, bound, not is_negative, _writer(_CONDITION.sub("", part), literals)))
    return tuple(found)


@lru_cache(maxsize=1024)
def _text_section(number_format: str) -> str:
    """Return the part of a format that texts are shown by, with `@` for the text; "" where they are not shown."""
    parts, literals = _parts(number_format)
    shown = parts[3:4] or [part for part in parts if "@" in part] or ["@"]
    return _with_literals(shown[0], literals).strip()


def _parts(number_format: str) -> tuple[list[str], list[str]]:
    """Return the sections of a format, and the literal texts for which a character stands in them."""
    literals: list[str] = []

    def set_aside(found: re.Match[str]) -> str:
        texts = [text for text in found.groups()[:3] if text is not None]
        literals.extend(texts)
        return chr(_FIRST_LITERAL + len(literals) - 1) if texts else found[4] or ""

    return _TOKEN.sub(set_aside, number_format[:_LONGEST_FORMAT]).split(";"), literals


def _with_literals(part: str, literals: list[str]) -> str:
    return _LITERAL.sub(lambda found: literals[ord(found[0]) - _FIRST_LITERAL], part)


def _writer(section: str, literals: list[str]) -> Callable[[float], str]:
    """Return what writes the absolute value of a number in one section of a format."""
    if general := _GENERAL.search(section):
        write: Callable[[float], str] = _plain
        start, end = general.span()
    elif _OF_DAYS.search(section):
        return _plain
    elif fraction := _FRACTION.search(section):
        write, (start, end) = partial(_fraction, fraction[1], fraction[2], fraction[3]), fraction.span()
    elif placeholders := _PLACEHOLDERS.search(section):
        start, end = placeholders.span()
        whole, point, places = placeholders[0].partition(".")
        scaled = section[end:].removeprefix("." if not point else "")
        commas = len(scaled) - len(scaled.lstrip(",")) + len(whole) - len(whole.rstrip(","))
        scale = 100.0 ** section.count("%") / 1000.0**commas
        digits = _digits(whole.rstrip(","), re.sub("[^#0?]", "", places))
        end = len(section) - len(scaled.lstrip(","))
        write = partial(_number, digits, scale)
        if exponent := _EXPONENT.match(section, end):
            write, end = partial(_scientific, digits, exponent[1], len(exponent[2])), exponent.end()
    else:
        only = _with_literals(section, literals)
        return lambda _value: only
    before, after = _with_literals(section[:start], literals), _with_literals(section[end:], literals)
    if _LITERAL.search(section[start:end]):
        return lambda value: f"{before}{_with_literals(write(value), literals)}{after}"
    return lambda value: f"{before}{write(value)}{after}"


def _digits(whole: str, places: str) -> _Digits:
    placeholders = re.sub("[^#0?]", "", whole)
    return _Digits(
        whole="" if placeholders == whole.replace(",", "") else whole,
        fewest_digits=placeholders.count("0"),
        most_digits=max(len(placeholders), 1),
        places=len(places),
        fewest_places=len(places.rstrip("#?")),
        thousands="," in whole,
    )


def _number(digits: _Digits, scale: float, value: float) -> str:
    rounded = _rounded(value * scale if scale != 1 else value, digits.places)
    is_grouped = digits.thousands and not digits.whole
    whole, point, fraction = f"{rounded:{',' if is_grouped else ''}.{digits.places}f}".partition(".")
    if digits.places > digits.fewest_places:
        fraction = fraction[: digits.fewest_places] + fraction[digits.fewest_places :].rstrip("0")
    if not is_grouped:
        whole = whole.zfill(digits.fewest_digits)
    if not digits.fewest_digits and whole == "0" and not fraction:
        whole = ""
    return _placed(whole, digits.whole) + (point + fraction if fraction else "")


def _rounded(value: float, places: int) -> float | Decimal:
    """Return a number whose last place Python would round to even as Excel does, half away from zero."""
    is_half = places <= _MOST_PLACES and abs(value * 10.0**places % 1 - 0.5) < _NEAR
    if not is_half or value >= 10.0**_SIGNIFICANT:
        return value
    return Decimal(f"{value:.{_SIGNIFICANT}g}").quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _placed(digits: str, pattern: str) -> str:
    """Return digits in their places of a pattern such as `000-0000`; the first place gets those that are left over."""
    if not pattern:
        return digits
    places = [position for position, character in enumerate(pattern) if character in "#0?"]
    shown = {position: character for position, character in enumerate(pattern) if character not in "#0?,"}
    for position in reversed(places[1:]):
        shown[position], digits = digits[-1:], digits[:-1]
    shown[places[0]] = digits
    return "".join(shown.get(position, "") for position in range(len(pattern)))


def _fraction(whole: str | None, between: str | None, denominator: str, value: float) -> str:
    """Return a number as `1 3/8`, whose denominator has as many digits as the format, or is the one that it names."""
    if denominator.isdecimal() and denominator.strip("0"):
        below = int(denominator)
        above = int(_rounded(value * below, 0))
    else:
        near = Fraction(value).limit_denominator(10 ** len(denominator) - 1)
        above, below = near.numerator, near.denominator
    if whole is None:
        return f"{above}/{below}"
    units, above = divmod(above, below)
    parts = [str(units)] if units or "0" in whole or not above else []
    return (between or " ").join([*parts, *([f"{above}/{below}"] if above else [])])


def _scientific(digits: _Digits, sign: str, width: int, value: float) -> str:
    """Return a number as `1.23E-06`; with several digits before the point, its exponent is a multiple of theirs."""
    step = digits.most_digits
    exponent = floor(log10(value)) if value else 0
    exponent -= exponent % step
    if float(f"{_rounded(value / 10.0**exponent, digits.places):.{digits.places}f}") >= 10**step:
        exponent += step
    mantissa = _number(digits._replace(fewest_digits=1), 1.0, value / 10.0**exponent)
    mark = "-" if exponent < 0 else sign.replace("-", "")
    return f"{mantissa}E{mark}{abs(exponent):0{width}}"


def _plain(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if value.is_integer() and abs(value) < 10**_SIGNIFICANT:
        return str(int(value))
    return f"{value:.{_SIGNIFICANT}g}"


def _day(value: dt.date, number_format: str) -> str:
    """Return a day in ISO 8601, behind the weekday that its format shows; without one, the month and the year."""
    shown = _TOKEN.sub("", number_format).lower()
    if "y" in shown and "d" not in shown:
        month = "%B " if "mmmm" in shown else "%b " if "mmm" in shown else ""
        return f"{value:{month}%Y}" if month or "m" not in shown else f"{value:%Y-%m}"
    day = f"{value:%Y-%m-%d}"
    return f"{value:%A} {day}" if "ddd" in shown else day


def _time(value: dt.time) -> str:
    return f"{value:%H:%M:%S}" if value.second else f"{value:%H:%M}"


def _duration(value: dt.timedelta, number_format: str) -> str:
    """Return a duration in hours, or in the minutes or seconds that its format counts."""
    seconds = round(value.total_seconds())
    sign = "-" if seconds < 0 else ""
    minutes, seconds = divmod(abs(seconds), 60)
    hours, rest = divmod(minutes, 60)
    match _ELAPSED.search(number_format):
        case re.Match() as unit if unit[1] in "mM":
            return f"{sign}{minutes}:{seconds:02}"
        case re.Match():
            return f"{sign}{minutes * 60 + seconds}"
    return f"{sign}{hours}:{rest:02}" + (f":{seconds:02}" if seconds else "")
