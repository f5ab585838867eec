"""Words that stand in for one that no passage holds, from the vocabulary of the searched collections."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.search.scope import SearchScope

_COMPOUND_WEIGHT: Final = 0.5
"""Factor on the weight of a compound's part, or of a compound that contains the word."""
_MISSPELT_WEIGHT: Final = 0.8
"""Factor on the weight of the nearest known word."""
_SHORTEST_PART: Final = 4
"""Letters of a compound's part, at least."""
_LONGEST_LINK: Final = 3
"""Letters between the parts of a compound, at most: `Verbindung·s·stück`."""
_SHORTEST_IN_COMPOUND: Final = 5
"""Letters of a word that is looked up within compounds, at least."""
_SHORTEST_MISSPELT: Final = 4
"""Letters of a word that may be misspelt, at least."""
_TWO_MISTAKES_FROM: Final = 8
"""Letters of a word that may have two mistakes, at least."""
_MOST: Final = 32
"""Stand-ins per word, at most."""
LONGEST: Final = 100
"""Letters of a word that gets stand-ins, at most."""
_COMPOUNDING: Final = frozenset({"danish", "dutch", "finnish", "german", "norwegian", "swedish"})
"""Text-search configurations of languages that write compounds as one word."""
FIRST_UNSPACED: Final = "\u0e00"
"""First code point of Thai: scripts without spaces come from here on, Greek, Cyrillic and Arabic before."""

Word = tuple[str, int, dict[str, int]]
"""(token, number of entries, lexeme id by generation id)."""
_VERSION: Final = re.compile(r"v(\d+(?:\.\d+)+\S*)")
_PARTS: Final = re.compile(r"\d+|[^\W\d_]+")
_MOST_PARTS: Final = 8
_THOUSANDS: Final = re.compile(r"(?<=\d)(?=(?:\d{3})+\Z)")
_OTHERWISE_WEIGHT: Final = 0.9
"""Factor on the weight of a word that is the same in other signs."""


def is_version(token: str) -> bool:
    """Tell whether a word is a number of a version with the letter that many write before it."""
    return _VERSION.fullmatch(token) is not None


def nearest_words(connection: Connection, scope: SearchScope, token: str) -> list[str]:
    """Return the known lexemes at the smallest edit distance from a misspelt one, the most common first."""
    if not (_SHORTEST_MISSPELT <= len(token) <= LONGEST and token.isalpha()):
        return []
    return [word for word, *_ in Vocabulary(connection, scope).nearest(token)]


class Vocabulary:
    """The vocabulary of the generations in scope."""

    def __init__(self, connection: Connection, scope: SearchScope) -> None:
        self._connection = connection
        self._scope = scope
        self._known: dict[str, Word] = {}
        self._containing: dict[str, list[Word]] = {}

    def look_up(self, tokens: Sequence[str]) -> None:
        """Read the words that are parts of some tokens, and those that contain them, for `stand_ins`."""
        parts = {part for token in tokens for part in (*_beginnings(token), *_endings(token))}
        parts |= {word for token in tokens for words in _otherwise(token) for word in words}
        self._known = {word[0]: word for word in self._rows("lexemes_named", tokens=list(parts))} if parts else {}
        long = [token for token in tokens if len(token) >= _SHORTEST_IN_COMPOUND]
        if long and _COMPOUNDING.intersection(self._scope.configurations):
            for part, *word in self._rows("lexemes_containing", parts=long, most=_MOST):
                self._containing.setdefault(part, []).append(tuple(word))

    def stand_ins(self, token: str, *, typos: bool) -> Iterator[tuple[Word, float]]:
        """Yield (word, factor on its weight) of each stand-in of a token that was looked up, or a letter of pairs."""
        if is_letter_of_pairs(token):
            ends = {"beginning": token, "ending": token, "other": ""}
            pairs = self._rows("lexemes_beginning_or_ending", **ends, shortest=2, longest=2)
            yield from ((word, _COMPOUND_WEIGHT) for word in _most_common(pairs))
            return
        for words in _otherwise(token):
            if words and all(word in self._known for word in words):
                yield from ((self._known[word], _OTHERWISE_WEIGHT / len(words)) for word in dict.fromkeys(words))
                return
        yield from ((word, _COMPOUND_WEIGHT) for word in self._parts(token))
        yield from ((word, _COMPOUND_WEIGHT) for word in self._containing.get(token, ()))
        if typos and len(token) >= _SHORTEST_MISSPELT and token.isalpha():
            yield from ((word, _MISSPELT_WEIGHT) for word in self.nearest(token))

    def _parts(self, token: str) -> list[Word]:
        """Return the first and last part of a compound; of several splits, the one with the longest parts."""
        known = self._known
        pairs = [
            (beginning, ending)
            for beginning in _beginnings(token)
            if beginning in known
            for ending in _endings(token)
            if ending in known and 0 <= len(token) - len(beginning) - len(ending) <= _LONGEST_LINK
        ]
        best = max(pairs, key=lambda pair: (len(pair[0]) + len(pair[1]), len(pair[0])), default=None)
        return [known[part] for part in dict.fromkeys(best)] if best else []

    def nearest(self, token: str) -> list[Word]:
        """Return the known words at the smallest edit distance.

        The look-up goes by the first or the second half of the word: one mistake, or two in one half, leaves the other
        half intact, but for the letter beside the middle, which may be transposed with the next: with one mistake that
        is one word.
        """
        from rapidfuzz.distance import OSA

        mistakes = 2 if len(token) >= _TWO_MISTAKES_FROM else 1
        half = len(token) // 2
        near = self._rows(
            "lexemes_beginning_or_ending",
            beginning=token[: half + 1 - mistakes],
            ending=token[half - 1 + mistakes :],
            other=token[: half - 1] + token[half] + token[half - 1] + token[half + 1 :],
            shortest=len(token) - mistakes,
            longest=len(token) + mistakes,
        )
        distances = {word[0]: OSA.distance(token, word[0], score_cutoff=mistakes) for word in near}
        smallest = min(distances.values(), default=mistakes + 1)
        return _most_common(word for word in near if distances[word[0]] == smallest <= mistakes)

    def _rows(self, name: str, **values: Any) -> list[Any]:
        return self._connection.execute(queries[name], {"generations": self._scope.ids, **values}).fetchall()


def _otherwise(token: str) -> tuple[tuple[str, ...], ...]:
    """Return the words as which others write a version, an identifier, a number or a quantity, the surest first."""
    if version := _VERSION.fullmatch(token):
        return ((version[1],),)
    parts = tuple(_THOUSANDS.split(token) if token.isdecimal() else _PARTS.findall(token))
    if not 1 < len(parts) <= _MOST_PARTS or "".join(parts) != token:
        return ()
    return (("-".join(parts),), parts)


def _beginnings(token: str) -> list[str]:
    """Return what may be the first part of a compound."""
    return [token[:end] for end in range(_SHORTEST_PART, len(token) - _SHORTEST_PART + 1)]


def _endings(token: str) -> list[str]:
    """Return what may be the last part of a compound."""
    return [token[start:] for start in range(_SHORTEST_PART, len(token) - _SHORTEST_PART + 1)]


def is_letter_of_pairs(token: str) -> bool:
    return len(token) == 1 and token >= FIRST_UNSPACED


def _most_common(words: "Iterator[Word] | list[Word]") -> list[Word]:
    return sorted(words, key=lambda word: (-word[1], word[0]))[:_MOST]
