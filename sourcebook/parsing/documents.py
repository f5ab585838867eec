"""The stage `documents`: make every live item's document, of bytes that lie there, of a crawled page, of a transcript.

Renames, removals and returns are settled in one statement each. What is left to read is parsed unless the same bytes
were parsed by the same parser before, wherever they lay.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from psycopg import Connection
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from sourcebook.batches import batched_by_size
from sourcebook.database.queries import queries
from sourcebook.database.statistics import refresh_statistics
from sourcebook.errors import ParseError
from sourcebook.files.inventory import collection_sources
from sourcebook.files.reading import name_as_title
from sourcebook.files.source import Source
from sourcebook.parsing.block_rows import block_rows
from sourcebook.parsing.item_reader import CrawledContent, ItemReader, StaleDocument
from sourcebook.parsing.registry import parser_for, parser_identities
from sourcebook.parsing.types import ParsedDocument
from sourcebook.progress import Progress, silent
from sourcebook.report import StageReport
from sourcebook.selection import EVERYTHING, Selection
from sourcebook.speech.ledger import transcripts_of_files
from sourcebook.speech.types import Transcript

BATCH = 64
BATCH_BYTES = 16_000_000
_NOTHING_TO_READ = {
    "file": "it holds no text",
    "page": "it holds no text",
    "recording": "no speech: nobody is heard to speak in it",
}


@dataclass(frozen=True, slots=True)
class Content:
    """What `parsed_content` says of one key, without the text."""

    title: str | None
    language: str | None
    metadata: dict[str, Any]
    content_hash: bytes
    has_text: bool


def update_documents(
    connection: Connection, collection: str, selection: Selection = EVERYTHING, progress: Progress = silent
) -> StageReport:
    """Bring the documents of a collection up to date with its inventory."""
    report = StageReport()
    scope = {"collection": collection}
    with connection.transaction():
        _rename(connection, collection, report)
        report.removed = connection.execute(queries["remove_documents"], scope).rowcount
        returned = {uri for (uri,) in connection.execute(queries["restore_documents"], scope)}
        if returned:
            report.added += len(returned)
            report.count("returned", len(returned))
        connection.execute(queries["refresh_document_sources"], scope)
    stale = _stale_documents(connection, collection, selection)
    sources = {source.id: source for source in collection_sources(connection, collection)}
    done = 0
    for batch in batched_by_size(stale, BATCH, BATCH_BYTES, size=attrgetter("size")):
        for item, content in _make(connection, collection, batch, sources, selection, report):
            if item.content_hash is None:
                report.added += 1
            elif item.content_hash != content.content_hash and item.uri not in returned:
                report.changed += 1
            if not content.has_text:
                report.count("skipped")
        done += len(batch)
        progress(done, len(stale))
    row = connection.execute(queries["count_live_documents"], scope).fetchone()
    report.unchanged = max((row[0] if row else 0) - report.added - report.changed - report.failed, 0)
    refresh_statistics(connection, "analyze_documents", report)
    row = connection.execute(queries["documents_version"], scope).fetchone()
    return report.finish(row[0] if row else "")


def content_hash(document: ParsedDocument) -> bytes:
    """Return the identity of a document's content: sha256 over its Markdown, blocks and title."""
    digest = hashlib.sha256(document.markdown.encode())
    digest.update(b"\0" + json.dumps(block_rows(document.blocks), ensure_ascii=False).encode())
    digest.update(b"\0" + (document.title or "").encode())
    return digest.digest()


def _rename(connection: Connection, collection: str, report: StageReport) -> None:
    renamed = connection.execute(queries["rename_documents"], {"collection": collection}).fetchall()
    if not renamed:
        return
    report.count("renamed", len(renamed))
    report.changed += len(renamed)
    by_name = [(number, uri) for number, uri, named_after_file in renamed if named_after_file]
    connection.execute(
        queries["set_titles"],
        {"ids": [number for number, _ in by_name], "titles": [name_as_title(uri) for _, uri in by_name]},
    )


def _stale_documents(connection: Connection, collection: str, selection: Selection) -> list[StaleDocument]:
    identities = parser_identities()
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


