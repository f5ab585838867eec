"""Terms of a query: its own words as lexemes, and words that stand in for those that no passage holds.

Stemming joins the inflected forms of a word. Stand-ins cover the rest: compounds, misspellings, single letters of
scripts without spaces. They come from the vocabulary of the searched collections alone.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.model.abbreviation import joins_letters, looks_abbreviated
from sourcebook.search.scope import SearchScope
from sourcebook.search.vocabulary import LONGEST, Vocabulary, is_letter_of_pairs, is_version

WORD: Final = re.compile(r"\w+(?:['’]\w+)*")
"""A word of a text."""
_SPACED_LETTERS: Final = re.compile(r"\b([A-Z]) & ([A-Z])\b")
"""`R & D`, which others write as `R&D`; a passage with either is found by both."""
_SIGN: Final = re.compile(r"[^\w'’\u0300-\u0eff]")
"""Sign in a lexeme of no word, such as `2024-06-07`."""
_EXPANSION_WEIGHT: Final = 0.5
"""Factor on the weight of the words that expand others; decision 0092."""
_CERTAIN: Final = 0.6
"""Share of the documents from which an abbreviation means the same to all of them."""
_COMPARING: Final = frozenset({"versus", "vs"})
"""Words that put others side by side, as in `GPU vs CPU`, and stand in no list of stop words."""
_MOST_UNKNOWN: Final = 32
"""Words per query that get stand-ins, at most; each takes a look-up in the vocabulary."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """Words that are searched beside words of the query."""

    words: str
    """Words of the query."""
    by: str
    """Words that are searched, too."""
    share: float
    """Share 0..1 of the documents that explain it so."""
    collection: str
    document_id: int | None
    """One of the documents that explain it; None of the settings."""

    @property
    def spells_out(self) -> bool:
        """Whether it is of one meaning that the vector leg is to know, too."""
        return self.share > _CERTAIN and not (looks_abbreviated(self.by) and " " not in self.by)


class Expanded(NamedTuple):
    """Lexemes of an expansion."""

    words: frozenset[str]
    """Lexemes of the words of the query."""
    by: frozenset[str]
    """Lexemes of the words that are searched, too."""


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A lexeme of the query that contributes to the BM25 score."""

    token: str
    entries: int
    """Number of entries in scope that hold it."""
    ids: Mapping[int, int]
    """Lexeme id by generation id; empty where no entry holds it."""
    weight: float
    """Factor on the entry's own weight: idf times occurrences, less for a stand-in."""
    occurrences: int = 1
    """Number of times that the query has it: BM25's query term frequency, without saturation (k3 infinite)."""
    stands_for: str | None = None
    """Word of the query that it stands in for."""
    all_entries: int = 0
    """Number of all entries in scope; 0 where it is not known."""
    expands: Expanded | None = None
    """Expansion of words that entries hold, too: these keep their weight, and it counts beside them."""


def idf(entries: float, all_entries: float) -> float:
    """Return the inverse document frequency of a word (Robertson & Sparck Jones 1976, never negative as in Lucene).

    Args:
        entries: number of entries that hold the word.
        all_entries: number of all entries.
    """
    return math.log(1 + (all_entries - entries + 0.5) / (entries + 0.5))


def query_terms(connection: Connection, scope: SearchScope, text: str) -> list[QueryTerm]:
    """Return the terms of a text under every text-search configuration in scope, stop words left out.

    So are `vs` and `versus` beside other words.

    A term that the text repeats counts as often as it occurs (Robertson and Zaragoza, The Probabilistic Relevance
    Framework: BM25 and Beyond, 2009, section 3.4.1).
    """
    text = _SPACED_LETTERS.sub(r"\1&\2", text)
    rows = connection.execute(queries["query_words"], {"text": text, "generations": scope.ids})
    terms = [
        QueryTerm(
            token,
            entries,
            {int(number): id_ for number, id_ in ids.items()},
            idf(entries, all_entries or 0) * occurrences,
            occurrences,
            all_entries=all_entries or 0,
        )
        for token, entries, ids, all_entries, occurrences in rows
    ]
    return [term for term in terms if term.token not in _COMPARING] or terms


