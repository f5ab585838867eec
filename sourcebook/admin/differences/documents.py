"""Differences between two documents of a knowledge base."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from psycopg import Connection

from sourcebook.admin.differences.compare import compare
from sourcebook.admin.differences.sections import ReadDocument
from sourcebook.admin.items import find_document
from sourcebook.admin.redacted_documents import document_redaction
from sourcebook.contract.differences import ChangedField, DiffRequest, DocumentDifferences
from sourcebook.contract.documents import Document
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.model.document import blocks_of

_TECHNICAL: Final = frozenset(
    {"left_out", "page_labels", "modified", "updated", "created", "front_matter_error", "lastmod"}
)
"""Names of metadata that say nothing about the content."""
_LONGEST: Final = 500
"""Characters of a value that is shown."""


def differences(connection: Connection, request: DiffRequest) -> DocumentDifferences:
    """Return what changed from one document to another.

    Raises:
        UnknownDocumentError: there is no such document, or several collections have it and none is named.
        QueryError: one of them has no text.
    """
    names = (request.first, request.second)
    found = [find_document(connection, name, request.collection, unredacted=request.unredacted) for name in names]
    (first, hides), (second, hides_too) = (_read(connection, each, unredacted=request.unredacted) for each in found)
    one, other = first.sections(), second.sections()
    sections = compare(one, other)
    kept = len(other) - sum(each.after is not None for each in sections)
    notes = ("what the collections redact is compared as its placeholders",) if hides or hides_too else ()
    fields = tuple(_fields(*map(_values, found)))
    return DocumentDifferences(found[0].item, found[1].item, tuple(sections), kept, fields, notes)


def _read(connection: Connection, document: Document, *, unredacted: bool) -> tuple[ReadDocument, bool]:
    """Return a document with its blocks, and whether something in it is redacted."""
    item = document.item
    row = connection.execute(queries["document_blocks"], {"document": item.document_id}).fetchone()
    if row is None:
        raise QueryError(f"{item.uri} has no text to compare: {item.error or 'it has not been read yet'}")
    text, blocks = row
    redaction = None if unredacted else document_redaction(connection, item.collection, text)
    shown: Callable[[int, int], tuple[str, int, int]] = lambda start, end: (text[start:end], start, end)  # noqa: E731
    words: Callable[[str], str] = str
    if redaction is not None:
        whole = redaction.redacted

        def shown(start: int, end: int) -> tuple[str, int, int]:
            begin, stop = whole.place(start), whole.end_place(end)
            return whole.text[begin:stop], begin, stop

        words = redaction.words
    made = ReadDocument(text, blocks_of(blocks), item.link or item.uri, shown, words)
    return made, bool(redaction and redaction.redacted.finds)


def _values(document: Document) -> dict[str, Any]:
    return {"title": document.item.title, **document.metadata}


def _fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[ChangedField]:
    """Yield the values that differ, of those that a person writes."""
    for name in dict.fromkeys([*before, *after]):
        values = (before.get(name), after.get(name))
        if name not in _TECHNICAL and values[0] != values[1] and all(len(str(value)) <= _LONGEST for value in values):
            yield ChangedField(name, *values)