def _make(
    connection: Connection,
    collection: str,
    batch: Sequence[StaleDocument],
    sources: dict[int, Source],
    selection: Selection,
    report: StageReport,
) -> list[tuple[StaleDocument, Content]]:
    """Parse and record one batch, and return what was made; each document is whole or not there."""
    cached = {} if selection.force else _cached(connection, batch)
    wanted = [item for item in batch if item.key not in cached]
    reader = ItemReader(sources, _pages(connection, wanted), _transcripts(connection, wanted))
    parsed: dict[tuple[bytes, str], ParsedDocument] = {}
    made: list[tuple[StaleDocument, Content]] = []
    failed: list[tuple[StaleDocument, str]] = []
    moved: list[tuple[StaleDocument, dict[str, Any]]] = []
    for stale in batch:
        if stale.key in cached:
            made.append((stale, cached[stale.key]))
            report.count("reused")
            continue
        try:
            item, other, parse = reader.read(stale)
            if other is not None:
                moved.append((item, other))
                if parser_for(item.media_type) is None:
                    continue  # it is no file to be parsed any more
            document = parse()
        except FileNotFoundError:
            failed.append((stale, "it vanished between listing and reading"))
            continue
        except OSError as error:
            failed.append((stale, f"it cannot be read: {error.strerror or error}"))
            continue
        except ParseError as error:
            failed.append((stale, str(error)))
            continue
        content = Content(
            document.title, document.language, dict(document.metadata), content_hash(document), bool(document.blocks)
        )
        parsed[item.key] = document
        cached[item.key] = content
        made.append((item, content))
    with connection.transaction(), connection.cursor() as cursor:
        for item, other in moved:
            cursor.execute(queries["record_other_bytes"], {"source_id": item.source_id, "uri": item.uri, **other})
        if parsed:
            cursor.executemany(
                queries["record_parsed_contents"],
                [_content_row(key, document, cached[key]) for key, document in parsed.items()],
            )
        if made:
            cursor.executemany(queries["record_documents"], [_row(collection, *pair) for pair in made])
        for item, reason in failed:
            cursor.execute(queries["record_document_failure"], {**_identity(collection, item), "failure": reason})
    for item, reason in failed:
        report.fail(item.uri, reason)
    return made


def _pages(connection: Connection, items: Sequence[StaleDocument]) -> dict[tuple[int, str], CrawledContent]:
    pages = [item for item in items if item.kind == "page"]
    if not pages:
        return {}
    with connection.cursor(row_factory=class_row(CrawledContent)) as cursor:
        cursor.execute(
            queries["page_contents"],
            {"source_ids": [page.source_id for page in pages], "urls": [page.uri for page in pages]},
        )
        return {(page.source_id, page.url): page for page in cursor}


def _transcripts(connection: Connection, items: Sequence[StaleDocument]) -> dict[tuple[int, str], Transcript]:
    recordings = [item for item in items if item.kind == "recording"]
    return transcripts_of_files(connection, [(item.source_id, item.uri) for item in recordings]) if recordings else {}


def _cached(connection: Connection, batch: Sequence[StaleDocument]) -> dict[tuple[bytes, str], Content]:
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(
            queries["parsed_contents"],
            {"sha256s": [item.sha256 for item in batch], "parsers": [item.parser for item in batch]},
        )
        return {(row.pop("sha256"), row.pop("parser")): Content(**row) for row in cursor}


def _content_row(key: tuple[bytes, str], document: ParsedDocument, content: Content) -> dict[str, Any]:
    return {
        "sha256": key[0],
        "parser": key[1],
        "markdown": document.markdown,
        "blocks": Jsonb(block_rows(document.blocks)),
        "title": document.title,
        "page_count": document.page_count,
        "language": document.language,
        "metadata": Jsonb(content.metadata),
        "content_hash": content.content_hash,
    }


def _identity(collection: str, item: StaleDocument) -> dict[str, Any]:
    return {
        "collection": collection,
        "source_id": item.source_id,
        "uri": item.uri,
        "kind": item.kind,
        "media_type": item.media_type,
        "tags": item.tags,
        "title": name_as_title(item.uri),
        "sha256": item.sha256,
        "parser": item.parser,
    }


def _row(collection: str, item: StaleDocument, content: Content) -> dict[str, Any]:
    return {
        **_identity(collection, item),
        "title": content.title or name_as_title(item.uri),
        "language": content.language,
        "metadata": Jsonb(content.metadata if item.metadata is None else item.metadata),
        "content_hash": content.content_hash,
        "skip_reason": None if content.has_text else _NOTHING_TO_READ[item.kind],
    }
