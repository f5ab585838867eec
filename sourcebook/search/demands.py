"""What the operators of a query demand of every passage, whichever leg finds it."""

from collections.abc import Iterator

from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.search.condition import EntryCondition
from sourcebook.search.query_language import ParsedQuery
from sourcebook.search.scope import Scope

_TITLE = ":A"
"""The label that `entry_lexemes` gives the words of a title."""


def demanded(connection: Connection, scope: Scope, query: ParsedQuery) -> tuple[list[EntryCondition], list[str]]:
    """Return conditions on entries, and a note for each demand that cannot be looked for.

    A phrase is looked for under every text-search configuration in scope.
    """
    demands = [(text, label, wanted) for texts, label, wanted in _demands(query) for text in texts]
    if not demands or not scope.configurations:
        return [], []
    found: dict[int, str] = dict(
        connection.execute(
            queries["demanded_words"],
            {
                "demands": [text for text, _, _ in demands],
                "labels": [label for _, label, _ in demands],
                "generations": scope.ids,
            },
        ).fetchall()
    )
    conditions = []
    notes = []
    for place, (text, _, wanted) in enumerate(demands, start=1):
        if place not in found:
            notes.append(f"{text!r} has no word to look for beside stop words: it was not demanded")
            continue
        name = f"demand_{place}"
        condition = "entry.lexemes @@ {}::tsquery" if wanted else "NOT entry.lexemes @@ {}::tsquery"
        conditions.append(EntryCondition(sql.SQL(condition).format(sql.Placeholder(name)), {name: found[place]}))
    return conditions, notes


def _demands(query: ParsedQuery) -> Iterator[tuple[tuple[str, ...], str, bool]]:
    yield query.phrases, "", True
    yield query.titles, _TITLE, True
    yield query.excluded, "", False
    yield query.excluded_titles, _TITLE, False
