"""Required terms: the conditions that the operators of a query set for every passage, whichever leg finds it."""

import re
from collections.abc import Iterator

from psycopg import Connection, sql

from sourcebook.contract.faces import advice
from sourcebook.database.queries import queries
from sourcebook.search.query_syntax import ParsedQuery
from sourcebook.search.scope import EntryCondition, SearchScope

_TITLE = ":A"
"""Label that `entry_lexemes` gives the words of a title."""


def required_terms(
    connection: Connection, scope: SearchScope, query: ParsedQuery
) -> tuple[list[EntryCondition], list[str]]:
    """Return a condition for each required or excluded term, and notes on what is left out or has only stop words.

    A term is a word or a phrase; it is read under every text-search configuration in scope.
    """
    terms = [(text, label, wanted) for texts, label, wanted in _terms(query) for text in texts]
    if not terms or not scope.configurations:
        return [], []
    found: dict[int, str] = dict(
        connection.execute(
            queries["required_terms"],
            {
                "texts": [text for text, _, _ in terms],
                "labels": [label for _, label, _ in terms],
                "generations": scope.ids,
            },
        ).fetchall()
    )
    conditions = []
    notes = []
    excluded = []
    for place, (text, label, wanted) in enumerate(terms, start=1):
        if place not in found:
            notes.append(f"{text!r} has no word to look for beside stop words: it was not required")
            continue
        name = f"required_{place}"
        condition = "entry.lexemes @@ {}::tsquery" if wanted else "NOT entry.lexemes @@ {}::tsquery"
        conditions.append(EntryCondition(sql.SQL(condition).format(sql.Placeholder(name)), {name: found[place]}))
        excluded += [] if wanted else [text if not label else f"title:{text}"]
    if excluded:
        notes.append(
            f"passages with {', '.join(map(repr, excluded))} are left out, as the query asks by a dash{advice('text')}"
        )
    return conditions, notes


def options_in_passages(connection: Connection, scope: SearchScope, query: ParsedQuery) -> list[str]:
    """Return the excluded words that passages hold with a dash before them: options of programs, and no exclusions."""
    words = list(query.excluded)
    terms = {"texts": words, "labels": [""] * len(words), "generations": scope.ids}
    found: dict[int, str] = dict(connection.execute(queries["required_terms"], terms).fetchall())
    looked = [(words[place - 1], lexemes) for place, lexemes in found.items()]
    scoped = {
        "words": [word for word, _ in looked],
        "lexemes": [lexemes for _, lexemes in looked],
        "patterns": [rf"(^|[\s`'\"(\[,;|])-{re.escape(word)}(?!\w)" for word, _ in looked],
        "generations": scope.ids,
    }
    return [word for (word,) in connection.execute(queries["words_with_dash"], scoped)]


def _terms(query: ParsedQuery) -> Iterator[tuple[tuple[str, ...], str, bool]]:
    """Yield (texts, label, whether they are required) of each operator."""
    yield query.phrases, "", True
    yield query.titles, _TITLE, True
    yield query.excluded, "", False
    yield query.excluded_titles, _TITLE, False
