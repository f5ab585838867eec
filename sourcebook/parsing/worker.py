"""What a parser's process does."""

import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Thread

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.page_seconds import page_seconds
from sourcebook.parsing.parse import parse, ran_out_of_memory
from sourcebook.parsing.pdf.ocr.threads import share_cores
from sourcebook.processes.serve import wait_for_end

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


def prepare(parent: int, processes: int, folder: Path | None) -> None:
    """Begin a parser's process, which leaves with its parent and shares the cores with others of its kind.

    What parsing libraries print of odd files reaches nobody: the terminal is the user's.

    Args:
        parent: Its process id.
        processes: How many share the cores.
        folder: Where content lies; goes with a parent that is killed.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    share_cores(processes)
    Thread(target=_leave_with_parent, args=(parent, folder), daemon=True).start()


def seconds_of_pages(task: ParserTask) -> float:
    """Return what the pages of a document add to its time limit; 0 where they cannot be counted."""
    with _memory_limit(task.settings.memory):
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
    with _memory_limit(task.settings.memory):
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


def _leave_with_parent(parent: int, folder: Path | None) -> None:
    wait_for_end(parent)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


@contextmanager
def _memory_limit(size: int) -> Iterator[None]:
    # What is mapped but never written, as of libraries, does not count. Not every system heeds this limit. It holds for
    # the document alone: a process that cannot take the next one takes all others along.
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (size if most == resource.RLIM_INFINITY else min(size, most), most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


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
