"""Numbers of list items and clauses in the ways in which formats write them."""

from typing import Final

_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LARGEST: Final = 3999
"""Largest number in Roman letters."""
_LETTERS: Final = {"a": "abcdefghijklmnopqrstuvwxyz", "α": "αβγδεζηθικλμνξοπρστυφχψω"}


def list_number(number: int, kind: str, *, repeats: bool = False) -> str:
    """Return a number as a list shows it.

    Args:
        number: the number.
        kind: `1`, `a`, `A`, `i`, `I`, `α` or `Α` as HTML and OpenDocument call them, `01` with a zero before a single
            digit, "" for none; others count as `1`.
        repeats: whether the letters behind z are `aa`, `bb`, and not `aa`, `ab`.
    """
    match kind:
        case "":
            return ""
        case "i" | "I" if 0 < number <= _LARGEST:
            shown = _roman(number)
        case "a" | "A" | "α" | "Α" if number > 0:
            shown = _letters(number, _LETTERS[kind.lower()], repeats=repeats)
        case "01":
            return f"{number:02}"
        case _:
            return str(number)
    return shown.upper() if kind.isupper() else shown


def _roman(number: int) -> str:
    shown = ""
    for value, letters in _ROMAN:
        shown += letters * (number // value)
        number %= value
    return shown


def _letters(number: int, alphabet: str, *, repeats: bool) -> str:
    if repeats:
        return alphabet[(number - 1) % len(alphabet)] * ((number - 1) // len(alphabet) + 1)
    shown = ""
    while number:
        number, rest = divmod(number - 1, len(alphabet))
        shown = alphabet[rest] + shown
    return shown
