"""Permissions of files, written to the ledger where those of the file system differ: no content is read for them."""

from collections.abc import Iterable

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.database.queries import queries
from sourcebook.files.google_readers import GoogleReaders
from sourcebook.files.listing import FileEntry
from sourcebook.files.object_readers import ObjectReaders
from sourcebook.files.posix_readers import FilePermission, PosixReaders
from sourcebook.files.s3_readers import S3Readers
from sourcebook.files.source import Source


def readers_of(source: Source) -> PosixReaders | ObjectReaders | None:
    """Return the readers of the files of a source during one look; None where that decides nothing."""
    if source.grantees is not None:
        return GoogleReaders(source) if source.location.startswith(("gs:", "gcs:")) else S3Readers(source)
    return PosixReaders() if source.has_permissions else None


def permit_files(
    connection: Connection, source: Source, files: PosixReaders | ObjectReaders | None, entries: Iterable[FileEntry]
) -> set[str]:
    """Record who may read listed files; return those whose own owner, group, mode or ACL are others than before.

    Args:
        connection: in autocommit mode.
        source: the source of the files.
        files: who may read them; None where that decides nothing.
        entries: the files.
    """
    if files is None:
        return set()
    listed = list(entries)
    said = files.permissions([entry.path for entry in listed])
    found = {entry.uri: each for entry, each in zip(listed, said, strict=True)}
    rows = connection.execute(queries["item_permissions"], {"source_id": source.id, "uris": list(found)})
    known = {uri: FilePermission(tuple(allowed), tuple(denied), state) for uri, allowed, denied, state in rows}
    other = [
        {"uri": uri, "allowed": list(each.allowed), "denied": list(each.denied), "state": each.state}
        for uri, each in found.items()
        if known.get(uri) != each
    ]
    if other:
        connection.execute(queries["permit_items"], {"source_id": source.id, "items": Jsonb(other)})
    return {
        uri
        for uri, each in known.items()
        if each.state != found[uri].state and "" not in (each.state, found[uri].state)
    }


def unsaid(connection: Connection, source: Source, files: PosixReaders | ObjectReaders | None) -> str | None:
    """Return why nobody sees some objects after a look, and record one that has asked for all of them."""
    if not isinstance(files, ObjectReaders):
        return None
    if source.wants_acls:
        connection.execute(queries["record_acls"], {"source_id": source.id})
    return files.error
