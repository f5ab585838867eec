"""Uploads: bytes that a caller sends to a collection under a name, version by version.

They are a source of their own, beside those of the configuration, and become documents at the next ingest. The bytes
get their place in the store before the row that refers to them, under a lock that keeps them from being deleted.
"""

import logging
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from psycopg import Connection
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from sourcebook.admin.announced_documents import announce_document, withdraw_document
from sourcebook.admin.audit import record_event
from sourcebook.admin.collections import check_collections, permissions_of_uploads
from sourcebook.config.collection import FilesSource
from sourcebook.config.principals import named_principals
from sourcebook.contract.uploads import Upload
from sourcebook.database.queries import queries
from sourcebook.errors import (
    AccessError,
    EmptyUploadError,
    QueryError,
    SourcebookError,
    UnknownCollectionError,
    UnknownUploadError,
)
from sourcebook.files.upload_store import IncomingBytes, UploadStore, remove_upload_bytes
from sourcebook.model.upload_names import SCHEME, upload_name, upload_tags, upload_uri

_LOCK: Final = 0x50_0B0B
"""Key of the advisory lock between storing bytes and deleting them."""
_HALF: Final = 5
"""Half the digits of the random name of a collection's uploads."""
_MOST: Final = 1_000
"""Uploads of one list, at most."""
_log = logging.getLogger(__name__)


class UploadReaders(NamedTuple):
    """Principals who see an upload, and those who do not, whatever else they are."""

    allowed: tuple[str, ...]
    denied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewUpload:
    """Bytes that have arrived, with the name that they are to have."""

    name: str
    incoming: IncomingBytes
    tags: tuple[str, ...] = ()
    """Tags of the document; where empty, those of the version before."""
    title: str | None = None
    """Title of the document in place of its own; None leaves the one that was given before."""
    readers: UploadReaders | None = None
    """Principals who see the document, or not; None for those of the version before, otherwise of the collection."""


def add_uploads(
    connection: Connection, collection: str, new: Sequence[NewUpload], *, actor: str, may_open: bool = True
) -> list[Upload]:
    """Store bytes that have arrived, all of them or none, and return them as uploads.

    Bytes equal to the present version change nothing but the tags and who sees them, where these are given.

    Args:
        connection: in autocommit mode.
        collection: name of the collection.
        new: the bytes with their names.
        actor: who uploads them.
        may_open: whether a name that was uploaded before may be seen by others from now on.

    Raises:
        AccessError: a name was uploaded before, and others would see it.
    """
    checked = [_checked(each) for each in new]
    if len({each.name for each in checked}) < len(checked):
        raise QueryError("two of the uploads have the same name")
    for each in checked:
        each.incoming.finish()
        if not each.incoming.size:
            raise EmptyUploadError("an upload has no bytes")
    check_collections(connection, [collection])
    contents = {each.incoming.sha256: each.incoming for each in checked}
    announced = {
        "sha256s": list(contents),
        "sizes": [incoming.size for incoming in contents.values()],
        "stores": [incoming.store.location for incoming in contents.values()],
    }
    connection.execute(queries["announce_upload_bytes"], announced)
    with connection.transaction():
        connection.execute(queries["share_upload_bytes"], {"lock": _LOCK})
        connection.execute(queries["announce_upload_bytes"], announced)  # they may have been deleted in between
        for incoming in contents.values():
            incoming.publish()
        source = _lock_source(connection, collection)
        _permit(connection, collection, source, checked, actor=actor, may_open=may_open)
        return [_add(connection, collection, each, actor) for each in checked]


def list_uploads(
    connection: Connection,
    collections: Sequence[str] | None = None,
    *,
    limit: int = 50,
    after: tuple[str, str] | None = None,
) -> list[Upload]:
    """Return the present uploads by collection and name."""
    if not 1 <= limit <= _MOST:
        raise QueryError(f"the limit is {limit}; it must be 1 to {_MOST:,}")
    if collections is not None:
        check_collections(connection, collections)
    values = {
        "collections": None if collections is None else list(collections),
        "after_collection": None if after is None else after[0],
        "after_name": None if after is None else after[1],
        "limit": limit,
    }
    return _read(connection, "uploads", values)


def list_versions(connection: Connection, collection: str, name: str) -> list[Upload]:
    """Return every version of an upload that is kept, the newest first."""
    check_collections(connection, [collection])
    return _versions(connection, {"collection": collection, "name": upload_name(name)})


