"""Files that documents were made from: transcripts, originals and pictures of pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.errors import QueryError
from sourcebook.operations.audited import record_reading
from sourcebook.operations.contents import show
from sourcebook.operations.principals import for_principals

if TYPE_CHECKING:
    from sourcebook.contract.originals import Original
    from sourcebook.model.page_picture import PagePicture
    from sourcebook.model.transcript import Segment
    from sourcebook.operations.opened import Opened
    from sourcebook.operations.principals import AsPrincipals


def transcript(
    knowledge: Opened, document: str | int | Path, collection: str | None = None, *, unredacted: bool = False
) -> tuple[Segment, ...]:
    """Return what is said in a recording, with its times.

    Args:
        document: its id, its URI, or the path of its file.
        collection: name of its collection, where several have it.
        unredacted: whether personal data and secrets are shown also of a collection that redacts them.

    Raises:
        UnknownDocumentError: there is no such document, or several collections have it and none is named.
        QueryError: it is no recording, or has no transcript.
    """
    from sourcebook.admin.redacted_documents import redact_segments
    from sourcebook.stages.transcripts.rows import transcript_of

    item = show(knowledge, document, collection, unredacted=unredacted).item
    with knowledge.database.connection() as connection:
        segments = transcript_of(connection, item.document_id) if item.document_id is not None else None
        if segments is not None:
            record_reading(knowledge, "transcript", item)
            return segments if unredacted else redact_segments(connection, item.collection, segments)
    if item.kind != "recording":
        raise QueryError(f"{item.uri} is not a recording: only recordings have subtitles")
    raise QueryError(f"{item.uri} has no transcript: {item.error or 'run  sourcebook ingest  to bring it up to date'}")


@for_principals
def original(
    knowledge: Opened,
    document: str | int | Path,
    collection: str | None = None,
    *,
    unredacted: bool = False,
    as_principals: AsPrincipals | None = None,
) -> Original:
    """Open the bytes that a document was made from, read again from its source and compared with the ledger.

    Args:
        document: its id, its URI, or the path of its file.
        collection: name of its collection, where several have it.
        unredacted: whether they are given out also where the collection redacts what is in them.
        as_principals: see `search`.

    Returns:
        The bytes with name and media type, to be used in a `with` block, which closes them.

    Raises:
        UnknownDocumentError: there is no such document, or several collections have it and none is named.
        OriginalGoneError: the source has other bytes by now, or none, or only the text of a page was kept.
        OriginalError: the source cannot be read now.
        WithheldError: the collection redacts, and `unredacted` is False.
    """
    from sourcebook.admin.originals import open_original
    from sourcebook.admin.redacted_documents import collection_redactions
    from sourcebook.errors import WithheldError

    item = show(knowledge, document, collection).item
    with knowledge.database.connection() as connection:
        if not unredacted and collection_redactions(connection, [item.collection]):
            raise WithheldError(
                "its collection redacts what leaves it: originals and pages stay inside without unredacted"
            )
        return open_original(connection, item.document_id or 0, knowledge._reading_child().member)


@for_principals
def page_image(
    knowledge: Opened,
    document: str | int | Path,
    page: int,
    collection: str | None = None,
    *,
    scale: float | None = 1.5,
    passage: int | None = None,
    unredacted: bool = False,
    as_principals: AsPrincipals | None = None,
) -> PagePicture:
    """Return a page of a PDF as a picture of at most 2,000 pixels a side, drawn in a process of its own.

    Args:
        document: its id, its URI, or the path of its file.
        page: number of the page, from 1.
        collection: name of its collection, where several have it.
        scale: pixels a point (1/72 inch), up to 10; None for no picture, only the size and the places.
        passage: place of a passage within the document, counted from 0, that is marked; none where None.
        unredacted: see `original`.
        as_principals: see `search`.

    Raises:
        UnknownDocumentError: there is no such document, or several collections have it and none is named.
        QueryError: it is no PDF, cannot be shown, or has no such page or passage.
        OriginalGoneError: see `original`.
        OriginalError: see `original`.
        WithheldError: see `original`.
    """
    from sourcebook.admin.originals import check_scale, draw_page, passage_text

    check_scale(scale)
    found = show(knowledge, document, collection, unredacted=unredacted)
    text = passage_text(found, passage)
    with original(knowledge, found.item.document_id or 0, unredacted=unredacted) as opened:
        return draw_page(opened, page, scale, text, knowledge._reading_child())
