"""Originals: the bytes that a document was made from, read again from its source as the ledger knows it, and pages."""

import hashlib
import math
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from threading import Lock
from typing import BinaryIO, Final

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.contract.documents import Document
from sourcebook.contract.originals import Original
from sourcebook.database.queries import queries
from sourcebook.errors import OriginalError, OriginalGoneError, ParseError, QueryError, TemporaryParseError
from sourcebook.files.reading import file_name, open_file, store_errors
from sourcebook.files.source import Source
from sourcebook.model.media_types import PDF
from sourcebook.model.page_picture import PagePicture
from sourcebook.parsing.reading_child import ReadingChild
from sourcebook.parsing.worker import AttachmentPlace
from sourcebook.stages.raw_files import source_of

MOST_SCALE: Final = 10.0
"""Pixels a point, at most."""
_MOST_BYTES: Final = 300_000_000
"""Bytes of a PDF whose pages are shown: it is in memory as a whole."""
ReadMember = Callable[[bytes, AttachmentPlace], bytes]
"""Return the bytes of an attachment, or of a file in an archive, from those of its container."""
_PIECE: Final = 1 << 20
"""Bytes that are copied at once."""
_IN_MEMORY: Final = 16 << 20
"""Bytes of a copy that are kept in memory; a larger one is a temporary file."""


_SETTLED_NANOSECONDS: Final = 2_000_000_000
"""Time since the last change of a file after which its next one has another time."""
_MOST_HASHED: Final = 1_000
_hashed: dict[tuple[int, ...], bytes] = {}
"""SHA-256 of local files by their state, the oldest first."""
_hashed_lock = Lock()


@dataclass(frozen=True, slots=True)
class _Origin:
    """The file or page that a document was made from."""

    collection: str
    uri: str
    source_id: int
    media_type: str
    sha256: bytes | None
    """SHA-256 of a file as it was listed; None for all else."""
    size: int | None
    is_stored: bool
    """Whether a site's page is a file whose bytes are kept."""
    is_page: bool


def open_original(connection: Connection, document: int, read_member: ReadMember) -> Original:
    """Return the bytes that a document was made from, which have the hash that the ledger knows."""
    with connection.cursor(row_factory=class_row(_Origin)) as cursor:
        found = cursor.execute(queries["original_of"], {"document": document}).fetchone()
    if found is None:
        raise OriginalGoneError("the document is gone")
    name = file_name(found.uri)
    if found.is_stored:
        scope = {"source": found.source_id, "uri": found.uri}
        row = connection.execute(queries["stored_page"], scope).fetchone()
        return _in_memory(name, found.media_type, bytes(row[0]) if row else b"")
    if found.is_page:
        raise OriginalGoneError(f"{found.uri} is a page, of which only the text was kept: open it at its address")
    if found.sha256 is not None:
        sha256 = bytes(found.sha256)
        source = _source(connection, found.collection, found.source_id, found.uri, sha256)
        stream, size = _checked(source, found.uri, sha256, found.size or 0)
        return Original(name, found.media_type, size, found.sha256.hex(), stream)
    return _member(connection, found.collection, found.uri, name, read_member)


def _member(connection: Connection, collection: str, uri: str, name: str, read_member: ReadMember) -> Original:
    row = connection.execute(queries["attachment_place"], {"collection": collection, "uri": uri}).fetchone()
    if row is None:
        raise OriginalGoneError(f"{uri}: its source no longer has it")
    source_id, container, container_hash, size, container_type, number, sha256, media_type = row
    if container_hash is None or sha256 is None:
        raise OriginalGoneError(f"{uri} was never read from {container}")
    held = bytes(container_hash)
    stream, _ = _checked(_source(connection, collection, source_id, container, held), container, held, size)
    with stream:
        place = AttachmentPlace(container_type or "", number, bytes(sha256))
        try:
            content = read_member(stream.read(), place)
        except TemporaryParseError as error:
            raise OriginalError(f"{uri} cannot be read from {file_name(container)} now: {error}") from error
        except ParseError as error:
            raise OriginalGoneError(f"{uri} cannot be read from {file_name(container)}: {error}") from error
    return _in_memory(name, media_type or "application/octet-stream", content)


def _in_memory(name: str, media_type: str, content: bytes) -> Original:
    return Original(name, media_type, len(content), hashlib.sha256(content).hexdigest(), BytesIO(content))


