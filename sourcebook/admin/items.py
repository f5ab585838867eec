"""The items of a knowledge base: documents with their content, and files and pages that are no documents."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from psycopg import Connection
from psycopg.rows import class_row, dict_row

from sourcebook.admin.collections import check_collections, collection_names
from sourcebook.admin.path_tails import uri_by_tail
from sourcebook.admin.redacted_documents import redact_shown, redact_titles
from sourcebook.admin.status import problem_uris, processing_items
from sourcebook.contract.documents import Document, Item, Passage
from sourcebook.contract.listing import ItemOrder
from sourcebook.contract.status import ProcessingItem
from sourcebook.database.queries import queries
from sourcebook.errors import AmbiguousDocumentError, UnknownDocumentError
from sourcebook.model.left_out import left_out_counts

_COLUMNS: Final = {field.name for field in fields(Item)} - {"chunks", "left_out"}


def list_items(
    connection: Connection,
    collections: Sequence[str] = (),
    *,
    failed: bool = False,
    removed: bool = False,
    limit: int | None = None,
    failure_class: str | None = None,
    processing: bool = False,
    offset: int = 0,
    after: tuple[str, str] | None = None,
    states: Sequence[str] = (),
    kinds: Sequence[str] = (),
    text: str | None = None,
    types: Sequence[str] = (),
    tags: Sequence[str] = (),
    sort: ItemOrder = "uri",
) -> list[Item]:
    """Return documents, and files and pages that are no documents, ordered by collection and URI or as asked."""
    check_collections(connection, collections)
    failed = failed or failure_class is not None
    removed = removed or "removed" in states
    processing = processing or list(states) == ["processing"]
    most = None if limit is None else limit + offset
    chosen = {
        "states": [] if processing else list(states),
        "kinds": list(kinds),
        "types": list(types),
        "tags": list(tags),
    }
    chosen["texts"] = _texts(text)
    is_filtered = any(chosen.values())
    items: list[Item] = []
    marks = {(mark.collection, mark.uri): mark for mark in processing_items(connection, collections)}
    names = sorted(set(collections) or collection_names(connection))
    for group in [[name] for name in names] if sort == "uri" else [names]:
        name = group[-1] if group else ""
        if after is not None and name < after[0]:
            continue
        left = None if most is None else most - len(items)
        if left == 0:
            break
        scope = {
            "collections": group,
            "collection": name,
            "sort": sort,
            "failed": failed,
            "removed": removed,
            "limit": left,
        }
        scope |= {"failure_class": failure_class, **chosen}
        scope["after"] = after[1] if after is not None and name == after[0] else None
        scope |= {"uris": _problems(connection, group) if failed else None, "last": None}
        if processing:
            scope["uris"] = [uri for collection, uri in marks if collection in group]
        if sort == "uri" and left is not None and not failed and not processing and not is_filtered:
            row = connection.execute(queries["last_document_of_page"], scope).fetchone()
            scope["last"] = row[0] if row else None
        with connection.cursor(row_factory=dict_row) as cursor:
            items += [_marked(_item(row, row["chunks"]), marks) for row in cursor.execute(queries["items"], scope)]
    if processing:
        known = {(item.collection, item.uri) for item in items}
        items += [_marked(_new_page(mark), marks) for place, mark in marks.items() if place not in known]
    if (failed and not kinds and not states and text is None and not (types or tags)) or "source" in kinds:
        with connection.cursor(row_factory=class_row(Item)) as cursor:
            items += cursor.execute(
                queries["unlisted_sources"], {"collections": list(collections), "failure_class": failure_class}
            ).fetchall()
    shown = items[offset:most]
    titles = redact_titles(connection, [(item.collection, item.document_id, item.title) for item in shown])
    return [
        item if item.title == title else replace(item, title=title) for item, title in zip(shown, titles, strict=True)
    ]


def _problems(connection: Connection, collections: Sequence[str]) -> list[str]:
    return [uri for name in collections for uri in problem_uris(connection, name)]


def _texts(text: str | None) -> list[str]:
    """Return a text as titles have it and as URIs have it."""
    if not text:
        return []
    from urllib.parse import quote

    return list(dict.fromkeys((text, quote(text, safe="/~!$&'()*+,;=:@"))))


def find_document(
    connection: Connection, document: str | int, collection: str | None = None, *, unredacted: bool = False
) -> Document:
    """Return a document by its id, its URI, the path of its file, or an end of it that no other document has.

    A number is an id; a text of digits may be a name as well. Redacted values are shown with `unredacted`.
    """
    check_collections(connection, () if collection is None else [collection])
    is_id = isinstance(document, int)
    document = _nameable(str(document))
    found: list[dict[str, Any]] = []
    for scope in [{"id": int(document), "uri": None}] if is_id else _keys(connection, document, collection):
        with connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(queries["find_documents"], {**scope, "collection": collection}).fetchall()
        live = [row for row in rows if row["state"] != "removed"]
        live = [row for row in live if row["taken_from"] is None] or live  # its own before a taken one
        found = live or found or rows
        if live:
            break
    if len(found) > 1:
        names = ", ".join(row["collection"] for row in found)
        remedy = "name one of them, with -c or collection="
        raise AmbiguousDocumentError(f"{document} is in several collections ({names}): {remedy}")
    if found:
        shown = _document(connection, found[0])
        redacted: Document = shown if unredacted else redact_shown(connection, shown)
        return redacted
    if is_id:
        raise UnknownDocumentError(f"there is no document with the id {document}")
    raise UnknownDocumentError(_why_unknown(connection, document, collection))


def possible_uris(document: str) -> list[str]:
    """Return the URIs that a URI (with or without an anchor) or a local path may denote, the likeliest first."""
    if "://" in document:
        uri = document.encode("utf-8", "replace").decode()
        uris = [uri, uri.partition("#")[0]]
        if uri.lower().startswith(("http://", "https://")):
            uris += _normal_forms(uri)
        return list(dict.fromkeys(uris))
    from sourcebook.files.listing import file_uri  # needs more packages than a search

    path = os.path.abspath(os.path.expanduser(document))  # noqa: PTH100, PTH111 - names need not be valid Unicode
    folder, name = os.path.split(path)
    # Symbolic links are resolved in the root of a source, not in the names below it.
    paths = [os.path.realpath(path), os.path.join(os.path.realpath(folder), name), path]  # noqa: PTH118
    return list(dict.fromkeys(file_uri(path) for path in paths))


def _nameable(document: str) -> str:
    """Return a name that a file system and the database can be asked for."""
    document = document.replace("\0", " ")
    try:
        os.fsencode(document)
    except UnicodeEncodeError:
        return document.encode("utf-8", "replace").decode()
    return document


def _keys(connection: Connection, document: str, collection: str | None) -> Iterator[dict[str, Any]]:
    """Yield what a document may be found by, the likeliest first: id, URI, a URL that leads to it, its end."""
    if document.isascii() and document.isdigit():
        yield {"id": int(document), "uri": None}
    for uri in possible_uris(document):
        yield {"id": None, "uri": uri}
    for url in other_urls(connection, document):
        yield {"id": None, "uri": url}
    found = uri_by_tail(connection, document, collection)
    if found is not None:
        yield {"id": None, "uri": found}


def _normal_forms(url: str) -> list[str]:
    try:
        from sourcebook.web.url import normal_form
    except ModuleNotFoundError:  # without the extra `pipeline` a URL must be given in its normal form
        return []
    found = normal_form(url)
    return [found] if found is not None else []


def other_urls(connection: Connection, document: str) -> list[str]:
    """Return the URLs that a URL leads to by redirects, a canonical link or equal content."""
    urls = [uri for uri in possible_uris(document) if uri.startswith(("http://", "https://"))]
    return [url for (url,) in connection.execute(queries["other_urls"], {"urls": urls})] if urls else []


def _document(connection: Connection, row: dict[str, Any]) -> Document:
    with connection.cursor(row_factory=class_row(Passage)) as cursor:
        passages = cursor.execute(queries["document_chunks"], {"document_id": row["document_id"]}).fetchall()
    marks = {(mark.collection, mark.uri): mark for mark in processing_items(connection, [row["collection"]])}
    item = _marked(_item(row, len(passages)), marks)
    return Document(
        item,
        row["text"] or "",
        row["metadata"] or {},
        row["tags"],
        tuple(passages),
        row["given_tags"] or [],
        row["given_metadata"] or {},
    )


def _item(row: dict[str, Any], chunks: int) -> Item:
    left_out = {str(kind): number for kind, number in left_out_counts({"left_out": row["left_out"]}).items()}
    return Item(**{name: row[name] for name in _COLUMNS if name in row}, chunks=chunks, left_out=left_out)


def _marked(item: Item, marks: Mapping[tuple[str, str], ProcessingItem]) -> Item:
    """Return an item in the state `processing` where a process works on it."""
    mark = marks.get((item.collection, item.uri))
    if mark is None:
        return item
    by = mark.process if mark.run is None else f"{mark.process}, run {mark.run}"
    return replace(item, state="processing", processing_since=mark.since, processing_by=by)


def _new_page(mark: ProcessingItem) -> Item:
    return Item(None, mark.collection, mark.uri, None, "page", None, None, 0, 0, "processing", None)


def _why_unknown(connection: Connection, document: str, collection: str | None) -> str:
    for uri in possible_uris(document):
        found = connection.execute(queries["items_without_document"], {"uri": uri, "collection": collection}).fetchone()
        if found:
            name, state, error = found
            return f"{document} is known to {name} but is no document: {error or state}"
    return f"there is no document {document}: `sourcebook documents` lists what there is"
