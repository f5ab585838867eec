"""What the ledger says of documents: how they are to be parsed, which are stale, what was parsed before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.rows import class_row, dict_row

from sourcebook.config.parsing import ParsingSettings
from sourcebook.database.queries import queries
from sourcebook.model.document import JsonValue
from sourcebook.model.selection import Selection
from sourcebook.parsing.registry import parser_identities


@dataclass(frozen=True, slots=True)
class StaleDocument:
    """One file, page or recording whose document must be made or made again."""

    uri: str
    source_id: int
    sha256: bytes
    media_type: str
    format: str
    """What picks the parser: the media type, `page` or `transcript`."""
    parser: str
    tags: list[str]
    kind: str
    size: int
    metadata: dict[str, JsonValue] | None
    """What a page or a recording says of itself; None where the parser finds it."""
    container: str | None
    """The URI of the message it came with."""
    number: int | None
    """Which of the message's attachments it is, counted from 0."""
    document_id: int | None
    content_hash: bytes | None

    @property
    def key(self) -> tuple[bytes, str]:
        """What its parsed content is kept under."""
        return (self.sha256, self.parser)


@dataclass(frozen=True, slots=True)
class CrawledContent:
    """What a crawl kept of one page: main content and blocks of an HTML page, or else the bytes."""

    source_id: int
    url: str
    markdown: str | None
    blocks: list[list[Any]] | None
    title: str | None
    language: str | None
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Content:
    """What `parsed_content` says of one key, without the text."""

    title: str | None
    language: str | None
    metadata: dict[str, Any]
    content_hash: bytes
    has_text: bool
    nothing_to_read: str | None
    """Why it holds no text, where its parser knows."""


def parsing_settings(connection: Connection, collection: str) -> ParsingSettings:
    """Return how a collection's documents are to be parsed."""
    row = connection.execute(queries["parsing_settings"], {"collection": collection}).fetchone()
    return ParsingSettings.model_validate(row[0]) if row and row[0] else ParsingSettings()


def stale_documents(
    connection: Connection, collection: str, settings: ParsingSettings, selection: Selection
) -> list[StaleDocument]:
    """Return the items whose document must be made or made again, in the order of their URIs."""
    identities = parser_identities(settings)
    with connection.cursor(row_factory=class_row(StaleDocument)) as cursor:
        cursor.execute(
            queries["stale_documents"],
            {
                "collection": collection,
                "formats": list(identities),
                "parsers": list(identities.values()),
                "documents": list(selection.documents),
                "locations": list(selection.sources),
                "only_failed": selection.only_failed,
                "force": selection.force,
            },
        )
        return cursor.fetchall()


def known_contents(connection: Connection, items: Sequence[StaleDocument]) -> dict[tuple[bytes, str], Content]:
    """Return what the same parsers made of the same bytes before, wherever they lay, by `StaleDocument.key`."""
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(
            queries["parsed_contents"],
            {"sha256s": [item.sha256 for item in items], "parsers": [item.parser for item in items]},
        )
        return {(row.pop("sha256"), row.pop("parser")): Content(**row) for row in cursor}


def page_contents(connection: Connection, items: Sequence[StaleDocument]) -> dict[tuple[int, str], CrawledContent]:
    """Return what a crawl kept of the pages among the items, by source and URL."""
    pages = [item for item in items if item.kind == "page"]
    if not pages:
        return {}
    with connection.cursor(row_factory=class_row(CrawledContent)) as cursor:
        cursor.execute(
            queries["page_contents"],
            {"source_ids": [page.source_id for page in pages], "urls": [page.uri for page in pages]},
        )
        return {(page.source_id, page.url): page for page in cursor}