def _source(connection: Connection, collection: str, number: int, uri: str, sha256: bytes) -> Source:
    found = source_of(connection, collection, number, sha256)
    if found is None:
        raise OriginalGoneError(f"{uri}: its source is gone")
    return found


def _checked(source: Source, uri: str, sha256: bytes, size: int) -> tuple[BinaryIO, int]:
    """Return the bytes of a file where they have a hash, with their number.

    A local file stays open, so that the file that takes its place has no effect; bytes of another store are copied.
    """
    try:
        with store_errors(source):
            opened = open_file(source, uri)
            try:
                if source.is_local:
                    digest, stream = _known_digest(opened), opened
                else:
                    digest, stream = _copied(opened, size)
            except BaseException:
                opened.close()
                raise
    except FileNotFoundError as error:
        raise OriginalGoneError(f"{uri}: its source no longer has it; the next ingest removes the document") from error
    except OSError as error:
        raise OriginalError(f"{uri} cannot be read from its source now ({error.strerror or error})") from error
    if digest != sha256:
        stream.close()
        raise OriginalGoneError(f"{uri}: its source has another version by now; the next ingest reads it")
    end = stream.seek(0, 2)
    stream.seek(0)
    return stream, end


def _known_digest(opened: BinaryIO) -> bytes:
    """Return the hash of a local file, computed once for each of its states: a film is asked for in many parts.

    A file that was changed just now is hashed again: the clock of the file system may not tell two changes apart.
    """
    state = _state(opened)
    with _hashed_lock:
        digest = _hashed.get(state)
    if digest is None:
        digest = _digest(opened)
        if _state(opened) == state and time.time_ns() - max(state[-2:]) > _SETTLED_NANOSECONDS:
            with _hashed_lock:
                _hashed[state] = digest
                while len(_hashed) > _MOST_HASHED:
                    del _hashed[next(iter(_hashed))]
    return digest


def _state(opened: BinaryIO) -> tuple[int, ...]:
    """Return the identity of an open file, its size, and the times of the last changes of its bytes and its inode."""
    found = os.fstat(opened.fileno())
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _digest(opened: BinaryIO) -> bytes:
    digest = hashlib.sha256()
    while piece := opened.read(_PIECE):
        digest.update(piece)
    return digest.digest()


def _copied(opened: BinaryIO, size: int) -> tuple[bytes, BinaryIO]:
    """Return the hash and a copy of bytes; of a file that is larger than it was, no more than that is read."""
    digest, copied = hashlib.sha256(), 0
    copy = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - whoever has the original closes it
    try:
        with opened:
            while copied <= size and (piece := opened.read(_PIECE)):
                digest.update(piece)
                copy.write(piece)
                copied += len(piece)
    except BaseException:
        with suppress(OSError):
            copy.close()
        raise
    return digest.digest(), copy  # type: ignore[return-value] # has every method of a binary file


def check_scale(scale: float | None) -> None:
    """Raise a QueryError where a scale is not allowed."""
    if scale is not None and not (math.isfinite(scale) and 0 < scale <= MOST_SCALE):
        raise QueryError(f"the scale is {scale}; it must be above 0 and at most {MOST_SCALE:g} pixels a point")


def passage_text(document: Document, passage: int | None) -> str:
    """Return the text of a passage of a document; empty for none."""
    if passage is None:
        return ""
    text = next((each.text for each in document.passages if each.ordinal == passage), None)
    if text is None:
        raise QueryError(f"{document.item.uri} has no passage {passage}: it has {len(document.passages)}, from 0")
    return text


def draw_page(original: Original, page: int, scale: float | None, passage: str, child: ReadingChild) -> PagePicture:
    """Return a page of an original as a picture."""
    if original.media_type != PDF:
        raise QueryError(f"{original.name} has no pages to show: only PDFs have")
    if original.size > _MOST_BYTES:
        raise QueryError(f"{original.name} is too large to show its pages: download it")
    try:
        return child.picture(original.stream.read(), page, scale, passage)
    except TemporaryParseError as error:
        raise OriginalError(f"page {page} of {original.name} cannot be shown: {error}") from error
    except ParseError as error:
        raise QueryError(f"page {page} of {original.name} cannot be shown: {error}") from error
