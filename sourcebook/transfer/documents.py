"""The documents of an export: Markdown with front matter, original bytes, or lines of JSON."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.files.reading import open_file, store_errors
from sourcebook.files.source import Source
from sourcebook.redaction.documents import redact_document, redactor_of
from sourcebook.redaction.for_models import redactions_in_force
from sourcebook.redaction.redactor import Redactor
from sourcebook.stages.raw_files import every_source
from sourcebook.transfer.export_files import ExportFiles
from sourcebook.transfer.file_names import file_name_of

MARKDOWN: Final = "documents"
ORIGINALS: Final = "originals"
JSON_LINES: Final = "documents.jsonl"
_AT_ONCE: Final = 32
"""Documents that are fetched at once."""
_PIECE: Final = 1 << 18
"""Bytes of a file that are copied at once; most files are smaller, and compared before they are written."""
_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that YAML refuses in a text, and JSON does not."""


class DocumentsWriter:
    """Writes the live documents of one collection.

    Args:
        connection: in a transaction that reads one moment.
        collection: the name of the collection.
        files: the files of the export.
        folder: name of the collection's folder among them.
        redactor: replaces personal data and secrets in Markdown, titles and metadata; originals are left out then.
    """

    def __init__(
        self,
        connection: Connection,
        collection: str,
        files: ExportFiles,
        folder: str,
        redactor: Redactor | None = None,
    ) -> None:
        self._connection = connection
        self._collection = collection
        self._files = files
        self._folder = folder
        self._redactor = redactor
        self._sources = {source.id: source for source in every_source(connection, collection)}

    def write(self, formats: Sequence[str]) -> tuple[int, int]:
        """Write every document in each format that holds documents; return the numbers of documents and originals."""
        documents = originals = 0
        with ExitStack() as opened:
            lines = None
            if "jsonl" in formats:
                lines = opened.enter_context(self._files.file(f"{self._folder}/{JSON_LINES}"))
            cursor = opened.enter_context(self._connection.cursor("export_documents", row_factory=dict_row))
            cursor.itersize = _AT_ONCE
            for row in cursor.execute(queries["export_documents"], {"collection": self._collection}):
                documents += 1
                row = row if self._redactor is None else redacted_row(self._redactor, row)
                facts = facts_of(row)
                if "markdown" in formats:
                    facts["original"] = self._write_original(row) if self._redactor is None else None
                    originals += facts["original"] is not None
                    self._write_markdown(row, facts)
                if lines is not None:
                    text = json.dumps({**facts, "markdown": row["markdown"]}, ensure_ascii=False)
                    lines.write(f"{text}\n".encode())
        return documents, originals

    def _write_markdown(self, row: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        name = f"{MARKDOWN}/{file_name_of(row['uri'], row['source_location'], '.md')}"
        self._files.put(f"{self._folder}/{name}", f"{front_matter(facts)}\n{row['markdown']}\n".encode())

    def _write_original(self, row: Mapping[str, Any]) -> str | None:
        """Copy the bytes that a document was made from; return their path, None where the source has other ones."""
        if row["bytes_sha256"] is None:
            return None  # a page, whose Markdown is all that is kept, or an attachment, which is in its message
        name = f"{ORIGINALS}/{file_name_of(row['uri'], row['source_location'])}"
        path = f"{self._folder}/{name}"
        if row["is_stored"]:
            found = self._connection.execute(
                queries["stored_page"], {"source": row["source_id"], "uri": row["uri"]}
            ).fetchone()
            # Its hash in the ledger may leave out what changes at every request: that of the bytes is listed.
            self._files.put(path, found[0] if found else b"")
            return name
        source = self._sources.get(row["source_id"])
        return name if source is not None and self._copy(source, row["uri"], row["bytes_sha256"], path) else None

    def _copy(self, source: Source, uri: str, sha256: bytes, path: str) -> bool:
        """Copy the bytes of a document; return whether the source has those that it was made from."""
        with ExitStack() as opened:
            try:
                with store_errors(source):
                    file = opened.enter_context(open_file(source, uri))
                    first = file.read(_PIECE)
                    second = file.read(_PIECE) if len(first) == _PIECE else b""
            except OSError:
                return False
            if not second:
                is_whole = hashlib.sha256(first).digest() == sha256
                if is_whole:
                    self._files.put(path, first, sha256)
                return is_whole
            target = opened.enter_context(self._files.file(path))
            piece = first
            while piece:
                target.write(piece)
                try:
                    with store_errors(source):
                        piece, second = second, file.read(_PIECE)
                except OSError:
                    target.is_kept = False
                    return False
            target.is_kept = target.sha256 == sha256
            return target.is_kept


def front_matter(facts: Mapping[str, Any]) -> str:
    """Return facts as YAML front matter; each value is written as JSON, which YAML includes."""
    lines = [f"{key}: {_json(value)}" for key, value in facts.items() if value is not None]
    return "\n".join(["---", *lines, "---", ""])


def redacted_row(redactor: Redactor, row: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a document with its text, title and metadata redacted, without hashes to try guesses on."""
    redaction = redact_document(redactor, row["markdown"] or "")
    title = row["title"] and redaction.words(row["title"])
    facts = {"title": title, "metadata": redaction.values(row["metadata"]), "input_hash": None, "content_hash": None}
    return {**row, **facts, "markdown": redaction.redacted.text}


def facts_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that the ledger knows of a document, from a row of the query `export_documents`."""
    return {
        "uri": row["uri"],
        "title": row["title"],
        "collection": row["collection"],
        "kind": row["kind"],
        "media_type": row["media_type"],
        "language": row["language"],
        "tags": row["tags"],
        "metadata": row["metadata"],
        "dated": _moment(row["dated_at"]),
        "pages": row["page_count"],
        "version": row["version"],
        "created": _moment(row["created_at"]),
        "updated": _moment(row["updated_at"]),
        "source": {"kind": row["source_kind"], "location": row["source_location"]},
        "sha256": row["input_hash"].hex() if row["input_hash"] else None,
        "content_hash": row["content_hash"].hex() if row["content_hash"] else None,
        "parser": row["config_hash"],
        "original": None,
    }


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def document_markdown(
    connection: Connection, document: int, *, with_source: bool = True, unredacted: bool = False
) -> tuple[str, str]:
    """Return the name of a file and its text as an export writes it: front matter, and the Markdown of a document.

    A collection that redacts what leaves it has its text, title and metadata redacted.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(queries["export_one_document"], {"document": document}).fetchone()
    if row is None:
        raise QueryError(f"document {document} has no text yet: ingest it first")
    rows = connection.execute(queries["collection_redactions"], {"collections": [row["collection"]]}).fetchall()
    settings = redactions_in_force(dict(rows)).get(row["collection"])
    if settings is not None and not unredacted:
        row = redacted_row(redactor_of(settings), row)
    name = PurePosixPath(file_name_of(row["uri"], row["source_location"], ".md")).name
    facts = facts_of(row)
    if not with_source:
        del facts["source"]
    return name, f"{front_matter(facts)}\n{row['markdown']}\n"
