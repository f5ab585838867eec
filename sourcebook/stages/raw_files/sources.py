"""The folders, stores, repositories, records and uploads of a collection, as the ledger has them."""

from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.config.speech import SpeechSettings
from sourcebook.database.queries import queries
from sourcebook.errors import FailureClass
from sourcebook.files.source import FetchedRecords, FetchedRepository, Source, UploadedFile
from sourcebook.git.tree import Tree
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.model.upload_names import upload_uri


def collection_sources(connection: Connection, collection: str, selection: Selection = EVERYTHING) -> list[Source]:
    """Return the live folders, stores, repositories and uploads of a collection, or those that the selection names."""
    return _sources(connection, collection, selection, with_removed=False)


def every_source(connection: Connection, collection: str) -> list[Source]:
    """Return the folders, stores, repositories and uploads of a collection, also those that left its configuration."""
    return _sources(connection, collection, EVERYTHING, with_removed=True)


def source_of(connection: Connection, collection: str, number: int, sha256: bytes) -> Source | None:
    """Return one of them by its id, with no other uploads than those of some bytes; None where it is gone."""
    found = _sources(connection, collection, EVERYTHING, with_removed=True, number=number, sha256=sha256)
    return found[0] if found else None


def _sources(
    connection: Connection,
    collection: str,
    selection: Selection,
    *,
    with_removed: bool,
    number: int | None = None,
    sha256: bytes | None = None,
) -> list[Source]:
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            queries["collection_sources"],
            {
                "collection": collection,
                "locations": list(selection.sources),
                "max_recording_bytes": SpeechSettings().max_bytes,
                "with_removed": with_removed,
                "source_id": number,
            },
        ).fetchall()
    return [
        _source(
            row,
            _uploads(connection, row, sha256) if row["is_uploads"] else None,
            _records(connection, row) if row["is_records"] else None,
        )
        for row in rows
    ]


def _uploads(connection: Connection, row: dict[str, Any], sha256: bytes | None) -> dict[str, UploadedFile]:
    """Return the present uploads of a source by their URIs, or those of some bytes."""
    rows = connection.execute(queries["uploaded_files"], {"source_id": row["id"], "sha256": sha256})
    return {
        upload_uri(row["location"], name): UploadedFile(name, sha256, size, tuple(tags), store)
        for name, sha256, size, tags, store in rows
    }


def _records(connection: Connection, row: dict[str, Any]) -> FetchedRecords:
    """Return the last look at a source of records."""
    state = row["record_state"]
    if state is None:
        reason = f"{row['location']} has not been read yet"
        return FetchedRecords({}, reason, FailureClass.MISSING)
    failures = connection.execute(queries["record_failures"], {"source_id": row["id"]})
    return FetchedRecords(
        {uri: (reason, FailureClass(failure_class)) for uri, reason, failure_class in failures},
        state.get("error"),
        FailureClass(state["failure_class"]) if state.get("failure_class") else None,
    )


def _source(row: dict[str, Any], uploads: dict[str, UploadedFile] | None, records: FetchedRecords | None) -> Source:
    return Source(
        row["id"],
        row["location"],
        tuple(row["include"]),
        tuple(row["exclude"]),
        row["max_bytes"],
        row["max_recording_bytes"],
        row["listing_error"],
        row["follow_links"],
        _repository(row) if row["is_repository"] else None,
        records=records,
        is_fixed=row["is_fixed"],
        has_permissions=row["has_permissions"],
        grantees=row["grantees"],
        wants_acls=row["wants_acls"],
        uploads=uploads,
    )


def _repository(row: dict[str, Any]) -> FetchedRepository:
    mirror, commit = row["git_mirror"], row["git_commit"]
    return FetchedRepository(
        Tree(mirror, commit, row["folder"] or "") if mirror and commit else None,
        row["git_error"],
        FailureClass(row["git_error_class"]) if row["git_error_class"] else None,
    )
