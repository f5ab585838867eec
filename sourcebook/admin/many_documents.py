"""Removal of many documents, its undoing, and tags: few statements for thousands, an audit event for each."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.admin.audit import account
from sourcebook.admin.document_labels import MOST_TAGS, checked_tags
from sourcebook.contract.documents import RemovedItem
from sourcebook.database.queries import queries
from sourcebook.indexing.generations import other_generations
from sourcebook.stages.search_index import withdraw

Act = Literal["remove", "restore", "tag", "untag"]
_BATCH = 2_000
"""Documents of a statement."""


def change_many(
    connection: Connection, act: Act, places: Iterable[tuple[str, str]], *, tag: str = "", actor: str | None = None
) -> list[RemovedItem]:
    """Change documents, all of them or, after an error, none; return those that are changed, without those that follow.

    Args:
        connection: to the knowledge base.
        act: what is done.
        places: collection and URI of each; attachments and what a collection takes from another one are left out.
        tag: the tag that is given or taken back.
        actor: who does it.
    """
    by_collection: dict[str, list[str]] = defaultdict(list)
    for collection, uri in places:
        by_collection[collection].append(uri)
    changed: list[RemovedItem] = []
    with connection.transaction():
        for collection, uris in sorted(by_collection.items()):
            for first in range(0, len(uris), _BATCH):
                scope = {"collection": collection, "uris": uris[first : first + _BATCH]}
                if act in {"remove", "restore"}:
                    changed += _excluded(connection, act == "remove", scope, actor)
                else:
                    changed += _tagged(connection, act == "tag", scope, tag, actor)
    return changed


def _excluded(connection: Connection, is_excluded: bool, scope: dict[str, Any], actor: str | None) -> list[RemovedItem]:
    """Exclude files and pages with their documents, or undo it."""
    statements = queries["exclude_many_files"], queries["exclude_many_pages"]
    named = {**scope, "is_excluded": is_excluded}
    uris = sorted({uri for statement in statements for (uri,) in connection.execute(statement, named)})
    known = {"collection": scope["collection"], "uris": uris}
    removed = connection.execute(queries["remove_many_documents"], known).fetchall() if is_excluded else []
    ids: dict[str, list[int]] = defaultdict(list)
    for collection, _, number, _ in removed:
        ids[collection].append(number)
    for collection, numbers in sorted(ids.items()):
        for generation in other_generations(connection, collection, None):
            withdraw(connection, generation, numbers)
    numbered: dict[str, int] = dict(connection.execute(queries["document_ids"], known).fetchall())
    own = [RemovedItem(scope["collection"], uri, numbered.get(uri)) for uri in uris]
    taken = [
        RemovedItem(name, uri, number)
        for name, uri, number, is_named in removed
        if is_named and name != scope["collection"]
    ]
    _record(connection, "document.remove" if is_excluded else "document.restore", [*own, *taken], {}, actor)
    return own


def _tagged(
    connection: Connection, is_given: bool, scope: dict[str, Any], tag: str, actor: str | None
) -> list[RemovedItem]:
    """Give documents a tag by hand, or take it back."""
    (checked,) = checked_tags([tag])
    values = {**scope, "tag": checked, "is_given": is_given, "most": MOST_TAGS}
    found = [RemovedItem(*row) for row in connection.execute(queries["tag_many_documents"], values)]
    _record(connection, "document.change", found, {"tag": checked, "is_given": is_given}, actor)
    return found


def _record(
    connection: Connection, action: str, items: Sequence[RemovedItem], details: dict[str, Any], actor: str | None
) -> None:
    values = {
        "actor": actor or account(),
        "action": action,
        "collections": [each.collection for each in items],
        "uris": [each.uri for each in items],
        "ids": [each.document_id for each in items],
        "details": Jsonb(details),
    }
    connection.execute(queries["record_many_events"], values)
