"""Writing of files that were read into the inventory."""

from collections.abc import Sequence
from functools import partial

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.database.queries import queries
from sourcebook.database.refusals import write_in_halves
from sourcebook.errors import FailureClass
from sourcebook.files.source import Source
from sourcebook.model.report import StageReport
from sourcebook.stages.raw_files.read import ReadFile, unstorable_file
from sourcebook.stages.raw_files.rules import KnownFile


def record(connection: Connection, source: Source, files: Sequence[ReadFile]) -> Sequence[ReadFile]:
    """Write the rows of files that were read, one whose values the database refuses as failed; return them so."""
    _, refused = write_in_halves(connection, files, partial(_record, connection, source), unstorable_file)
    failed = {file.entry.uri: unstorable_file(file, refusal) for file, refusal in refused}
    return [failed.get(file.entry.uri, file) for file in files]


def _record(connection: Connection, source: Source, files: Sequence[ReadFile]) -> None:
    _record_files(connection, source, files)
    if source.uploads is not None:
        uris = [file.entry.uri for file in files]
        tags = [list(source.uploads[uri].tags) for uri in uris]
        connection.execute(queries["tag_files"], {"source_id": source.id, "uris": uris, "tags": Jsonb(tags)})


def _record_files(connection: Connection, source: Source, files: Sequence[ReadFile]) -> None:
    connection.execute(
        queries["record_files"],
        {
            "source_id": source.id,
            "uris": [file.entry.uri for file in files],
            "sizes": [file.entry.size for file in files],
            "modified": [file.entry.modified for file in files],
            "sha256s": [file.sha256 for file in files],
            "media_types": [file.media_type for file in files],
            "hashed_at": [file.hashed_at for file in files],
            "skip_reasons": [file.skip_reason for file in files],
            "failures": [file.failure for file in files],
            "failure_classes": [file.failure_class for file in files],
            "touched": [file.entry.touched or None for file in files],
        },
    )


def count(report: StageReport, file: ReadFile, known: KnownFile | None) -> None:
    """Count a file that was read; `known` is its row before."""
    if file.failure is not None:
        report.fail(file.entry.uri, file.failure, file.failure_class or FailureClass.OTHER)
    elif known is None or not known.live:
        report.added += 1
    elif (file.sha256, file.skip_reason) == (known.sha256, known.skip_reason) and not known.failed:
        report.unchanged += 1
    else:
        report.changed += 1
    if file.skip_reason is not None:
        report.count("skipped")
