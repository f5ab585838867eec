"""Look at a knowledge base: how each collection stands, what it holds, what failed and why."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection
from psycopg.rows import class_row, dict_row

from sourcebook.database.queries import queries
from sourcebook.errors import QueryError, UnknownDocumentError


@dataclass(frozen=True, slots=True)
class Problem:
    """One item that is not searchable as it lies in its source, or a source that cannot be listed."""

    uri: str
    state: str
    """`failed` or `skipped`."""
    error: str
    attempts: int
    next_retry_at: datetime | None


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """One source, as its last listing or crawl left it."""

    kind: str
    """`files` or `site`."""
    location: str
    listed_at: datetime | None
    """The last complete listing or crawl."""
    listing_error: str | None
    pages: int | None = None
    """Of a site: pages that are kept."""
    queued: int | None = None
    """Of a site: URLs that a crawl has still to ask for."""
    beyond: int | None = None
    """Of a site: URLs that `max_pages` leaves out."""
    next_crawl_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CollectionStatus:
    """How one collection stands."""

    name: str
    documents: int
    chunks: int
    """Searchable passages."""
    embeddings: int
    """Different texts among them."""
    failed: int
    """Failed items, and sources that cannot be listed."""
    skipped: int
    stale: int
    """Items that an ingest would work on."""
    removed: int
    generation: int | None
    """None before the first ingest."""
    embedding_model: str | None
    problems: tuple[Problem, ...]
    sources: tuple[SourceStatus, ...]
    unlisted: tuple[str, ...]
    """Why sources cannot be listed at this moment."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `sourcebook status --json` prints them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Item:
    """A document, or a file that did not become one."""

    document_id: int | None
    collection: str
    uri: str
    title: str | None
    kind: str
    """`file`, `page` or `recording`, or `source` for a source that cannot be listed."""
    media_type: str | None
    language: str | None
    version: int
    chunks: int
    state: str
    """`ready`, `pending`, `failed`, `skipped` or `removed`."""
    error: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `sourcebook documents --json` prints them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Passage:
    """A searchable chunk of a document."""

    ordinal: int
    text: str
    heading_path: list[str]
    anchor: str | None
    page: int | None
    start_seconds: float | None
    """When in the recording it begins; None for what is no recording."""
    end_seconds: float | None
    start_char: int
    end_char: int
    token_count: int