def with_stand_ins(
    connection: Connection, scope: SearchScope, terms: Sequence[QueryTerm], *, typos: bool
) -> list[QueryTerm]:
    """Return the terms, and stand-ins for each of the first 32 terms that no entry holds.

    - Numbers, identifiers and versions are looked for as others write them: `1250000` as `1,250,000`, `kx4471b` as
      `KX-4471-B`, `5kn` as `5 kn`, `v2.10` as `2.10`.
    - A compound is split where entries hold its first and its last part, with at most three letters between them
      (after Koehn and Knight, Empirical Methods for Compound Splitting, EACL 2003).
    - In languages that write compounds as one word, compounds that contain the term are stand-ins.
    - A single letter of a script without spaces, known or not, gets the pairs of letters that contain it.
    - With `typos`, the nearest words are stand-ins: one letter inserted, deleted, substituted or transposed with the
      next one; two such mistakes in words of eight letters or more.
    """
    expanded = {term.stands_for for term in terms}
    wanting = [
        term
        for term in terms
        if is_letter_of_pairs(term.token)
        or (
            not term.ids
            and len(term.token) <= LONGEST
            and term.token not in expanded
            and (is_version(term.token) or not _SIGN.search(term.token))
        )
    ]
    if not wanting:
        return list(terms)
    everything = sum(each.entries or 0 for each in scope.generations)
    found = {term.token: term for term in terms if term.ids}
    vocabulary = Vocabulary(connection, scope)
    unknown = [term.token for term in wanting[:_MOST_UNKNOWN] if not is_letter_of_pairs(term.token)]
    vocabulary.look_up(unknown)
    for term in wanting[:_MOST_UNKNOWN]:
        for (stand_in, entries, ids), factor in vocabulary.stand_ins(term.token, typos=typos):
            weight = factor * idf(entries, everything) * term.occurrences
            if stand_in not in found or found[stand_in].weight < weight:
                known = {int(key): id_ for key, id_ in ids.items()}
                found[stand_in] = QueryTerm(
                    stand_in, entries, known, weight, stands_for=term.token, all_entries=everything
                )
    return [*found.values(), *(term for term in terms if not term.ids)]


def expanded_text(text: str, expansions: Sequence[Expansion]) -> str:
    """Return a query with the words that its abbreviations stand for behind it, as the vector leg reads it."""
    said = [each.by for each in expansions if each.spells_out]
    return f"{text} ({'; '.join(said)})" if said else text


def with_expansions(
    connection: Connection, scope: SearchScope, terms: Sequence[QueryTerm], expansions: Sequence[Expansion]
) -> list[QueryTerm]:
    """Return the terms, and those of the expansions that no word of the query is.

    The terms of an expansion weigh together half of what the words weigh that it expands: a passage that spells an
    abbreviation out is nearly as good as one that has it, and one with a single word of it hardly better than none.

    The letters of an expanded abbreviation such as `R&D` are no words, unless a passage writes it as `R & D`.
    """
    own = {term.token: term for term in terms}
    added: dict[str, QueryTerm] = {}
    for expansion in expansions:
        by = [term for term in query_terms(connection, scope, expansion.by) if term.ids]
        if joins_letters(expansion.by):
            by = [term for term in by if term.token == expansion.by.casefold()]
        every = sum(term.weight for term in by)
        if not every:
            continue
        if joins_letters(expansion.words):
            own = _without_letters(connection, scope, own, expansion.words.casefold())
        words = [own[token] for token in _tokens(connection, scope, expansion.words) if token in own]
        weight = sum(term.weight for term in words) or every  # `IT` is a stop word
        factor = _EXPANSION_WEIGHT * expansion.share * min(weight / every, 1.0)
        expanded = Expanded(frozenset(term.token for term in words), frozenset(term.token for term in by))
        stands_for = words[0].token if len(words) == 1 else expansion.words
        is_known = any(term.ids for term in words)
        for term in by:
            if term.token not in own and (term.token not in added or added[term.token].weight < term.weight * factor):
                added[term.token] = replace(
                    term,
                    weight=term.weight * factor,
                    stands_for=stands_for,
                    expands=expanded if is_known else None,
                )
    return [*own.values(), *added.values()]


def _tokens(connection: Connection, scope: SearchScope, words: str) -> list[str]:
    """Return the lexemes of an expanded word or phrase; an abbreviation such as `R&D` is one itself."""
    tokens = [term.token for term in query_terms(connection, scope, words)]
    return [words.casefold(), *tokens] if joins_letters(words) and words.casefold() not in tokens else tokens


def _without_letters(
    connection: Connection, scope: SearchScope, terms: Mapping[str, QueryTerm], name: str
) -> dict[str, QueryTerm]:
    """Return terms by lexeme with a name such as `r&d` in place of its letters, unless a passage writes `R & D`."""
    letters = {letter: terms[letter] for letter in name.split("&") if letter in terms}
    named = {"generations": scope.ids, "name": name, "letters": list(letters)}
    if not letters or (len(letters) > 1 and connection.execute(queries["holds_letters"], named).fetchone()):
        return dict(terms)
    entries = sum(each.entries or 0 for each in scope.generations)
    joined = {name: QueryTerm(name, 0, {}, idf(0, entries), all_entries=entries), **terms}
    return {token: term for token, term in joined.items() if token not in letters}


def with_expanded(words: Collection[str], terms: Iterable[QueryTerm]) -> Collection[str]:
    """Return the words of the query that a passage holds, with those that it holds an expansion of.

    Args:
        words: lexemes that it holds.
        terms: of the query.
    """
    held = frozenset(words)
    expanded = {each.expands for each in terms if each.expands is not None}
    return held.union(*(each.words for each in expanded if each.by <= held)) if expanded else words
