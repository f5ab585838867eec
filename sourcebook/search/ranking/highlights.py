"""Highlights: the words of a passage that are words of the query, in whichever form.

PostgreSQL made the lexemes of the index, so it also says which words of a passage are which lexemes. It is asked once
for all passages of a page, and only about words that begin like one of the query's lexemes: its stemmers change the
end of a word.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from psycopg import Connection

from sourcebook.search.query_terms import WORD, QueryTerm
from sourcebook.search.ranking.word_lexemes import lexemes_of_words
from sourcebook.search.scope import SearchScope
from sourcebook.search.vocabulary import FIRST_UNSPACED

_COMPOUND: Final = re.compile(r"\b\w++(?:[./@:_+-]+\w++)+|\b\w[^\W_]*+_\w++")
"""Words with signs inside, which may be one lexeme: numbers, hosts, file names, e-mail addresses.

An underscore is both a sign and a part of words, hence the second half. Possessive quantifiers read a word without
signs once, and not again from each of its letters.
"""
_SIGN_INSIDE: Final = re.compile(r"[./@:_+-](?<=\w.)[./@:_+-]*\w")
"""Signs of a word of `_COMPOUND`: found, or not, in a tenth of the time, as it begins with one of few characters."""
_SIGNS: Final = {
    re.compile(r"[&+#](?<=\w.)"): re.compile(r"\b\w++(?:(?:&\w++)+|\+\+|#(?!\w))"),
    re.compile(r"\*"): re.compile(r"\b[A-Za-z]\*(?!\w)"),
    re.compile(r"\."): re.compile(r"\.(?<![\w.]\.)\w++"),
    re.compile(r"°"): re.compile(r"°\s?[CFK]\b"),
    re.compile(r"[&|=>]"): re.compile(r"&&|\|\||[=!<>]=|[=-]>"),
    re.compile(r""): re.compile(r"[^\w\s!-~\u2000-\u206f]"),
}
"""Names with signs around them, such as `C++`, and signs alone, by what a text must have, which is found at once.

Each is looked for by itself: one expression for all of them takes six times as long.
"""
_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W_A-Za-z]+")
"""Part of a name, such as `camelCase` and `os.path`."""
_BEGINNING: Final = 2
"""Letters that a word and its lexeme have in common, at least."""
_MOST_WORDS: Final = 2_000
"""Different words of a page that PostgreSQL is asked about, at most."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """A word of a passage that is a word of the query: `text[start:end]`."""

    start: int
    end: int
    weight: float
    """Weight of its lexeme in the query: the inverse document frequency, times occurrences."""
    token: str
    """Its lexeme."""


def find_highlights(
    connection: Connection, scope: SearchScope, terms: Sequence[QueryTerm], texts: Sequence[str]
) -> list[list[Highlight]]:
    """Return the highlights of each text, in reading order and without overlaps.

    Args:
        connection: in autocommit mode.
        scope: the generations that are searched, whose text-search configurations read the words.
        terms: lexemes of the query, stand-ins included; those that no entry holds are left out.
        texts: passages of a page.
    """
    weights = {term.token: term.weight for term in terms if term.ids}
    if not weights or not texts:
        return [[] for _ in texts]
    beginnings = {_folded(token)[:_BEGINNING] for token in weights}
    words = [WORD.findall(text) for text in texts]
    compounds = [[*_compounds(text), *_with_signs(text)] for text in texts]
    different = {word for found in words for word in found} | {each[0] for found in compounds for each in found}
    possible = {
        word
        for word in different
        if word[:_BEGINNING].lower() in beginnings
        or word[:1].lower() in beginnings
        or (not word.isascii() and _can_be(word, beginnings))
        or (
            not (word.isalnum() and (word.islower() or word.istitle()))
            and any(part[:_BEGINNING].lower() in beginnings for part in _PART.findall(word))
        )
    }
    tokens = lexemes_of_words(connection, scope, sorted(possible)[:_MOST_WORDS], weights)
    return [
        _without_overlaps(
            highlight
            for start, end in _spans(text, found, joined, tokens)
            for token in tokens[text[start:end]]
            for highlight in _places(text, start, end, token, weights[token])
        )
        for text, found, joined in zip(texts, words, compounds, strict=True)
    ]


def _compounds(text: str) -> Iterable[re.Match[str]]:
    return _COMPOUND.finditer(text) if _SIGN_INSIDE.search(text) else ()


def _with_signs(text: str) -> Iterator[re.Match[str]]:
    """Yield the names of a text that have signs around them, and signs alone."""
    for needed, expression in _SIGNS.items():
        if needed.search(text):
            yield from expression.finditer(text)


def _spans(
    text: str, words: Sequence[str], compounds: Sequence[re.Match[str]], wanted: Collection[str]
) -> Iterator[tuple[int, int]]:
    """Yield the span of each wanted word.

    Args:
        text: a passage.
        words: all matches of `WORD` in the text, in their order: no letter stands between one and the next.
        compounds: all matches of `_COMPOUND` and `_SIGNS`.
        wanted: words, some of which may be in other passages.
    """
    yield from (each.span() for each in compounds if each[0] in wanted)
    place = 0
    for word in words:
        place = text.index(word, place)
        if word in wanted:
            yield place, place + len(word)
        place += len(word)


def _can_be(word: str, beginnings: Collection[str]) -> bool:
    """Whether a word may have one of the lexemes; a run of letters without spaces may have any of its pairs."""
    folded = _folded(word)
    if folded[:_BEGINNING] in beginnings or folded[:1] in beginnings:
        return True
    return word[-1] >= FIRST_UNSPACED and any(beginning in folded for beginning in beginnings)


def _places(text: str, start: int, end: int, token: str, weight: float) -> Iterator[Highlight]:
    """Yield the span of a word; within a run of letters without spaces, each occurrence of the lexeme."""
    if token[:1] < FIRST_UNSPACED:
        yield Highlight(start, end, weight, token)
        return
    place = text.find(token, start, end)
    while place >= 0:
        yield Highlight(place, place + len(token), weight, token)
        place = text.find(token, place + 1, end)


def _without_overlaps(highlights: Iterator[Highlight]) -> list[Highlight]:
    """Return highlights in reading order; of those that overlap, the first, and the longer one of two at a place.

    Neighbouring pairs of letters in a script without spaces overlap by one letter: the second is shortened.
    """
    kept: list[Highlight] = []
    for each in sorted(highlights, key=lambda one: (one.start, -one.end, -one.weight)):
        reached = kept[-1].end if kept else 0
        if each.start >= reached:
            kept.append(each)
        elif each.end > reached:
            kept.append(Highlight(reached, each.end, each.weight, each.token))
    return kept


def _folded(word: str) -> str:
    """Return a word in lower case without accents."""
    if word.isascii():
        return word.lower()
    lowered = unicodedata.normalize("NFKD", word.lower())
    return lowered if lowered.isascii() else "".join(one for one in lowered if not unicodedata.combining(one))
