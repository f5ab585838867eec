"""The items of a knowledge base: documents with their content, and files and pages that are no documents."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final, Literal

from psycopg import Connection, sql
from psycopg.rows import class_row, dict_row

from sourcebook.admin.collections import check_collections, collection_names
from sourcebook.admin.path_tails import uri_by_tail
from sourcebook.admin.redacted_documents import redact_shown, redact_titles
from sourcebook.admin.status import problem_uris, processing_items
from sourcebook.contract.documents import Document, Item, Passage
from sourcebook.contract.listing import DocumentsRequest
from sourcebook.contract.status import ProcessingItem
from sourcebook.database.queries import queries
from sourcebook.errors import AmbiguousDocumentError, QueryError, UnknownDocumentError
from sourcebook.model.left_out import left_out_counts

_COLUMNS: Final = {field.name for field in fields(Item)} - {"chunks", "left_out", "tokens", "tags"}
_TIMES: Final = frozenset({"created", "updated", "indexed"})
"""Orders by a time that documents alone have."""
_EVERY: Final = DocumentsRequest()
_Marks = Mapping[tuple[str, str], ProcessingItem]


def list_items(
    connection: Connection, request: DocumentsRequest = _EVERY, after: tuple[str, str] | None = None
) -> list[Item]:
    """Return documents, and files and pages that are no documents, ordered by collection and URI or as asked.

    Args:
        connection: to the knowledge base.
        request: the options of the list.
        after: collection and URI of the item before the first one.

    Raises:
        UnknownCollectionError: a collection does not exist.
        QueryError: there is no item to begin after.
    """
    most = None if request.limit is None else request.limit + request.offset
    items: list[Item] = []
    marks = _marks(connection, request)
    is_processing = _is_processing(request)
    for scope in _scopes(connection, request, marks, after):
        scope["limit"] = None if most is None else most - len(items)
        if scope["limit"] == 0:
            break
        rows = _page(connection, request, scope)
        tokens = _tokens(connection, rows)
        items += [_marked(_item(row, row["chunks"], tokens.get(row["document_id"], 0)), marks) for row in rows]
    if is_processing:
        known = {(item.collection, item.uri) for item in items}
        items += [_marked(_new_page(mark), marks) for place, mark in marks.items() if place not in known]
    if _has_sources(request):
        with connection.cursor(row_factory=class_row(Item)) as cursor:
            items += cursor.execute(queries["unlisted_sources"], _of_sources(request)).fetchall()
    shown = items[request.offset : most]
    titles = redact_titles(connection, [(item.collection, item.document_id, item.title) for item in shown])
    return [
        item if item.title == title else replace(item, title=title) for item, title in zip(shown, titles, strict=True)
    ]


def items_at(connection: Connection, collection: str, uris: Sequence[str]) -> list[Item]:
    """Return the items of a collection that have one of some URIs, removed ones included, ordered by URI."""
    request = DocumentsRequest(collections=(collection,), removed=True)
    marks = _marks(connection, request)
    (scope,) = _scopes(connection, request, marks, None)
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(_of_chosen("items"), {**scope, "uris": list(uris), "limit": None}).fetchall()
    titles = redact_titles(connection, [(row["collection"], row["document_id"], row["title"]) for row in rows])
    return [
        _marked(_item({**row, "title": title}, row["chunks"], 0), marks)
        for row, title in zip(rows, titles, strict=True)
    ]


def _page(connection: Connection, request: DocumentsRequest, scope: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a page; of a list without conditions those items alone are read that it can have."""
    limit, by = scope["limit"], request.sort.removeprefix("-")
    with connection.cursor(row_factory=dict_row) as cursor:
        if _is_plain(request) and limit is not None and by == "uri":
            row = connection.execute(queries["last_document_of_page"], scope).fetchone()
            scope["last"] = row[0] if row else None
        elif _is_plain(request) and limit is not None and (by in _TIMES or not request.removed):
            first = queries["documents_by_time" if by in _TIMES else "items_by_title_or_size"]
            uris = [uri for (uri,) in connection.execute(first, scope)]
            if len(uris) == limit:
                rows = cursor.execute(_of_chosen("items"), {**scope, "uris": uris}).fetchall()
                if len(rows) == limit:  # some may be gone; behind the last document come files that are none
                    return rows
        return cursor.execute(_of_chosen("items"), scope).fetchall()


