"""Redaction of documents that are shown or listed, in the collections whose settings ask for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.database.redacted_titles import redacted_titles
from sourcebook.redaction.for_models import redactions_in_force

if TYPE_CHECKING:
    from sourcebook.model.transcript import Segment
    from sourcebook.redaction.documents import DocumentRedaction


def collection_redactions(connection: Connection, collections: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return the settings of redaction for the reader, by the names of the collections that redact anything.

    Args:
        connection: to the knowledge base.
        collections: names.
    """
    rows = connection.execute(queries["collection_redactions"], {"collections": list(collections)})
    return redactions_in_force(dict.fromkeys(collections) | dict(rows.fetchall()))


def document_redaction(connection: Connection, collection: str, text: str) -> DocumentRedaction | None:
    """Return the redaction of a document by its text; None where its collection redacts nothing.

    Raises:
        ConfigurationError: a file of patterns cannot be read.
        MissingDependencyError: the packages of the extra `server` are not installed.
    """
    settings = collection_redactions(connection, [collection]).get(collection)
    if settings is None:
        return None
    from sourcebook.redaction.documents import redact_document, redactor_of

    return redact_document(redactor_of(settings), text)


def redact_shown(connection: Connection, document: Any) -> Any:
    """Return a `Document` with its text, title, metadata and passages redacted where its collection asks for it."""
    redaction = document_redaction(connection, document.item.collection, document.text)
    if redaction is None:
        return document
    title = document.item.title
    return replace(
        document,
        item=replace(document.item, title=title and redaction.words(title)),
        text=redaction.redacted.text,
        metadata=redaction.values(document.metadata),
        given_metadata=redaction.values(document.given_metadata),
        given_title=document.given_title and redaction.words(document.given_title),
        passages=tuple(replace(each, **redaction.fields(document.text, each)) for each in document.passages),
    )


def redact_titles(connection: Connection, titles: Sequence[tuple[str, int | None, str | None]]) -> list[str | None]:
    """Return titles, redacted in the collections that ask for it.

    Args:
        connection: to the knowledge base.
        titles: (collection, id of the document, title) of each item.
    """
    redactions = collection_redactions(connection, sorted({name for name, *_ in titles})) if titles else {}
    return redacted_titles(connection, titles, redactions)


def redact_segments(connection: Connection, collection: str, segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return the segments of a transcript, redacted where its collection asks for it.

    A value that two segments share, such as a number that is spoken across their border, is found in their joined text.
    """
    settings = collection_redactions(connection, [collection]).get(collection)
    if settings is None:
        return tuple(segments)
    from sourcebook.redaction.documents import redactor_of
    from sourcebook.speech.segments import redacted_segments

    return redacted_segments(redactor_of(settings), segments)