@dataclass(frozen=True, slots=True)
class Document:
    """One document with its content."""

    item: Item
    text: str
    """Its Markdown; empty where nothing was ever read from it."""
    metadata: dict[str, Any]
    tags: list[str]
    passages: tuple[Passage, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `sourcebook show --json` prints them."""
        content = {"text": self.text, "metadata": self.metadata, "tags": self.tags}
        return {**self.item.as_dict(), **content, "chunks": [asdict(passage) for passage in self.passages]}


def check_collections(connection: Connection, names: Sequence[str]) -> None:
    """Make sure that collections exist.

    Raises:
        QueryError: one does not.
    """
    known = [row[0] for row in connection.execute(queries["collections"])]
    missing = sorted(set(names) - set(known))
    if missing:
        raise QueryError(
            f"there is no collection {', '.join(repr(name) for name in missing)}; "
            f"there is {', '.join(known) if known else 'none yet: run sourcebook ingest'}"
        )


def collection_statuses(connection: Connection, names: Sequence[str] = ()) -> list[CollectionStatus]:
    """Return how collections stand, all of them where none is named; sources are compared by stat.

    Raises:
        QueryError: a collection does not exist.
    """
    from sourcebook.admin.pending import find_pending

    check_collections(connection, names)
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["collection_status"], {"names": list(names)}).fetchall()
    found = []
    for row in rows:
        scope = {"collection": row["name"]}
        with connection.cursor(row_factory=class_row(Problem)) as cursor:
            problems = cursor.execute(queries["collection_problems"], scope).fetchall()
        with connection.cursor(row_factory=class_row(SourceStatus)) as cursor:
            sources = cursor.execute(queries["source_listings"], scope).fetchall()
        row["failed"] += sum(source.listing_error is not None for source in sources)
        pending = find_pending(connection, row["name"])
        found.append(
            CollectionStatus(
                **row,
                stale=pending.items,
                problems=tuple(problems),
                sources=tuple(sources),
                unlisted=pending.unlisted,
            )
        )
    return found


def list_items(
    connection: Connection, collections: Sequence[str] = (), *, failed: bool = False, removed: bool = False
) -> list[Item]:
    """Return documents, and files that did not become one.

    Args:
        connection: to the knowledge base.
        collections: names; every collection where empty.
        failed: only what is not searchable as it lies there, sources that cannot be listed included.
        removed: what was removed as well.

    Raises:
        QueryError: a collection does not exist.
    """
    check_collections(connection, collections)
    scope = {"collections": list(collections), "failed": failed, "removed": removed}
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["items"], scope).fetchall()
    items = [_item(row, row["chunks"]) for row in rows]
    if failed:
        with connection.cursor(row_factory=class_row(Item)) as cursor:
            items += cursor.execute(queries["unlisted_sources"], {"collections": list(collections)}).fetchall()
    return items


def find_document(connection: Connection, document: str, collection: str | None = None) -> Document:
    """Return a document by its id, its URI or the path of its file.

    Raises:
        UnknownDocumentError: there is none, or the URI is in several collections and none is named.
        QueryError: the collection does not exist.
    """
    if collection is not None:
        check_collections(connection, [collection])
    found: list[dict[str, Any]] = []
    for scope in [*_keys(document), *({"id": None, "uri": url} for url in other_urls(connection, document))]:
        with connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(queries["find_documents"], scope).fetchall()
        rows = [row for row in rows if collection in {None, row["collection"]}]
        live = [row for row in rows if row["state"] != "removed"]
        found = live or found or rows
        if live:
            break
    if len(found) > 1:
        names = ", ".join(row["collection"] for row in found)
        raise UnknownDocumentError(f"{document} is in several collections ({names}): name one with -c")
    if found:
        return _document(connection, found[0])
    raise UnknownDocumentError(_why_unknown(connection, document, collection))


def possible_uris(document: str) -> list[str]:
    """Return the URIs that a URI (perhaps with an anchor) or a local path may mean, the likeliest first."""
    from sourcebook.files.listing import file_uri

    if "://" in document:
        uri = document.encode("utf-8", "replace").decode()
        uris = [uri, uri.partition("#")[0]]
        if uri.lower().startswith(("http://", "https://")):
            uris += _normal_forms(uri)
        return list(dict.fromkeys(uris))
    path = os.path.abspath(os.path.expanduser(document))  # noqa: PTH100, PTH111 - names need not be valid Unicode
    folder, name = os.path.split(path)
    # A source's root has its links followed; below it files keep the names they were found by.
    paths = [os.path.realpath(path), os.path.join(os.path.realpath(folder), name), path]  # noqa: PTH118
    return list(dict.fromkeys(file_uri(path) for path in paths))


def _keys(document: str) -> list[dict[str, Any]]:
    uris: list[dict[str, Any]] = [{"id": None, "uri": uri} for uri in possible_uris(document)]
    return [{"id": int(document), "uri": None}, *uris] if document.isascii() and document.isdigit() else uris


def _normal_forms(url: str) -> list[str]:
    try:
        from sourcebook.web.url import normal_form
    except ModuleNotFoundError:  # without the extra `web` a URL has to be given as the ledger has it
        return []
    found = normal_form(url)
    return [found] if found is not None else []


def other_urls(connection: Connection, document: str) -> list[str]:
    """Return where a URL leads that may be no document itself: by redirects, as canonical, or with the same content."""
    urls = [uri for uri in possible_uris(document) if uri.startswith(("http://", "https://"))]
    return [url for (url,) in connection.execute(queries["other_urls"], {"urls": urls})] if urls else []


def _document(connection: Connection, row: dict[str, Any]) -> Document:
    with connection.cursor(row_factory=class_row(Passage)) as cursor:
        passages = cursor.execute(queries["document_chunks"], {"document_id": row["document_id"]}).fetchall()
    item = _item(row, len(passages))
    return Document(item, row["text"] or "", row["metadata"] or {}, row["tags"], tuple(passages))


def _item(row: dict[str, Any], chunks: int) -> Item:
    return Item(
        document_id=row["document_id"],
        collection=row["collection"],
        uri=row["uri"],
        title=row["title"],
        kind=row["kind"],
        media_type=row["media_type"],
        language=row["language"],
        version=row["version"],
        chunks=chunks,
        state=row["state"],
        error=row["error"],
    )


def _why_unknown(connection: Connection, document: str, collection: str | None) -> str:
    for uri in possible_uris(document):
        found = connection.execute(queries["items_without_document"], {"uri": uri, "collection": collection}).fetchone()
        if found:
            name, state, error = found
            return f"{document} is known to {name} but is no document: {error or state}"
    return f"there is no document {document}: `sourcebook documents` lists what there is"
