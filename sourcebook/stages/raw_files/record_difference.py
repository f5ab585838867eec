"""The difference between the records of a source and the inventory, in one set-based query."""

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.files.listing import FileEntry
from sourcebook.files.source import FetchedRecords, Source
from sourcebook.model.selection import Selection
from sourcebook.stages.raw_files.rules import KnownFile, wants_reading
from sourcebook.stages.raw_files.shards import Difference


def compare_records(connection: Connection, source: Source, records: FetchedRecords, selection: Selection) -> Difference:
    """Return the records that the last look has found new, changed or gone."""
    scope = {
        "source_id": source.id,
        "every": bool(selection.force or selection.deep),
        "retry_now": selection.only_failed or selection.force,
    }
    to_read: list[FileEntry] = []
    known: dict[str, KnownFile] = {}
    gone: list[str] = []
    for uri, size, version, skip_reason, is_known, *row in connection.execute(queries["differing_records"], scope):
        if version is None:
            gone.append(uri)
            continue
        entry = FileEntry(uri, uri, size, version, skip_reason)
        file = None
        if is_known:
            known_size, modified, live, retry_due, failed, skipped, media_type, sha256 = row
            file = KnownFile(uri, known_size, modified, live, retry_due, failed, None, skipped, media_type, sha256)
        if wants_reading(entry, file, source, selection):
            to_read.append(entry)
            if file is not None:
                known[uri] = file
    found = connection.execute(queries["count_records"], {"source_id": source.id}).fetchone()
    files = int(found[0]) if found else 0
    error = records.error
    return Difference(
        source, error, records.failure_class if error else None, files, to_read, known, [] if error else gone, []
    )