def permit_upload(
    connection: Connection, collection: str, name: str, readers: UploadReaders | None, *, actor: str
) -> Upload:
    """Let others see an upload from now on, or those whom the collection names; return it."""
    place = {"collection": collection, "name": upload_name(name)}
    with connection.transaction():
        check_collections(connection, [collection])
        source = _lock_source(connection, collection)
        present = _present(connection, place)
        item = {"source_id": source.id, "uri": present.uri}
        before = _readers(connection, {**place, **item})
        if readers == before:
            return present
        if readers is not None:
            said = [{"uri": present.uri, **_said(readers)}]
            connection.execute(queries["permit_items"], {"source_id": source.id, "items": Jsonb(said)})
        else:
            for each in ("hold_permissions", "forget_item_permission", "follow_item"):
                connection.execute(queries[each], item)
        _record_readers(connection, collection, place["name"], before, readers, actor)
        return replace(present, changed=True)


def remove_upload(connection: Connection, collection: str, name: str, *, actor: str) -> Upload:
    """Remove an upload; its document is gone at the next ingest, its bytes once the retention has passed."""
    place = {"collection": collection, "name": upload_name(name)}
    with connection.transaction():
        check_collections(connection, [collection])
        _lock_source(connection, collection)
        _present(connection, place)
        connection.execute(queries["end_upload"], place)
        record_event(connection, actor, "upload.remove", f"collection {collection}", {"name": place["name"]})
        (removed, *_) = _versions(connection, place)
        withdraw_document(connection, collection, removed.uri)
        return replace(removed, changed=True)


def delete_unreferenced_bytes(connection: Connection) -> int:
    """Delete the bytes that no upload needs any more, and unfinished ones; return the number of contents.

    Bytes that their store does not delete now stay for the next time.

    Args:
        connection: in autocommit mode.
    """
    deleted = []
    with connection.transaction():
        connection.execute(queries["hold_upload_bytes"], {"lock": _LOCK})
        for sha256, store in connection.execute(queries["unreferenced_upload_bytes"]).fetchall():
            try:
                remove_upload_bytes(sha256, store)
            except (OSError, SourcebookError) as error:
                _log.warning("uploaded bytes are still in %s: %s", store, error)
                continue
            deleted.append(sha256)
        if deleted:
            connection.execute(queries["forget_upload_bytes"], {"sha256s": deleted})
        stores = [store for (store,) in connection.execute(queries["upload_stores"])]
    for store in stores:
        try:
            UploadStore(store).remove_abandoned()
        except OSError as error:
            _log.warning("unfinished uploads are still in %s: %s", store, error)
    return len(deleted)


def new_location() -> str:
    """Return the location of the uploads of a collection, which does not show its name."""
    return f"{SCHEME}{secrets.token_hex(_HALF)}"


def upload_readers(
    allowed: Iterable[str] | str | None, denied: Iterable[str] | str | None = None
) -> UploadReaders | None:
    """Return who sees an upload, and who does not, each once and sorted; None where it names nobody.

    Raises:
        QueryError: a text is no principal, `allowed` names none, either names too many, or `denied` stands alone.
    """
    if allowed is None and denied:
        raise QueryError("denied: say in allowed who sees it, such as everyone")
    return None if allowed is None else UploadReaders(_named("allowed", allowed), _named("denied", denied or ()))


def _named(field: str, texts: Iterable[str] | str) -> tuple[str, ...]:
    given = [texts] if isinstance(texts, str) else list(texts)
    try:
        return named_principals(given) if given or field == "allowed" else ()
    except ValueError as error:
        raise QueryError(f"{field}: {error}") from None


def _checked(new: NewUpload) -> NewUpload:
    readers = upload_readers(*new.readers) if new.readers else None
    return replace(new, name=upload_name(new.name), tags=upload_tags(new.tags), readers=readers)


def _readers(connection: Connection, item: Mapping[str, Any]) -> UploadReaders | None:
    """Return whom an upload names, by its collection and URI."""
    row = connection.execute(queries["item_permission"], item).fetchone()
    return None if row is None else UploadReaders(*map(tuple, row))


def _said(readers: UploadReaders | None) -> dict[str, list[str] | None]:
    return {
        "allowed": None if readers is None else list(readers.allowed),
        "denied": list(readers.denied if readers else ()),
    }


