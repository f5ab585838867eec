"""Documents: removal and its undoing, labels by hand, and relations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sourcebook.errors import QueryError
from sourcebook.operations.principals import for_principals

if TYPE_CHECKING:
    from sourcebook.admin.many_documents import Act
    from sourcebook.contract.differences import DocumentDifferences
    from sourcebook.contract.documents import Document, Item, RemovedItem
    from sourcebook.contract.relations import RelatedDocument
    from sourcebook.operations.opened import Opened
    from sourcebook.operations.principals import AsPrincipals

Labels = tuple[Sequence[str] | None, Mapping[str, Any] | None]
"""Tags in place of those given by hand, and changes of the metadata given by hand; None leaves them."""

Named = str | int | Path
"""Id, URI or path of a document."""


def remove_document(
    knowledge: Opened, document: Named | Sequence[Named], collection: str | None = None, *, actor: str | None = None
) -> list[RemovedItem]:
    """Remove a document although its source still has it; no ingest brings it back until `restore_document`.

    It is no longer found, also in collections that take it by its tags. Its rows are kept, with the time of the
    removal, until a purge.

    Args:
        document: its id, its URI, the path of its file, or an end of it that no other one has; or a list of these,
            of which all are taken or, where one is not known, none.
        collection: the only collection to remove it from; None for all that have it.
        actor: who removes it.

    Returns:
        The document, once for each collection that it was removed from.

    Raises:
        UnknownDocumentError: there is no such document.
        QueryError: the collection does not exist, or the document follows another one: a message, an archive, or
            the collection that it is taken from.
    """
    from sourcebook.admin.removal import remove_items

    with knowledge.database.connection() as connection, connection.transaction():
        return [
            item for each in several(document) for item in remove_items(connection, str(each), collection, actor=actor)
        ]


def restore_document(
    knowledge: Opened, document: Named | Sequence[Named], collection: str | None = None, *, actor: str | None = None
) -> list[RemovedItem]:
    """Undo `remove_document`; the next ingest makes the document searchable: `request_work` asks for one.

    Args:
        document: its id, its URI, the path of its file, or an end of it that no other one has; or a list of these,
            of which all are taken or, where one is not known, none.
        collection: the only collection to restore it in; None for all that had it.
        actor: who restores it.

    Returns:
        The document, once for each collection that it is restored in.

    Raises:
        UnknownDocumentError: there is no such document.
        QueryError: see `remove_document`.
    """
    from sourcebook.admin.removal import restore_items

    with knowledge.database.connection() as connection, connection.transaction():
        return [
            item for each in several(document) for item in restore_items(connection, str(each), collection, actor=actor)
        ]


def several(document: Named | Sequence[Named]) -> list[Named]:
    """Return the documents of a list, each once, or the one that is named."""
    return [document] if isinstance(document, str | int | Path) else [*dict.fromkeys(document)]


def change_document(
    knowledge: Opened,
    document: str | int | Path,
    collection: str | None = None,
    *,
    tags: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    title: str | None = None,
    actor: str | None = None,
) -> Document:
    """Give a document tags, metadata and a title by hand; return it as it is then.

    They lie over its own, whatever its source says later, and stay with it when its file is changed or renamed.
    Searches see them at once; the words of a title are found, and collections that take documents by their tags follow,
    with the next ingest.

    Args:
        document: its id, its URI, or the path of its file.
        collection: name of its collection, where several have it.
        tags: the tags given by hand, in place of those given before, at most 50 of 100 characters; None leaves
            them. Tags of its source and its front matter stay.
        metadata: changes of the metadata given by hand, 20,000 bytes as JSON at most; a name with None is no longer
            given. A name hides the document's own value of that name.
        title: shown in place of the document's own, at most 1,000 characters on one line; "" takes it back, None
            leaves it.
        actor: who changes it.

    Raises:
        UnknownDocumentError: there is no such document, or several collections have it and none is named.
        QueryError: a tag or the metadata are not allowed, or the collection does not exist.
    """
    return relabel(knowledge, document, lambda _: (tags, metadata), collection, title=title, actor=actor)


def relabel(
    knowledge: Opened,
    document: str | int | Path,
    labels: Callable[[Document], Labels],
    collection: str | None = None,
    *,
    title: str | None = None,
    actor: str | None = None,
) -> Document:
    """Give a document tags and metadata that depend on those that it has; see `change_document`.

    Args:
        document: its id, its URI, or the path of its file.
        labels: returns the tags and the metadata; nobody else changes the document meanwhile.
        collection: name of its collection, where several have it.
        title: see `change_document`.
        actor: who changes it.
    """
    from sourcebook.admin.document_labels import change_labels, lock_document
    from sourcebook.admin.items import find_document

    with knowledge.database.connection() as connection, connection.transaction():
        found = find_document(connection, document if isinstance(document, int) else str(document), collection)
        number = found.item.document_id or 0
        lock_document(connection, number)
        tags, metadata = labels(find_document(connection, number))
        change_labels(connection, number, tags=tags, metadata=metadata, title=title, actor=actor)
        return find_document(connection, number)


def change_many(
    knowledge: Opened, act: Act, items: Iterable[Item], *, tag: str = "", actor: str | None = None
) -> list[RemovedItem]:
    """Remove many documents, undo that, or give them a tag or take it back; return those that are changed.

    Args:
        act: what is done.
        items: the documents, which are their collections' own.
        tag: the tag.
        actor: who does it.

    Raises:
        QueryError: the tag is not allowed; nothing is changed.
        DatabaseError: the database is out of reach; nothing is changed.
    """
    from sourcebook.admin.many_documents import change_many

    places = [(each.collection, each.uri) for each in items]
    with knowledge.database.connection() as connection:
        return change_many(connection, act, places, tag=tag, actor=actor)


def title_file(knowledge: Opened, collection: str, path: str, title: str) -> int | None:
    """Give the document of a file a title, before it is read or after that; return its id.

    Raises:
        QueryError: it is no file, no source of the collection has it, or the title is not allowed.
    """
    from sourcebook.admin.announced_documents import announce_document
    from sourcebook.admin.summaries import collection_sources
    from sourcebook.files.listing import file_uri

    place = Path(path).resolve()
    if not place.is_file():
        raise QueryError("title: it is for one file, and the path is none")
    with knowledge.database.connection() as connection:
        (listed,) = collection_sources(connection, [collection])
        folders = [each.location for each in listed.sources if each.kind == "files"]
        found = next((each for each in folders if each.startswith("/") and place.is_relative_to(each)), None)
        if found is None:
            raise QueryError("title: no source of the collection has this file")
        return announce_document(connection, collection, found, file_uri(str(place)), title=title)


@for_principals
def related(
    knowledge: Opened,
    document: str | int | Path,
    collection: str | None = None,
    *,
    kinds: Sequence[str] | str = (),
    direction: Literal["both", "out", "in"] = "both",
    dangling: bool = False,
    limit: int = 100,
    as_principals: AsPrincipals | None = None,
) -> list[RelatedDocument]:
    """Return what a document is related to: what supersedes or requires what first, references last.

    Args:
        document: its id, its URI, or the path of its file.
        collection: name of its collection, where several have it.
        kinds: `references`, `requires`, `implements`, `supersedes`, `creates`, `part_of`, or one of them; every
            kind where empty.
        direction: `out` for what the document says of others, `in` for what others say of it, `both`.
        dangling: whether relations are returned, too, whose document is not there.
        limit: number of relations, 1 to 1,000.
        as_principals: see `search`.

    Raises:
        UnknownDocumentError: there is no such document, or several collections have it and none is named.
        QueryError: an argument is not allowed, or the collection does not exist.
    """
    from sourcebook.admin.items import find_document
    from sourcebook.admin.related import check_options, related_documents

    chosen = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    check_options(chosen, direction, limit)
    name = document if isinstance(document, int) else str(document)
    with knowledge.database.connection() as connection:
        item = find_document(connection, name, collection, unredacted=True).item
        if item.document_id is None:
            return []
        return related_documents(
            connection,
            item.document_id,
            item.collection,
            kinds=chosen,
            direction=direction,
            dangling=dangling,
            limit=limit,
        )


@for_principals
def diff(
    knowledge: Opened,
    first: str | int | Path,
    second: str | int | Path,
    collection: str | None = None,
    *,
    unredacted: bool = False,
    as_principals: AsPrincipals | None = None,
) -> DocumentDifferences:
    """Return what changed from one document to another, section by section, each with its place in both.

    Args:
        first: the earlier version: its id, its URI, or the path of its file.
        second: the later one.
        collection: name of the collection of both, where several have them.
        unredacted: whether personal data and secrets are shown also of collections that redact them.
        as_principals: see `search`.

    Raises:
        UnknownDocumentError: there is no such document, or several collections have it and none is named.
        QueryError: a document has no text, or the collection does not exist.
    """
    from sourcebook.admin.differences import differences
    from sourcebook.contract.differences import DiffRequest

    request = DiffRequest.of(first=first, second=second, collection=collection, unredacted=unredacted)
    with knowledge.database.connection() as connection:
        return differences(connection, request)
