"""The rows of what a message or an archive holds."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from psycopg import Cursor

from sourcebook.database.queries import queries
from sourcebook.model.document import Attachment
from sourcebook.model.media_types import ARCHIVES, is_recording, media_type_of_name
from sourcebook.parsing.registry import parser_for, skip_reason
from sourcebook.stages.documents.rows import ContentKey


def record_attachments(
    cursor: Cursor[Any], key: ContentKey, attachments: Sequence[Attachment], *, in_archive: bool
) -> None:
    """Record the attachments of a message, or the files of an archive, in place of those that it had.

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
            "paths": [quote(attachment.name, safe="/" if in_archive else "") for attachment in attachments],
            "media_types": [attachment.media_type for attachment in attachments],
            "sizes": [attachment.size for attachment in attachments],
            "sha256s": [attachment.sha256 for attachment in attachments],
            "skip_reasons": [_skip_reason(attachment, in_archive=in_archive) for attachment in attachments],
        },
    )


def _skip_reason(attachment: Attachment, *, in_archive: bool) -> str | None:
    if is_recording(attachment.media_type):
        return (
            "recordings within archives are not transcribed; unpack it into the source"
            if in_archive
            else "recordings within messages are not transcribed; save it beside the message"
        )
    if attachment.media_type in ARCHIVES:
        if not in_archive:
            return "archives within messages are not opened; save it beside the message"
        if media_type_of_name(attachment.name) not in ARCHIVES:
            return "an archive in an archive is opened by its ending, such as .zip; give it that, or unpack it"
    return None if parser_for(attachment.media_type) is not None else skip_reason(attachment.media_type)
