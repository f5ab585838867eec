"""Words of the vocabulary that stand in for a word of the query that no passage holds.

Stemming joins the forms of a word; this is for what no stemmer does: compounds, misspellings, single letters of scripts
without spaces. All of it rests on the words that the collection itself has.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.search.keyword_leg import Term, idf
from sourcebook.search.scope import Scope

_PART: Final = 0.5
"""Weight of a part of a compound, or of a compound with the word in it, against the word itself."""
_MISSPELT: Final = 0.8
"""Weight of a word that was probably meant."""
_SHORTEST_PART: Final = 4
_LONGEST_LINK: Final = 3
"""Letters between the parts of a compound: `Verbindung·s·stück`."""
_SHORTEST_IN_COMPOUND: Final = 5
_LONGEST: Final = 100
"""Letters; what is longer is no word."""
_SHORTEST_MISSPELT: Final = 4
_TWO_MISTAKES_FROM: Final = 8
_MOST: Final = 32
"""Words that may stand in for one."""
_MOST_UNKNOWN: Final = 32
"""Words of a query that others may stand in for; further ones find nothing. Looking for them takes a moment each."""
_COMPOUNDING: Final = frozenset({"danish", "dutch", "finnish", "german", "norwegian", "swedish"})
_FIRST_UNSPACED: Final = "\u0e00"
"""Thai; the letters of scripts without spaces come behind it, those of Greek, Cyrillic and Arabic before."""

_Word = tuple[str, int, dict[str, int]]


def with_stand_ins(connection: Connection, scope: Scope, terms: Sequence[Term], *, typos: bool) -> list[Term]:
    """Return the terms, and for each of the first 32 that no entry holds what stands in for it.

    - A compound is taken apart where its first and last part are words that entries hold, with at most three letters
      between them (after Koehn and Knight, Empirical Methods for Compound Splitting, EACL 2003).
    - In languages that write compounds as one word, the compounds that it is part of.
    - A single letter of a script without spaces, known or not: the pairs of letters that it is in.
    - With `typos`, the nearest words: one letter more, less, other, or swapped with the next; two such mistakes in
      words of eight letters and more.
    """
    wanting = [
        term.token
        for term in terms
        if _is_letter_of_pairs(term.token) or (not term.ids and len(term.token) <= _LONGEST)
    ]
    if not wanting:
        return list(terms)
    row = connection.execute(queries["all_searchable_entries"], {"generations": scope.ids}).fetchone()
    everything = int(row[0] or 0) if row else 0
    found = {term.token: term for term in terms if term.ids}
    for token in wanting[:_MOST_UNKNOWN]:
        for (stand_in, entries, ids), factor in _Vocabulary(connection, scope).stand_ins(token, typos=typos):
            weight = factor * idf(entries, everything)
            if stand_in not in found or found[stand_in].weight < weight:
                found[stand_in] = Term(stand_in, entries, {int(key): id_ for key, id_ in ids.items()}, weight)
    return [*found.values(), *(term for term in terms if not term.ids)]


class _Vocabulary:
    """The words of the generations in scope."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope

    def stand_ins(self, token: str, *, typos: bool) -> Iterator[tuple[_Word, float]]:
        """Yield words, and what their weight is multiplied by."""
        if _is_letter_of_pairs(token):
            pairs = self._rows("lexemes_beginning_or_ending", beginning=token, ending=token, shortest=2, longest=2)
            yield from ((word, _PART) for word in _most_common(pairs))
            return
        yield from ((word, _PART) for word in self._parts(token))
        if len(token) >= _SHORTEST_IN_COMPOUND and _COMPOUNDING.intersection(self._scope.configurations):
            yield from ((word, _PART) for word in self._rows("lexemes_containing", part=token, most=_MOST))
        if typos and len(token) >= _SHORTEST_MISSPELT and token.isalpha():
            yield from ((word, _MISSPELT) for word in self._nearest(token))

    def _parts(self, token: str) -> list[_Word]:
        """Return the first and the last part of a compound; of several pairs, those with the longest parts."""
        last_start = len(token) - _SHORTEST_PART
        beginnings = [token[:end] for end in range(_SHORTEST_PART, last_start + 1)]
        endings = [token[start:] for start in range(_SHORTEST_PART, last_start + 1)]
        if not beginnings:
            return []
        known = {word[0]: word for word in self._rows("lexemes_named", tokens=[*beginnings, *endings])}
        pairs = [
            (beginning, ending)
            for beginning in beginnings
            if beginning in known
            for ending in endings
            if ending in known and 0 <= len(token) - len(beginning) - len(ending) <= _LONGEST_LINK
        ]
        best = max(pairs, key=lambda pair: (len(pair[0]) + len(pair[1]), len(pair[0])), default=None)
        return [known[part] for part in dict.fromkeys(best)] if best else []

    def _nearest(self, token: str) -> list[_Word]:
        """Return the words at the smallest distance.

        One mistake leaves the first or the second half as it is, which the vocabulary is looked up by; so do two
        mistakes in one half.
        """
        from rapidfuzz.distance import OSA

        mistakes = 2 if len(token) >= _TWO_MISTAKES_FROM else 1
        half = len(token) // 2
        near = self._rows(
            "lexemes_beginning_or_ending",
            beginning=token[: max(half - 1, 1)],  # the letter before the middle may be swapped with the one behind
            ending=token[half + 1 :] or token[-1:],
            shortest=len(token) - mistakes,
            longest=len(token) + mistakes,
        )
        distances = {word[0]: OSA.distance(token, word[0], score_cutoff=mistakes) for word in near}
        smallest = min(distances.values(), default=mistakes + 1)
        return _most_common(word for word in near if distances[word[0]] == smallest <= mistakes)

    def _rows(self, name: str, **values: Any) -> list[_Word]:
        return self._connection.execute(queries[name], {"generations": self._scope.ids, **values}).fetchall()


def _is_letter_of_pairs(token: str) -> bool:
    return len(token) == 1 and token >= _FIRST_UNSPACED


def _most_common(words: "Iterator[_Word] | list[_Word]") -> list[_Word]:
    return sorted(words, key=lambda word: (-word[1], word[0]))[:_MOST]
