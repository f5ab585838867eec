"""What a parser's process does."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.page_seconds import page_seconds
from sourcebook.parsing.parse import parse, ran_out_of_memory
from sourcebook.processes.child import memory_limit

OUT_OF_MEMORY = 70
OUT_OF_MEMORY_LEFT = 71
_is_used = False


@dataclass(frozen=True, slots=True)
class AttachmentPlace:
    """Which of a message's attachments is meant."""

    media_type: str
    """Of the message."""
    number: int
    """Counted from 0."""
    sha256: bytes
    """Of the attachment, as it was when the message was read."""


@dataclass(frozen=True, slots=True)
class ParserTask:
    """One document to be parsed."""

    content: bytes | Path
    """The whole file, or the whole message that it came with: its bytes, or where they lie."""
    name: str
    media_type: str
    settings: ParsingSettings
    attachment: AttachmentPlace | None = None


def seconds_of_pages(task: ParserTask) -> float:
    """Return what the pages of a document add to its time limit; 0 where they cannot be counted."""
    with memory_limit(task.settings.memory):
        try:
            return page_seconds(_content(task), media_type=task.media_type, settings=task.settings)
        except (MemoryError, OSError):  # its parser tells it better
            return 0.0


def parse_task(task: ParserTask) -> ParsedDocument:
    """Parse a document.

    A process that runs out of memory ends with the status `OUT_OF_MEMORY`, or `OUT_OF_MEMORY_LEFT` where others before
    this document may have taken it: what is left of them would be missing to those that come after it.

    Raises:
        ParseError: As `parse` does; and it, or what it came with, cannot be read.
    """
    global _is_used
    status = OUT_OF_MEMORY_LEFT if _is_used else OUT_OF_MEMORY
    _is_used = True
    with memory_limit(task.settings.memory):
        try:
            return parse(_content(task), name=task.name, media_type=task.media_type, settings=task.settings)
        except MemoryError:
            os._exit(status)
        except ParseError as error:
            if ran_out_of_memory(error.__cause__):
                os._exit(status)
            raise
        except OSError as error:
            raise ParseError(f"its temporary copy cannot be read: {error.strerror or error}; ingest again") from error


def _content(task: ParserTask) -> bytes:
    content = task.content.read_bytes() if isinstance(task.content, Path) else task.content
    return content if task.attachment is None else _attachment(content, task.attachment)


def _attachment(message: bytes, place: AttachmentPlace) -> bytes:
    from sourcebook.parsing.mail.attachments import attachment_content

    try:
        content = attachment_content(message, media_type=place.media_type, number=place.number)
    except (ParseError, MemoryError):
        raise
    except Exception as error:  # a parsing library may raise anything on a broken file
        raise ParseError("the message that it came with cannot be read; open and save that again") from error
    if sha256(content).digest() != place.sha256:
        raise ParseError("the message that it came with has changed; the next ingest reads it anew")
    return content
