"""Abbreviations that a text explains: `General Data Protection Regulation (GDPR)`, and the other ways to write it.

The letters of the abbreviation are looked for in the words beside it from right to left, as Schwartz and Hearst do (A
simple algorithm for identifying abbreviation definitions in biomedical text, PSB 2003), in any script, with accents
folded. Without parentheses the letters must be the first ones of the words, which few texts that explain nothing are.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from sourcebook.model.abbreviation import Abbreviation, looks_abbreviated, singular
from sourcebook.stages.relations.links import prose

MOST: Final = 200
"""Abbreviations of one document at most."""
_SHORT: Final = r"[^\W_](?:[^\W_]|[&/.-](?=[^\W_])){1,11}"
_CAPITAL: Final = r"[A-Z\u00c0-\u00de\u0391-\u03ab\u0400-\u042f]"
_PARENTHESES: Final = re.compile(r"\(([^()\n]{2,120})\)")
_BEFORE: Final = 300
"""Characters before parentheses in which the words of an abbreviation are."""
_SENTENCE: Final = re.compile(r"[.!?;:。]\s|\n\s*\n|[()|]|\n\s*[#>*+-]")
_SAID: Final = re.compile(
    r"^(?:or|short|abbreviated|abbr\.?|aka|oder|kurz|abgekürzt|abk\.?|ou|dite?|abrégée?|o|abreviado|siglas?|или|сокр\.?|"
    r"сокращённо|сокращенно|далее)\s*[:–—-]?\s+",
    re.IGNORECASE,
)
_QUOTES: Final = "\"'“”„«»‘’`*_ \t"
_LISTED: Final = re.compile(
    rf"(?P<short>{_CAPITAL}(?:[^\W_]|[&/.-](?=[^\W_])){{1,11}})[*_\"”“»]{{0,3}}[ ]?"
    r"(?:[,:=|–—]|-(?=\s)|\s(?:stands for|steht für|signifie|significa|означает))[ \t*_]{0,4}"
    r"(?:(?:the|an?|der|die|das|le|la|les|el|los|las)\s|l['’])?(?=(?P<long>[^\n|()]{6,120}))"
)
_SAID_BEHIND: Final = re.compile(
    rf",\s(?:or|short|abbreviated(?:\sas)?|oder|kurz|abgekürzt|ou|o|или|сокращ[её]нно)\s[*_\"“„«]{{0,3}}(?P<short>{_SHORT})\b"
)
_LINK: Final = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)|\]\([^()\s]*\)")
_MARKS: Final = re.compile(r"[*`\[\]\\]|(?<!\w)_+|_+(?!\w)")
_WORD: Final = re.compile(r"[^\W_]+")
_PARTS: Final = re.compile("[,;:]")
_LAST: Final = re.compile(rf"(?<![\w&/.-]){_SHORT}\Z")
_NO_WORDS: Final = re.compile(r"[=<>{}|@#$%^~]|::|\w\.\w+\.\w| / ")
_ROMAN: Final = re.compile(r"[IVXLC]+")
_LINK_WORD: Final = 4
"""Letters of a word without a letter of the abbreviation, at most, where the others begin with its letters: `für`."""


def abbreviations_of(markdown: str) -> list[Abbreviation]:
    """Return the abbreviations that a document explains, each with its words once, in reading order."""
    if next(_all(markdown), None) is None and "](" not in markdown:
        return []
    text = prose(markdown)
    if "](" in text:
        text = _LINK.sub("", text)
    found: dict[tuple[str, str], Abbreviation] = {}
    for short, long in _all(text):
        pair = Abbreviation(short, " ".join(long.split()))
        found.setdefault((pair.short, pair.long.casefold()), pair)
        if len(found) == MOST:
            break
    return list(found.values())


def _all(text: str) -> Iterator[tuple[str, str]]:
    """Yield (abbreviation, words) as the text has them."""
    for found in _PARENTHESES.finditer(text):
        inner = _MARKS.sub("", found[1]).strip(_QUOTES)
        short = singular(_SAID.sub("", _PARTS.split(inner, 1)[0]).strip(_QUOTES))
        if _is_short(short):
            before = _before(text, found.start())
            if long := _initials_behind(short, before) or _spelt_out(short, before):
                yield short, long
        elif " " in inner:
            last = _LAST.search(_before(text, found.start()))
            short = singular(last[0]) if last else ""
            inner = _SENTENCE.split(inner, 1)[0].strip(_QUOTES)
            if _is_short(short) and (long := _spelt_out(short, inner)) and _is_beginning(inner, long):
                yield short, long
    for found in _LISTED.finditer(text):
        short = singular(found["short"])
        if _is_short(short) and not text[found.start() - 1 : found.start()].isalnum():
            behind = _SENTENCE.split(_MARKS.sub("", found["long"]), 1)[0]
            if long := _initials(short, behind):
                yield short, long
    for found in _SAID_BEHIND.finditer(text):
        short = singular(found["short"])
        if _is_short(short) and (long := _initials_behind(short, _before(text, found.start()))):
            yield short, long


def _before(text: str, place: int) -> str:
    """Return the end of the sentence before a place."""
    return _SENTENCE.split(_MARKS.sub("", text[max(place - _BEFORE, 0) : place]))[-1].rstrip(_QUOTES + "\n")


def _is_short(text: str) -> bool:
    """Return whether a text looks like an abbreviation: one word with capitals, and not a number in Roman ones."""
    letters = [letter for letter in text if letter.isalpha()]
    capitals = sum(letter.isupper() for letter in letters)
    return (
        looks_abbreviated(text)
        and capitals * 2 >= len(letters)
        and len(text) <= 12
        and not (set(text) - set("&/.-") - {letter for letter in text if letter.isalnum()})
        and not _ROMAN.fullmatch(text)
    )


def _spelt_out(short: str, text: str) -> str | None:
    """Return the words at the end of a text that an abbreviation is of; None where there are none."""
    letters = [_base(letter) for letter in short if letter.isalnum()]
    words = list(_WORD.finditer(text))[-min(len(letters) + 5, len(letters) * 2) :]
    if not words:
        return None
    floor = words[0].start()
    starts = {word.start() for word in words}
    place = len(text)
    for number in range(len(letters) - 1, -1, -1):
        place -= 1
        while place >= floor and not (_base(text[place]) == letters[number] and (number or place in starts)):
            place -= 1
        if place < floor:
            return None
    return _checked(short, text[place:])


def _initials(short: str, text: str) -> str | None:
    """Return the first words of a text where their first letters are those of an abbreviation."""
    letters = [_base(letter) for letter in short if letter.isalnum()]
    number = 0
    for word in _WORD.finditer(text):
        if _base(word[0][0]) == letters[number] and (number or word.start() == 0):
            number += 1
            if number == len(letters):
                return _checked(short, text[: word.end()])
        elif len(word[0]) > _LINK_WORD or not number:
            return None
    return None


def _initials_behind(short: str, text: str) -> str | None:
    """Return the last words of a text where their first letters are those of an abbreviation."""
    letters = [_base(letter) for letter in short if letter.isalnum()]
    for word in reversed(list(_WORD.finditer(text))):
        if letters and _base(word[0][0]) == letters[-1]:
            letters.pop()
            if not letters:
                return _checked(short, text[word.start() :])
        elif len(word[0]) > _LINK_WORD:
            return None
    return None


def _checked(short: str, long: str) -> str | None:
    """Return the words unless they are the abbreviation itself, hold it, or are hardly longer."""
    long = long.strip(_QUOTES + ",.-–—\n")
    words: Sequence[str] = _WORD.findall(long)
    if not len(short) + 3 <= len(long) <= 100 or short in words or _NO_WORDS.search(long):
        return None
    if long.casefold().startswith(short.casefold()):  # `DIRS (directories)` is cut off, not abbreviated
        return None
    return long


def _is_beginning(text: str, long: str) -> bool:
    """Return whether words stand at the beginning of a text, an article and `short for` aside."""
    return len(_WORD.findall(text[: text.find(long)])) <= 2


@lru_cache(maxsize=4096)
def _base(letter: str) -> str:
    """Return a letter in lower case without its accent."""
    return unicodedata.normalize("NFKD", letter.casefold())[:1]
