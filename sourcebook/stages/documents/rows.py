"""Rows of the ledger that the stage `documents` reads: settings, stale items, parsed contents, crawled pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.rows import class_row, dict_row

from sourcebook.config.parsing import ParsingSettings
from sourcebook.database.queries import queries
from sourcebook.model.document import JsonValue
from sourcebook.model.media_types import SOURCE_RECORD
from sourcebook.model.selection import Selection
from sourcebook.parsing.registry import parser_identities
from sourcebook.redaction.ingestion import with_identity
from sourcebook.stages.ingest_redaction import redaction_identity

ContentKey = tuple[bytes, str]
"""Key of `parsed_content`: hash of an item's bytes, and identity of its parser."""


@dataclass(frozen=True, slots=True)
class StaleDocument:
    """A file, page or recording whose document is missing or stale."""

    uri: str
    source_id: int
    sha256: bytes
    media_type: str
    format: str
    """Key of the parser: the media type, `page`, `transcript`, or `taken`."""
    parser: str
    tags: list[str]
    kind: str
    size: int
    metadata: dict[str, JsonValue] | None
    """Metadata of a page or a recording; None where the parser extracts them."""
    container: str | None
    """URI of the message that an attachment belongs to."""
    number: int | None
    """Position among the attachments of the message, from 0."""
    document_id: int | None
    content_hash: bytes | None
    is_taken: bool
    """Whether it is a document of another collection, whose parsed content it has."""

    @property
    def key(self) -> ContentKey:
        """Key of its content."""
        return (self.sha256, self.parser)


@dataclass(frozen=True, slots=True)
class CrawledContent:
    """Content of a crawled page: Markdown and blocks of an HTML page, the bytes of any other document."""

    source_id: int
    url: str
    markdown: str | None
    blocks: list[list[Any]] | None
    title: str | None
    language: str | None
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Content:
    """A row of `parsed_content` without the text."""

    title: str | None
    language: str | None
    metadata: dict[str, Any]
    content_hash: bytes
    has_text: bool
    nothing_to_read: str | None
    """Reason why it holds no text, where the parser knows one."""
    has_document: bool = False
    """Whether a document, of any collection, has this content."""
    attachments: int | None = None
    """Number of the files in it; None where it is not known."""
    title_in_reports: str | None = None
    """Its title, redacted where its collection redacts; None where it was not parsed now."""


def parsing_settings(connection: Connection, collection: str) -> ParsingSettings:
    """Return the parsing settings of a collection, the defaults where it has none."""
    row = connection.execute(queries["parsing_settings"], {"collection": collection}).fetchone()
    return ParsingSettings.model_validate(row[0]) if row and row[0] else ParsingSettings()


def document_identities(connection: Connection, collection: str) -> dict[str, str]:
    """Return the identity of what makes the documents of each format: its parser, and redaction at ingestion."""
    redaction = redaction_identity(connection, collection)
    identities = parser_identities(parsing_settings(connection, collection))
    return {format_: with_identity(parser, redaction) for format_, parser in identities.items()}


def stale_documents(
    connection: Connection,
    collection: str,
    identities: Mapping[str, str],
    selection: Selection,
    uris: list[str] | None = None,
) -> list[StaleDocument]:
    """Return the items whose document is missing or stale: small ones from the newest to the oldest, then larger ones.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        identities: see `document_identities`.
        selection: items to return.
        uris: items to compare; None: every item.
    """
    if uris == []:
        return []
    with connection.cursor(row_factory=class_row(StaleDocument)) as cursor:
        cursor.execute(
            queries["stale_documents"],
            {
                "collection": collection,
                "uris": uris,
                "formats": list(identities),
                "parsers": list(identities.values()),
                "documents": list(selection.documents),
                "locations": list(selection.sources),
                "only_failed": selection.only_failed,
                "force": selection.force,
            },
        )
        return cursor.fetchall()


def known_contents(connection: Connection, items: Sequence[StaleDocument]) -> dict[ContentKey, Content]:
    """Return the parsed contents that exist for the items, in any collection, by `StaleDocument.key`."""
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(
            queries["parsed_contents"],
            {"sha256s": [item.sha256 for item in items], "parsers": [item.parser for item in items]},
        )
        return {(row.pop("sha256"), row.pop("parser")): Content(**row) for row in cursor}


def record_contents(connection: Connection, items: Sequence[StaleDocument]) -> dict[tuple[int, str], bytes]:
    """Return the bytes of the records among the items, by source and URI."""
    records = [item for item in items if item.media_type == SOURCE_RECORD]
    if not records:
        return {}
    scope = {"source_ids": [item.source_id for item in records], "uris": [item.uri for item in records]}
    rows = connection.execute(queries["record_contents"], scope)
    return {(source_id, uri): content for source_id, uri, content in rows}


def page_contents(connection: Connection, items: Sequence[StaleDocument]) -> dict[tuple[int, str], CrawledContent]:
    """Return the content of the crawled pages among the items, by source and URL."""
    pages = [item for item in items if item.kind == "page"]
    if not pages:
        return {}
    with connection.cursor(row_factory=class_row(CrawledContent)) as cursor:
        cursor.execute(
            queries["page_contents"],
            {"source_ids": [page.source_id for page in pages], "urls": [page.uri for page in pages]},
        )
        return {(page.source_id, page.url): page for page in cursor}