def _record_readers(
    connection: Connection,
    collection: str,
    name: str,
    before: UploadReaders | None,
    after: UploadReaders | None,
    actor: str,
) -> None:
    details = {"name": name, "before": _said(before)["allowed"], **_said(after)}
    if before and before.denied:
        details["before_denied"] = list(before.denied)
    record_event(connection, actor, "upload.permit", f"collection {collection}", details)


def _permit(
    connection: Connection, collection: str, source: "_Place", new: Sequence[NewUpload], *, actor: str, may_open: bool
) -> None:
    """Record who sees uploads that say so, before their documents are announced."""
    items = []
    for each in new:
        if each.readers is None:
            continue
        uri = upload_uri(source.location, each.name)
        before = _readers(connection, {"collection": collection, "uri": uri})
        if before == each.readers:
            continue
        if not may_open and _versions(connection, {"collection": collection, "name": each.name}):
            raise AccessError("who sees an upload that is there is changed by a key with the scope admin alone")
        items.append({"uri": uri, **_said(each.readers)})
        _record_readers(connection, collection, each.name, before, each.readers, actor)
    if items:
        connection.execute(queries["permit_items"], {"source_id": source.id, "items": Jsonb(items)})


class _Place(NamedTuple):
    id: int
    location: str


def _lock_source(connection: Connection, collection: str) -> _Place:
    """Lock the source of uploads until the end of the transaction, made where there is none."""
    if connection.execute(queries["hold_collection"], {"collection": collection}).fetchone() is None:
        raise UnknownCollectionError("there is no such collection")
    most = FilesSource.model_fields["max_bytes"].default
    location = new_location()
    made = {"collection": collection, "location": location, "max_bytes": most}
    said = permissions_of_uploads(connection, collection, location)
    connection.execute(queries["make_uploads_source"], {**made, "permissions": said})
    (row,) = connection.execute(queries["lock_uploads_source"], {"collection": collection}).fetchall()
    return _Place(*row)


def _add(connection: Connection, collection: str, new: NewUpload, actor: str) -> Upload:
    """Insert the next version, or return the present one where it has the same bytes."""
    place = {"collection": collection, "name": new.name}
    digest = new.incoming.sha256
    present = next(iter(_versions(connection, place, is_live=True)), None)
    tags = list(new.tags) or (list(present.tags) if present is not None else [])
    details = {"name": new.name, "sha256": digest.hex(), "bytes": new.incoming.size, "tags": tags}
    if present is not None and present.sha256 == digest.hex():
        if tags == list(present.tags):
            return replace(present, document_id=_announced(connection, present, new.title))
        connection.execute(queries["tag_upload"], {**place, "tags": tags})
        record_event(connection, actor, "upload.tag", f"collection {collection}", details)
    else:
        connection.execute(queries["end_upload"], place)
        connection.execute(queries["add_upload"], {**place, "sha256": digest, "tags": tags, "actor": actor})
        record_event(connection, actor, "upload.add", f"collection {collection}", details)
    (added,) = _versions(connection, place, is_live=True)
    return replace(added, document_id=_announced(connection, added, new.title), changed=True)


def _announced(connection: Connection, upload: Upload, title: str | None) -> int | None:
    """Return the id of the document of an upload."""
    location = upload.uri.removesuffix(upload_uri("", upload.name))
    return announce_document(connection, upload.collection, location, upload.uri, tags=upload.tags, title=title)


def _present(connection: Connection, place: Mapping[str, str]) -> Upload:
    """Return the present version of an upload."""
    if found := _versions(connection, place, is_live=True):
        return found[0]
    name, collection = place["name"], place["collection"]
    raise UnknownUploadError(f"there is no upload {name!r} in {collection}: `sourcebook uploads` lists them")


def _versions(connection: Connection, place: Mapping[str, str], *, is_live: bool = False) -> list[Upload]:
    return _read(connection, "upload_versions", {**place, "is_live": is_live})


def _read(connection: Connection, query: str, values: dict[str, Any]) -> list[Upload]:
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries[query], values).fetchall()
    places = [(row["collection"], upload_uri(row.pop("location"), row["name"])) for row in rows]
    asked = {"collections": list({name for name, _ in places}), "uris": list({uri for _, uri in places})}
    known = {
        (name, uri): number for name, uri, number in connection.execute(queries["ids_of_documents"], asked).fetchall()
    }
    return [
        Upload(uri=place[1], document_id=known.get(place), tags=tuple(row.pop("tags")), **row)
        for place, row in zip(places, rows, strict=True)
    ]
