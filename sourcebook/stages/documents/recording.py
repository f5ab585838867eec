"""Record what became of items: parsed contents, documents and failures, in the transaction of the caller."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from psycopg import Cursor
from psycopg.types.json import Jsonb

from sourcebook.database.parsed_content import parsed_content_row
from sourcebook.database.queries import queries
from sourcebook.files.listing import LONGEST_URI, too_long
from sourcebook.files.reading import name_as_title
from sourcebook.model.document import Attachment, ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.model.media_types import ARCHIVES, CONTAINERS, is_recording, media_type_of_name
from sourcebook.parsing.registry import parser_for, skip_reason
from sourcebook.stages.documents.reader import Reading
from sourcebook.stages.documents.rows import Content, ContentKey, StaleDocument
from sourcebook.stages.documents.run import DocumentsRun

_NOTHING_TO_READ = {
    "file": "it holds no text",
    "page": "it holds no text",
    "recording": "no speech was recognised in it",
}


def record(cursor: Cursor[Any], run: DocumentsRun, readings: Sequence[Reading]) -> None:
    """Record items whose document is made, or that failed.

    Args:
        cursor: in a transaction.
        run: the run of the stage.
        readings: the items.
    """
    for reading in readings:
        if reading.other_bytes is not None:
            item = {"source_id": reading.item.source_id, "uri": reading.item.uri}
            cursor.execute(queries["record_other_bytes"], {**item, **reading.other_bytes})
    _record_contents(cursor, readings)
    rows = [_row(run, reading.item, reading.content) for reading in readings if reading.content is not None]
    if rows:
        cursor.executemany(queries["record_documents"], rows)
    for reading in readings:
        if (failure := reading.failure) is not None:
            most = failure.failure_class.most_attempts if failure.is_temporary else 1
            row = _identity(run, reading.item) | {
                "failure": run.texts.text(failure.reason),
                "failure_class": failure.failure_class,
                "most_attempts": most,
            }
            cursor.execute(queries["record_document_failure"], row)


def _record_contents(cursor: Cursor[Any], readings: Sequence[Reading]) -> None:
    parsed: dict[ContentKey, tuple[ParsedDocument, Content, str]] = {}
    for item, making in ((reading.item, reading.making) for reading in readings):
        if making is not None and making.document is not None and making.content is not None:
            parsed.setdefault(item.key, (making.document, making.content, item.media_type))
    # In the order of their keys, because two collections that write equal contents wait for each other.
    rows = [parsed_content_row(*key, parsed[key][0], parsed[key][1].content_hash) for key in sorted(parsed)]
    if rows:
        cursor.executemany(queries["record_parsed_contents"], rows)
    for key, (document, _, media_type) in parsed.items():
        if document.attachments or media_type in CONTAINERS:
            record_attachments(cursor, key, document.attachments, in_archive=media_type in ARCHIVES)


def _row(run: DocumentsRun, item: StaleDocument, content: Content) -> dict[str, Any]:
    nothing = content.nothing_to_read or _NOTHING_TO_READ[item.kind]
    # The files in a file that is itself in another one are no items.
    unread = content.attachments or 0 if item.container is not None else 0
    metadata = with_left_out(content.metadata, {"attachments": unread})
    return {
        **_identity(run, item, content.title),
        "language": content.language,
        "metadata": Jsonb(metadata if item.metadata is None else item.metadata),
        "content_hash": content.content_hash,
        "skip_reason": None if content.has_text else nothing,
    }


def _identity(run: DocumentsRun, item: StaleDocument, title: str | None = None) -> dict[str, Any]:
    title = title or name_as_title(item.uri)
    return {
        "collection": run.collection,
        "source_id": item.source_id,
        "uri": item.uri,
        "kind": item.kind,
        "media_type": item.media_type,
        "tags": item.tags,
        "title": title if run.redactor is None else run.redactor.redact(title).text,
        "sha256": item.sha256,
        "parser": item.parser,
    }


def record_attachments(
    cursor: Cursor[Any], key: ContentKey, attachments: Sequence[Attachment], *, in_archive: bool
) -> None:
    """Record the attachments of a message or PDF, or the files of an archive, in place of those that it had.

    Args:
        cursor: in the transaction that records the document.
        key: hash of its bytes, and identity of its parser.
        attachments: what it holds, in order.
        in_archive: whether it is an archive.
    """
    cursor.execute(queries["forget_attachments"], {"sha256": key[0], "parser": key[1]})
    cursor.execute(
        queries["record_attachments"],
        {
            "container_sha256": key[0],
            "container_parser": key[1],
            "numbers": list(range(len(attachments))),
            "paths": [_path(attachment, in_archive=in_archive) for attachment in attachments],
            "media_types": [attachment.media_type for attachment in attachments],
            "sizes": [attachment.size for attachment in attachments],
            "sha256s": [attachment.sha256 for attachment in attachments],
            "skip_reasons": [_skip_reason(attachment, in_archive=in_archive) for attachment in attachments],
        },
    )


def unindexable_attachments(item: StaleDocument, document: ParsedDocument | None) -> Iterator[tuple[str, str]]:
    """Yield the addresses, cut off, of files in a file that become no items, each with the reason."""
    for attachment in document.attachments if document is not None else ():
        uri = f"{item.uri}/{_path(attachment, in_archive=item.media_type in ARCHIVES)}"
        if len(uri) > LONGEST_URI:
            yield uri[:LONGEST_URI], too_long(len(uri))


def _path(attachment: Attachment, *, in_archive: bool) -> str:
    return quote(attachment.name, safe="/" if in_archive else "")


def _skip_reason(attachment: Attachment, *, in_archive: bool) -> str | None:
    if is_recording(attachment.media_type):
        return (
            "recordings within archives are not transcribed; unpack it into the source"
            if in_archive
            else "recordings within messages and documents are not transcribed; save it beside them"
        )
    if attachment.media_type in ARCHIVES:
        if not in_archive:
            return "archives within messages and documents are not opened; save it beside them"
        if media_type_of_name(attachment.name) not in ARCHIVES:
            return "an archive in an archive is opened by its ending, such as .zip; give it that, or unpack it"
    return None if parser_for(attachment.media_type) is not None else skip_reason(attachment.media_type)
