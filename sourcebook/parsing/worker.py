"""The tasks of a parser's process."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import ARCHIVES, MESSAGES, PDF
from sourcebook.parsing.page_seconds import Pages, pages
from sourcebook.parsing.parse import parse, ran_out_of_memory
from sourcebook.processes.child import memory_limit

OUT_OF_MEMORY = 70
"""Exit status of a process that ran out of memory with its first document."""
OUT_OF_MEMORY_LEFT = 71
"""Exit status of a process that ran out of memory with a later document: earlier ones may have taken it."""
_is_used = False
"""Whether this process has parsed a document."""


@dataclass(frozen=True, slots=True)
class AttachmentPlace:
    """The place of an attachment in its message or PDF, or of a file in its archive."""

    media_type: str
    """Media type of the message, PDF or archive."""
    number: int
    """Number of the attachment, counted from 0."""
    sha256: bytes
    """SHA-256 of the attachment when its container was read."""


@dataclass(frozen=True, slots=True)
class ParserTask:
    """A document to parse."""

    content: bytes | Path
    """The whole file, or the whole message that it is attached to: its bytes, or the path of a temporary file."""
    name: str
    media_type: str
    settings: ParsingSettings
    attachment: AttachmentPlace | None = None


def load() -> None:
    """Return nothing: the call loads this module, and what every document needs, into the process."""


def pages_of(task: ParserTask, memory: int) -> Pages:
    """Return what a document's pages need, within `memory` bytes; nothing where they cannot be counted."""
    with memory_limit(memory):
        try:
            return pages(_content(task), media_type=task.media_type, settings=task.settings)
        except (MemoryError, OSError):  # the parser reports it better
            return Pages()


def parse_task(task: ParserTask, memory: int) -> ParsedDocument:
    """Parse a document within `memory` bytes.

    A process that runs out of memory ends, with the status `OUT_OF_MEMORY` or `OUT_OF_MEMORY_LEFT`: the memory that it
    keeps would be missing to the next documents. The limit holds during a document alone: a process that cannot receive
    the next one would break the pool.

    Raises:
        ParseError: see `parse`; or the file or its message cannot be read.
    """
    global _is_used
    status = OUT_OF_MEMORY_LEFT if _is_used else OUT_OF_MEMORY
    _is_used = True
    with memory_limit(memory):
        try:
            return parse(_content(task), name=task.name, media_type=task.media_type, settings=task.settings)
        except MemoryError:
            os._exit(status)
        except ParseError as error:
            if ran_out_of_memory(error.__cause__):
                os._exit(status)
            raise
        except OSError as error:
            raise ParseError(
                f"its temporary copy cannot be read: {error.strerror or error}; ingest again", FailureClass.UNREADABLE
            ) from error


def member_content(container: bytes, place: AttachmentPlace, memory: int) -> bytes:
    """Return the bytes of an attachment, or of a file in an archive, within `memory` bytes.

    Raises:
        ParseError: the container cannot be read, or has other bytes there.
    """
    with memory_limit(memory):
        return _attachment(container, place)


def _content(task: ParserTask) -> bytes:
    content = task.content.read_bytes() if isinstance(task.content, Path) else task.content
    return content if task.attachment is None else _attachment(content, task.attachment)


def _attachment(container: bytes, place: AttachmentPlace) -> bytes:
    try:
        content = _contained(container, place)
    except (ParseError, MemoryError):
        raise
    except Exception as error:  # a parsing library may raise anything on a broken file
        raise ParseError(
            "the file that it came with cannot be read; open and save that again", FailureClass.CORRUPT
        ) from error
    if sha256(content).digest() != place.sha256:
        raise ParseError(
            f"the {'archive that it is in' if place.media_type in ARCHIVES else 'file that it came with'} has "
            "changed; the next ingest reads it again",
            FailureClass.MISSING,
        )
    return content


def _contained(container: bytes, place: AttachmentPlace) -> bytes:
    if place.media_type in ARCHIVES:
        from sourcebook.parsing.archives.read_archive import member_content

        return member_content(container, media_type=place.media_type, number=place.number)
    if place.media_type == PDF:
        from sourcebook.parsing.pdf import attachments

        return attachments.attachment_content(container, place.number)
    if place.media_type in MESSAGES:
        from sourcebook.parsing.mail.attachments import attachment_content

        return attachment_content(container, media_type=place.media_type, number=place.number)
    from sourcebook.parsing.office.embedded_files import embedded_content

    return embedded_content(container, number=place.number)
