"""Raised and lowered text (10⁶, m², H₂O, 1815³) in a line of plain text: one rule for all formats."""

import re
from typing import Final
from unicodedata import category

RAISED, LOWERED, LEVEL = "\ue016", "\ue017", "\ue018"
"""Marks before raised and lowered text and behind it, from Unicode's private use area, for `without_marks`."""
_MARKED: Final = re.compile(f"([{RAISED}{LOWERED}])([^{RAISED}{LOWERED}{LEVEL}]*){LEVEL}?|{LEVEL}")
_REACH: Final = 80
"""Characters of the line before a raised text that say what it is."""
_NOTE: Final = re.compile(r"(?:\d{1,3}|[a-z])(?:\s?[,;–-]\s?(?:\d{1,3}|[a-z]))*")
_SIMPLE: Final = re.compile(r"[+−–-]?[\w.]+[+−–-]?")
_SIGNED: Final = re.compile(r"[+±−–-]\s?\w+|\d+[+−–-]")
_ORDINALS: Final = frozenset(
    "st nd rd th er re ère ere ème eme e es ers res nde de ste o a os as ra do da to ta mo ma º ª h min".split()  # noqa: SIM905 # words are read more easily than quotes
)
_ENDS_WORD: Final = frozenset({"tm", "sm", "mc", "md"})
_ABBREVIATED: Final = frozenset(
    "dr mr mrs ms mme mmes mlle mlles st ste sts no nos cie vve mgr me sr sra jr ye yr wch wth pr la".split()  # noqa: SIM905 # words are read more easily than quotes
)
"""Words that are written with their last letters raised, and LaTeX's first two letters."""
_ROMAN: Final = re.compile(r"[IVXLCDM]{2,}")
_UNITS: Final = frozenset(
    "in mi au ma mol mmol sec min rad deg gal bar pa ev kev mev gev sin cos tan cot exp log lim det".split()  # noqa: SIM905 # words are read more easily than quotes
)
"""Units and functions with a vowel; the others are short, and have one letter or consonants only."""
_CONSONANTS: Final = "bcdfghjklmnpqrstvwxzµμΩбвгджзклмнпрстфхцчшщ"
_SHORT_UNIT: Final = re.compile(f"[^\\W\\d_\u0500-\uffff]|(?=.*[a-zµμа-я])[{_CONSONANTS}{_CONSONANTS.upper()}]{{2,3}}")
_LETTERS: Final = re.compile(r"[^\W\d_]+\Z")
_NUMBER: Final = re.compile(r"\d(?:[\d.,'’]*\d)?\Z")
_ROUND: Final = re.compile(r"10+|1024")
_GROUPED: Final = re.compile(r"\d[,'’]\d{3}(?!\d)")
_IN_NAME_OR_SPAN: Final = re.compile(r"(?:[^\W\d_]{2}|\d{4}[–/-])\Z")
"""Text before the number of a name (CO2) or of a span of years (1815–20)."""
_MONEY: Final = re.compile(r"[$€£¥₹]\s?\Z")
_ELEMENT: Final = re.compile(r"[A-Z][a-z]?(?![a-z])")
_WORD: Final = re.compile(r"[^\W\d_]{3,}|\d{4}")
_OPENING: Final = "([{«„“‘—–"