def count_items(connection: Connection, request: DocumentsRequest = _EVERY) -> int:
    """Return the number of items that a list has without a limit."""
    marks = _marks(connection, request)
    if _is_processing(request):
        return len(list_items(connection, replace(request, limit=None, offset=0)))
    counted = 0
    for scope in _scopes(connection, replace(request, sort="title"), marks, None):
        counted += next(iter(connection.execute(_of_chosen("count_items"), scope)))[0]
    if _has_sources(request):
        counted += len(connection.execute(queries["unlisted_sources"], _of_sources(request)).fetchall())
    return counted


def _of_chosen(name: Literal["items", "count_items", "place_of_item"]) -> sql.Composed:
    return queries[name].format(chosen_items=queries["chosen_items"])


def _scopes(
    connection: Connection, request: DocumentsRequest, marks: _Marks, after: tuple[str, str] | None
) -> Iterator[dict[str, Any]]:
    """Yield the parameters of the statements that read a list: one for each collection, or one for all of them."""
    is_processing, is_failed = _is_processing(request), request.failed or request.failure is not None
    chosen = {
        "states": [] if is_processing else list(request.states),
        "kinds": list(request.kinds),
        "types": list(request.types),
        "tags": list(request.tags),
        "texts": _texts(request.text),
        "failed": is_failed,
        "failure_class": request.failure,
        "removed": request.removed or "removed" in request.states,
        "curated": request.curated,
        "sort": request.sort,
    }
    chosen |= dict.fromkeys(("uris", "after", "last", "after_place", "after_collection", "after_uri"))
    names = sorted(set(request.collections or ()) or collection_names(connection))
    by_uri = request.sort == "uri"
    if after is not None and not by_uri:
        at = chosen | {
            "collections": [after[0]],
            "uris": [after[1]],
            "failed": False,
            "removed": True,
            "curated": False,
        }
        at |= {name: [] for name in ("states", "kinds", "types", "tags", "texts")} | {"failure_class": None}
        row = connection.execute(_of_chosen("place_of_item"), at).fetchone()
        if row is None:
            raise QueryError("the item that the page begins after is gone: begin with the first page again")
        chosen |= {"after_place": row[0], "after_collection": after[0], "after_uri": after[1]}
    for group in [[name] for name in names] if by_uri else [names] * bool(names):
        if by_uri and after is not None and group[0] < after[0]:
            continue
        scope = {**chosen, "collections": group, "collection": group[0]}
        if by_uri and after is not None and group[0] == after[0]:
            scope["after"] = after[1]
        if is_failed:
            scope["uris"] = _problems(connection, group)
        if is_processing:
            scope["uris"] = [uri for collection, uri in marks if collection in group]
        yield scope


def _marks(connection: Connection, request: DocumentsRequest) -> _Marks:
    check_collections(connection, request.collections or ())
    found = processing_items(connection, list(request.collections or ()))
    return {(mark.collection, mark.uri): mark for mark in found}


def _is_processing(request: DocumentsRequest) -> bool:
    return request.processing or request.states == ("processing",)


def _is_plain(request: DocumentsRequest) -> bool:
    """Return whether a list has every live item."""
    conditions = (request.states, request.kinds, request.types, request.tags, request.text)
    others = (request.failed, request.failure, request.processing, request.curated)
    return not any((*conditions, *others))


def _has_sources(request: DocumentsRequest) -> bool:
    """Return whether a list ends with the sources that cannot be listed."""
    is_failed = request.failed or request.failure is not None
    conditions = (request.kinds, request.states, request.types, request.tags, request.curated)
    return (is_failed and request.text is None and not any(conditions)) or "source" in request.kinds


def _of_sources(request: DocumentsRequest) -> dict[str, Any]:
    return {"collections": list(request.collections or ()), "failure_class": request.failure}


def _tokens(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Return the tokens of the searchable passages of the documents among rows."""
    found = [row for row in rows if row["chunks"] and row["document_id"] is not None]
    scope = {
        "generations": sorted({row["active_generation_id"] for row in found}),
        "documents": [row["document_id"] for row in found],
    }
    return dict(connection.execute(queries["item_tokens"], scope).fetchall()) if found else {}


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
    item = _marked(_item(row, len(passages), sum(passage.token_count for passage in passages)), marks)
    return Document(
        item,
        row["text"] or "",
        row["metadata"] or {},
        row["tags"],
        tuple(passages),
        row["given_tags"] or [],
        row["given_metadata"] or {},
        row["given_title"],
    )


def _item(row: dict[str, Any], chunks: int, tokens: int) -> Item:
    left_out = {str(kind): number for kind, number in left_out_counts({"left_out": row["left_out"]}).items()}
    held = {name: row[name] for name in _COLUMNS if name in row}
    return Item(**held, chunks=chunks, tokens=tokens, tags=tuple(row["tags"]), left_out=left_out)


def _marked(item: Item, marks: _Marks) -> Item:
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
