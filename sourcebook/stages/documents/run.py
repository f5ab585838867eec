"""Settings and services of one run of the stage `documents`."""

from dataclasses import dataclass, field

from psycopg import Connection

from sourcebook.config.parsing import ParsingSettings
from sourcebook.files.source import Source
from sourcebook.model.report import StageReport
from sourcebook.model.selection import Selection
from sourcebook.redaction.redactor import Redactor
from sourcebook.stages.documents.rows import document_identities, parsing_settings
from sourcebook.stages.ingest_redaction import ReportTexts, collection_redactor, redaction_identity, report_texts
from sourcebook.stages.raw_files import collection_sources


@dataclass(frozen=True, slots=True)
class DocumentsRun:
    """One run over one collection, or over one of its shards."""

    connection: Connection
    """In autocommit mode."""
    collection: str
    selection: Selection
    report: StageReport
    sources: dict[int, Source]
    """Sources of files, by id."""
    settings: ParsingSettings
    identities: dict[str, str]
    """See `document_identities`."""
    redactor: Redactor | None
    """Replaces what is not stored as it is; None where everything is."""
    redaction: str
    """Identity of what the redactor does; empty without one."""
    texts: ReportTexts
    returned: set[str] = field(default_factory=set)
    """URIs of documents that are back, which the report counts already."""


def documents_run(connection: Connection, collection: str, selection: Selection, report: StageReport) -> DocumentsRun:
    """Return the run of the stage over a selection of a collection, with the settings of the collection."""
    return DocumentsRun(
        connection,
        collection,
        selection,
        report,
        {source.id: source for source in collection_sources(connection, collection)},
        parsing_settings(connection, collection),
        document_identities(connection, collection),
        collection_redactor(connection, collection),
        redaction_identity(connection, collection),
        report_texts(connection, collection),
    )