def raised(text: str, *, before: str, after: str = "", is_note: bool = False) -> str:
    """Return raised text as it follows a line of plain text: `10^6`, `m^2`, `1815[3]`, `1st`, ` 1` of `5 1/2`.

    A number is an exponent behind a short number, a unit, a variable or a bracket of these. Behind a year, a word and
    the end of a sentence it is the mark of a note, which brackets keep apart from them.

    Args:
        text: the raised text.
        before: the line up to it, as written; at least its last words.
        after: the line behind it, with `⁄` for the bar above a lowered number.
        is_note: whether it is known to be the mark of a note, as a link to one is.
    """
    text, before = " ".join(text.split()), before[-_REACH:]
    if not any(map(str.isalnum, text)) or text[0] in "^_":
        return text
    if text.isdecimal() and after.startswith("⁄"):
        return f" {text}" if before[-1:].isdigit() else text
    note = f"[{text}]" if text[0] not in "[(" else text
    if not before or before[-1].isspace() or before[-1] in _OPENING or category(before[-1]) == "Co":
        is_label = _NOTE.fullmatch(text) and after.strip() and not (text.isdecimal() and _ELEMENT.match(after))
        return f"{note}{' ' if after[:1].isalnum() else ''}" if is_note or is_label else text
    if is_note:
        return note
    if before[-1].isdigit() and (cents := _cents(text, before, after)):
        return cents
    if _ends_word(text, before):
        return text
    if _SIGNED.fullmatch(text) or _is_base(before):
        return f"^{text}" if _SIMPLE.fullmatch(text) or text[0] == "(" else f"^({text})"
    return note if _NOTE.fullmatch(text) or note == text else f" {text}"


def lowered(text: str, *, before: str) -> str:
    """Return lowered text as it follows a line: `2` of `CO2`, and `_2` of `1011_2`."""
    text = " ".join(text.split())
    if not any(map(str.isalnum, text)) or not before[-1:].isalnum() or text[0] == "(":
        return text
    if not text.isalnum():
        return f"_({text})"
    return f"_{text}" if before[-1].isdigit() else text


def without_marks(text: str) -> str:
    """Return text with its raised and lowered parts, which `RAISED` and `LOWERED` begin, as `raised` writes them."""
    parts = iter(shown_parts(text))
    return _MARKED.sub(lambda found: next(parts) if found[1] else "", text)


def shown_parts(text: str) -> list[str]:
    """Return what stands for each raised or lowered part of a text with marks."""
    shown: list[str] = []
    line, end, base = "", 0, ""
    for found in _MARKED.finditer(text):
        line += text[end : found.start()]
        before = base if base and found.start() == end else line  # x of xᵢ² is the base
        end, base = found.end(), ""
        if found[1] == LOWERED:
            shown.append(lowered(found[2], before=before))
            base = line if found[2].isalpha() else ""
        elif found[1]:
            after = _MARKED.sub(r"\2", text[end : end + _REACH].replace(f"/{LOWERED}", "⁄"))
            shown.append(raised(found[2], before=before, after=after))
        line = (line + shown[-1])[-2 * _REACH :] if found[1] else line
    return shown


def _ends_word(text: str, before: str) -> bool:
    """Tell whether letters are the end of the word or number before them: `1st`, `XIXe`, `Dr`."""
    if word := _LETTERS.search(before):
        is_ordinal = text in _ORDINALS and _ROMAN.fullmatch(word[0]) is not None
        return is_ordinal or text.lower() in _ENDS_WORD or f"{word[0]}{text}".lower() in _ABBREVIATED
    number = _NUMBER.search(before)
    return text.lower() in _ORDINALS and (before[-1] == "." or (number is not None and len(number[0]) < 4))


def _cents(text: str, before: str, after: str) -> str:
    """Return the cents of a price whose main unit is before them, or the note at a price; "" where none is."""
    number = _NUMBER.search(before)
    if number is None or not text.isdecimal():
        return ""
    is_price = _MONEY.search(before, 0, number.start()) or _MONEY.match(after.lstrip()[:1])
    return "" if not is_price else f".{text}" if len(text) == 2 else f"[{text}]"


def _is_base(before: str) -> bool:
    """Tell whether the end of a line is such that what is raised behind it is an exponent."""
    if number := _NUMBER.search(before):
        if _IN_NAME_OR_SPAN.search(before, 0, number.start()) or _GROUPED.search(number[0]):
            return False
        return len(number[0]) < 4 or "." in number[0] or _ROUND.fullmatch(number[0]) is not None
    if word := _LETTERS.search(before):
        return word[0].lower() in _UNITS or _SHORT_UNIT.fullmatch(word[0]) is not None
    if before[-1] in ")]":
        start = before.rfind("(" if before[-1] == ")" else "[")
        return start >= 0 and _WORD.search(before, start) is None
    return before[-1] in "|}∂∇∆√∞"
