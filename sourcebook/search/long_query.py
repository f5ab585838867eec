"""Condensing of long queries: a pasted traceback, log, file or letter is searched by what is rare in it.

A model embeds the first few hundred tokens of a text, and a sum over hundreds of words ranks by the common ones. So the
query becomes those of its lines and sentences that say most: a word weighs its idf in the searched collections, divided
by the number of lines that have it, so that the frames of a stack count little and its message counts whole.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from psycopg import Connection

from sourcebook.search.query_terms import WORD, query_terms
from sourcebook.search.ranking.highlights import find_highlights
from sourcebook.search.scope import SearchScope
from sourcebook.search.sentences import sentence_spans

MOST_WORDS: Final = 60
"""Words of a query that is searched as it is, at most."""
_PASTED_LINES, _PASTED_WORDS = 3, 20
"""Lines and words from which a text is pasted: nobody asks a question so."""
_KEPT_WORDS: Final = 40
"""Words that are searched of a long query, about; questions have up to 45."""
_LEAST_SHARE: Final = 1 / 3
"""Share of the best piece's weight that another one has, at least."""
_READ: Final = 20_000
"""Characters whose words are looked up, half of them from the end: messages stand at the beginning or the end."""
_PIECE: Final = re.compile(r"\S(?:.{0,318}\S)?(?=\s|\Z)|\S{1,320}")
"""A part of a line of at most 320 characters, ended by white space where there is some."""
_UNSPACED: Final = re.compile(r"[\u0e00-\u109f\u1780-\u17ff\u3040-\u9fff]")
"""A letter of a script without spaces, which counts half a word."""
_NUMBER: Final = re.compile(r"\d+")
_INTRODUCES: Final = (":", "：")
"""Ends of a line that says nothing by itself, such as the first one of a traceback."""


@dataclass(frozen=True, slots=True)
class CondensedQuery:
    """The part of a long query that is searched."""

    text: str
    note: str
    """Sentence for the reader of the results."""


def is_long(query: str) -> bool:
    """Whether a query is condensed before it is searched."""
    words = _count(query)
    return words > MOST_WORDS or (words >= _PASTED_WORDS and len(query.split("\n")) >= _PASTED_LINES)


def condensed(connection: Connection, scope: SearchScope, query: str) -> CondensedQuery:
    """Return the lines and sentences of a long query that weigh most, in their order, some 40 words.

    Lines that differ in numbers alone are one. Where no passage holds a word of the query, its first lines are kept.

    Args:
        connection: in autocommit mode.
        scope: the generations that are searched.
        query: the whole text.
    """
    repeated = _pieces(query)
    pieces = list(repeated)
    text = "\n".join(chosen_pieces(pieces, _weighed(connection, scope, repeated)))
    said = " ".join(text.split())
    return CondensedQuery(
        text,
        f"the query is long: of its {_count(query):,} words, {_count(text):,} that say most were searched: “{said}”",
    )


def chosen_pieces(pieces: Sequence[str], weights: Sequence[dict[str, float]]) -> list[str]:
    """Return the pieces that weigh most for their length, in their order; a word counts in the first one chosen alone.

    Args:
        pieces: lines and sentences.
        weights: of the words of each that a passage holds.
    """
    left = {
        number: dict(weight)
        for number, weight in enumerate(weights)
        if weight and not pieces[number].endswith(_INTRODUCES)
    } or {number: dict(weight) for number, weight in enumerate(weights)}
    lengths = [_count(piece) for piece in pieces]
    chosen: list[int] = []
    words, best = 0, 0.0
    while left:
        scores = {number: sum(held.values()) / max(lengths[number], 1) ** 0.5 for number, held in left.items()}
        number = max(scores, key=lambda each: scores[each])  # of equal ones the first
        if chosen and (words + lengths[number] > _KEPT_WORDS or scores[number] < _LEAST_SHARE * best):
            break
        best = best or scores[number]
        chosen.append(number)
        words += lengths[number]
        counted = left.pop(number)
        left = {each: {word: held[word] for word in held if word not in counted} for each, held in left.items()}
    return [pieces[number] for number in sorted(chosen)]


def _pieces(query: str) -> dict[str, int]:
    """Return how often each sentence and line occurs, cut where it is long; of a very long text those at its ends."""
    different: dict[str, str] = {}
    times: Counter[str] = Counter()
    for start, end in sentence_spans(query):
        for piece in _PIECE.findall(query[start:end]):
            alike = _NUMBER.sub("0", piece)
            different.setdefault(alike, piece)
            times[alike] += 1
    alikes = list(different)
    first = _within(alikes, _READ // 2)
    last = _within(alikes[len(first) :][::-1], _READ // 2)
    return {different[alike]: times[alike] for alike in (*first, *last[::-1])}


def _within(pieces: Sequence[str], room: int) -> list[str]:
    kept = []
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            break
        kept.append(piece)
    return kept


def _weighed(connection: Connection, scope: SearchScope, pieces: Mapping[str, int]) -> list[dict[str, float]]:
    """Return the weight of each word of each piece that a passage holds, by its lexeme.

    Args:
        connection: in autocommit mode.
        scope: the generations that are searched.
        pieces: number of occurrences of each.
    """
    if not scope.configurations:
        return [{} for _ in pieces]
    terms = query_terms(connection, scope, "\n".join(pieces))
    idfs = {term.token: term.weight / term.occurrences for term in terms}
    marked = find_highlights(connection, scope, terms, list(pieces))
    held = [{each.token for each in marks} for marks in marked]
    lines: Counter[str] = Counter()
    for tokens, times in zip(held, pieces.values(), strict=True):
        lines.update(dict.fromkeys(tokens, times))
    return [{token: idfs[token] / lines[token] for token in sorted(tokens)} for tokens in held]


def _count(text: str) -> int:
    """Return the number of words; two letters of a script without spaces are one."""
    unspaced = len(_UNSPACED.findall(text))
    return (unspaced + 1) // 2 + len(WORD.findall(_UNSPACED.sub(" ", text) if unspaced else text))
