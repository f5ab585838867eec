"""Lexemes of words of passages: PostgreSQL makes them, and a process remembers them, as passages repeat their words."""

from collections.abc import Collection
from typing import Final

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.search.recent_cache import RecentCache
from sourcebook.search.scope import SearchScope

_MOST: Final = 50_000
"""Words that are remembered for the same text-search configurations, at most: some 10 MB. Then all are forgotten."""
_LONGEST: Final = 64
"""Characters of a word that is remembered, at most."""

_KNOWN: Final[RecentCache[tuple[int | str, ...], dict[str, tuple[str, ...]]]] = RecentCache(16)
"""Lexemes by word, by what makes them."""


def lexemes_of_words(
    connection: Connection, scope: SearchScope, words: Collection[str], tokens: Collection[str]
) -> dict[str, list[str]]:
    """Return the lexemes of a list that each word has, in alphabetical order; words without any are left out.

    Args:
        connection: in autocommit mode.
        scope: the generations that are searched, whose text-search configurations read the words.
        words: words of passages.
        tokens: lexemes of the query.
    """
    configurations = scope.configurations
    made_by: tuple[int | str, ...] = (connection.info.server_version, scope.words_version, *configurations)
    known = _KNOWN.get_or_compute(made_by, dict)
    found = {word: known.get(word) for word in words}
    missing = [word for word, lexemes in found.items() if lexemes is None]
    if missing:
        wanted = {"words": missing, "configurations": configurations}
        read = {word: tuple(lexemes) for word, lexemes in connection.execute(queries["lexemes_of_words"], wanted)}
        new = {word: read.get(word, ()) for word in missing}
        found |= new
        if len(known) + len(new) > _MOST:
            known.clear()
        known.update((word, lexemes) for word, lexemes in new.items() if len(word) <= _LONGEST)
    wanted_lexemes = frozenset(tokens)
    return {
        word: held
        for word, lexemes in found.items()
        if lexemes and (held := [each for each in lexemes if each in wanted_lexemes])
    }
