"""Suggestion of a query: words that no passage holds, replaced by the nearest words of the searched collections."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.search.query_terms import WORD, QueryTerm
from sourcebook.search.ranking.filter_conditions import condition_of
from sourcebook.search.ranking.word_lexemes import lexemes_of_words
from sourcebook.search.scope import EVERY_ENTRY, SearchScope
from sourcebook.search.vocabulary import nearest_words

_MOST: Final = 3
"""Words per query that are looked up, at most; each look-up reads a part of the vocabulary."""
_READ: Final = 3
"""Passages that are read for the usual form of a word: the vocabulary has stems, `batteri` for `batteries`."""


def suggested_query(connection: Connection, scope: SearchScope, query: str, terms: Sequence[QueryTerm]) -> str | None:
    """Return the query with known words in place of unknown ones; None where it has none that are nearly known.

    A word is nearly known where a known one differs from it by one letter inserted, deleted, substituted or transposed
    with the next one; by two such mistakes from eight letters on.

    Args:
        connection: in autocommit mode.
        scope: the generations that are searched.
        query: the text of the query.
        terms: its lexemes; those that no entry holds have no ids.
    """
    expanded = {term.stands_for for term in terms}
    unknown = [term.token for term in terms if not term.ids and term.token not in expanded][:_MOST]
    nearest = {token: words[0] for token in unknown if (words := nearest_words(connection, scope, token))}
    if not nearest:
        return None
    written = _lexemes(connection, scope, _words(query), list(nearest))
    known = {token: _usual_form(connection, scope, word) for token, word in nearest.items()}
    suggested = WORD.sub(lambda found: known.get(written.get(found[0], ""), found[0]), query)
    return suggested if suggested != query else None


def _usual_form(connection: Connection, scope: SearchScope, token: str) -> str:
    """Return the most frequent word of some passages that has a lexeme, in lower case; else the lexeme itself."""
    condition = condition_of(None, scope) or EVERY_ENTRY
    asked = {"generations": scope.ids, "token": token, "most": _READ, **condition.parameters}
    texts = connection.execute(queries["texts_with_lexeme"].format(condition=condition.text), asked).fetchall()
    counts = Counter(word.lower() for (text,) in texts for word in _words(text) if word[:2].lower() == token[:2])
    forms = _lexemes(connection, scope, counts, [token])
    return max(forms, key=lambda word: (counts[word], word), default=token)


def _lexemes(
    connection: Connection, scope: SearchScope, words: "Iterator[str] | Counter[str]", tokens: Sequence[str]
) -> dict[str, str]:
    """Return the first of some lexemes that each word has, by the word."""
    found = lexemes_of_words(connection, scope, set(words), tokens)
    return {word: lexemes[0] for word, lexemes in found.items()}


def _words(text: str) -> Iterator[str]:
    return (found[0] for found in WORD.finditer(text))
