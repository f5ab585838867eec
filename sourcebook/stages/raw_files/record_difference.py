"""The difference between the records of a source and the inventory, in one set-based query."""

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.files.listing import FileEntry
from sourcebook.files.source import FetchedRecords, Source
from sourcebook.model.selection import Selection
from sourcebook.stages.raw_files.rules import KnownFile, settings_digest, wants_reading
from sourcebook.stages.raw_files.shards import Difference


def compare_records(
    connection: Connection, source: Source, records: FetchedRecords, selection: Selection
) -> Difference:
    """Return the records that the last look has found new, changed or gone.

    Where neither records nor inventory have changed since they agreed, no row of either is read.
    """
    folder = f"{source.location}/"
    settles = not (selection.documents or selection.only_failed or selection.force or selection.thorough)
    digest = settings_digest(source)
    listed = connection.execute(queries["listed_folders_among"], {"source_id": source.id, "folders": [folder]})
    _, known_digest, known_files, revision = listed.fetchone() or (folder, None, 0, None)
    if settles and known_digest == digest and records.error is None:
        return Difference(source, None, None, known_files, [], {}, [], [])
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
        # By its name it is text, whatever its key ends with: no recording, and small changes need no Dagster.
        entry = FileEntry(uri, f"{uri}.md", size, version, skip_reason)
        file = None
        if is_known:
            known_size, modified, live, retry_due, failed, skipped, media_type, sha256 = row
            file = KnownFile(uri, known_size, modified, live, retry_due, failed, None, skipped, media_type, sha256)
        if wants_reading(entry, file, source, selection):
            to_read.append(entry)
            if file is not None:
                known[uri] = file
    counts = connection.execute(queries["count_records"], {"source_id": source.id}).fetchone()
    files, has_failures = counts or (0, False)
    error = records.error
    if settles and not (to_read or gone or error or has_failures):
        settled = {"uris": [folder], "digests": [digest], "files": [files], "revisions": [revision]}
        connection.execute(queries["settle_folders"], {"source_id": source.id, **settled})
    return Difference(
        source, error, records.failure_class if error else None, files, to_read, known, [] if error else gone, []
    )
