"""Bodies of uploads, written to the store as they arrive: memory does not grow with them.

Whatever goes wrong before a body is whole leaves nothing of it.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from sourcebook.admin.uploads import NewUpload, UploadReaders
from sourcebook.errors import SourcebookError, UploadNameError
from sourcebook.files.upload_store import IncomingBytes, UploadStore
from sourcebook.model.upload_names import upload_name

_PIECE: Final = 1 << 20
"""Bytes that are written at once."""
_MOST_FILES: Final = 1_000
_LONGEST_FIELD: Final = 1_000
"""Bytes of a field that comes before the files."""
FIELD: Final = "file"
"""Name of the parts that are files."""


class RefusedBodyError(SourcebookError):
    """The body of an upload is none that can be stored.

    Args:
        status: HTTP status of the answer.
        reason: sentence that repeats nothing of the body.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class UploadBody:
    """The uploads of one body; `close` deletes those that were not stored."""

    def __init__(self, store: UploadStore, tags: Sequence[str] = ()) -> None:
        self.uploads: list[NewUpload] = []
        self.refused: list[tuple[str, str]] = []
        """Names of files that were not taken, each with the reason."""
        self.tags = tuple(tags)
        """Tags of those that begin from now on."""
        self.readers: UploadReaders | None = None
        """Principals who see them and who do not, where a form names these."""
        self._store = store
        self._unstored = ExitStack()

    def refuse(self, name: str, reason: str) -> None:
        """Leave a file out; what has arrived of it is deleted with the body."""
        self.refused.append((name, reason))

    def begin(self, name: str) -> IncomingBytes:
        """Return the writer of the next upload.

        Raises:
            UploadError: the store cannot be written.
        """
        incoming = self._unstored.enter_context(self._store.begin())
        self.uploads.append(NewUpload(name, incoming, self.tags))
        return incoming

    def close(self) -> None:
        """Delete what was not stored."""
        self._unstored.close()


@dataclass(frozen=True, slots=True)
class FormStart:
    """The fields of a form that come before its files."""

    names: frozenset[str]
    """Names of the fields; a part of another name is refused."""
    check: Callable[[dict[str, str]], None]
    """Called with the fields before the first file is begun; what it raises ends the upload."""


async def receive_bytes(request: Request, body: UploadBody, name: str) -> None:
    """Write a body that is one file to the store.

    Raises:
        RefusedBodyError: the body is empty.
        UploadError: the store cannot be written.
        ClientDisconnect: the client has gone before the end.
    """
    incoming = await run_in_threadpool(body.begin, name)
    async for piece in _pieces(request):
        await run_in_threadpool(incoming.write, piece)
    if not incoming.size:
        raise RefusedBodyError(422, "the body has no bytes")


async def receive_files(request: Request, body: UploadBody, form: FormStart | None = None) -> None:
    """Write the files of a multipart body to the store.

    Args:
        request: the request.
        body: the uploads of the body.
        form: fields that come before the files; none where None.

    Raises:
        RefusedBodyError: the body is no multipart form, is not whole, has a part that is no file, or no file that can
            be taken.
        UploadError: the store cannot be written.
        ClientDisconnect: the client has gone before the end.
    """
    media_type, options = parse_options_header(request.headers.get("content-type", "").encode("latin-1", "replace"))
    if media_type != b"multipart/form-data":
        raise RefusedBodyError(415, "send the files as multipart/form-data; PUT takes one file as it is")
    try:
        parts = _Parts(body, options.get(b"boundary", b""), form)
        async for piece in _pieces(request):
            await run_in_threadpool(parts.write, piece)
    except FormParserError:
        raise RefusedBodyError(400, "the body is no valid multipart/form-data") from None
    parts.end()


class _Parts:
    """The parts of a multipart body, parsed as they arrive."""

    def __init__(self, body: UploadBody, boundary: bytes, form: FormStart | None = None) -> None:
        if not boundary:
            raise RefusedBodyError(400, "the Content-Type of the body names no boundary")
        self._body = body
        self._header = bytearray()
        self._value = bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._incoming: IncomingBytes | None = None
        self._form = form
        self._fields: dict[str, str] = {}
        self._field: tuple[str, bytearray] | None = None
        self._is_whole = False
        self._files = 0
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._headers.clear,
                "on_header_field": lambda data, start, end: self._header.extend(data[start:end]),
                "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
                "on_header_end": self._end_header,
                "on_headers_finished": self._begin_part,
                "on_part_data": self._write,
                "on_part_end": self._end_part,
                "on_end": self._end,
            },
        )

    def write(self, piece: bytes) -> None:
        self._parser.write(piece)

    def end(self) -> None:
        if not self._is_whole:
            raise RefusedBodyError(400, "the body ends before its last boundary")
        if not self._body.uploads:
            refused = next((f"file 1{reason}" for _, reason in self._body.refused), None)
            nothing = "no file was chosen" if self._form else f"the body has no file: the parts are named `{FIELD}`"
            raise RefusedBodyError(422, refused or nothing)

    def _end_header(self) -> None:
        self._headers[bytes(self._header).lower()] = bytes(self._value)
        self._header.clear()
        self._value.clear()

    def _begin_part(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        name = options.get(b"name", b"").decode("utf-8", "replace")
        if self._form is not None and not self._files:
            if name in self._form.names and b"filename" not in options:
                self._field = (name, bytearray())
                return
            self._form.check(self._fields)
        self._begin_file(options)

    def _begin_file(self, options: dict[bytes, bytes]) -> None:
        self._incoming = None
        self._files += 1
        number = self._files
        if number > _MOST_FILES:
            raise RefusedBodyError(422, f"the body has more than {_MOST_FILES:,} files")
        if options.get(b"name") != FIELD.encode() or b"filename" not in options:
            raise RefusedBodyError(422, f"part {number} is no file: the parts are named `{FIELD}` and have a filename")
        written = options[b"filename"]
        if not written and self._form is not None:  # what a browser sends of a field without a file
            return
        try:
            name = upload_name(written.decode())
        except UnicodeDecodeError:
            self._body.refuse(written.decode("utf-8", "replace"), ": the name is not in UTF-8")
        except UploadNameError as error:
            self._body.refuse(written.decode(), f": {error}")
        else:
            self._incoming = self._body.begin(name)

    def _write(self, data: bytes, start: int, end: int) -> None:
        if self._field is not None:
            self._field[1].extend(data[start:end])
            if len(self._field[1]) > _LONGEST_FIELD:
                raise RefusedBodyError(422, "a field of the form is too long")
        elif self._incoming is not None:
            self._incoming.write(memoryview(data)[start:end])

    def _end_part(self) -> None:
        if self._field is not None:
            self._fields[self._field[0]] = self._field[1].decode("utf-8", "replace")
            self._field = None
        elif self._incoming is not None:
            if self._incoming.size:
                self._incoming.finish()
            else:
                self._body.refuse(self._body.uploads.pop().name, " has no bytes")
            self._incoming = None

    def _end(self) -> None:
        self._is_whole = True


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    """Yield a body in pieces that are worth a write.

    Raises:
        RefusedBodyError: the body is packed: its bytes would be stored as they came.
    """
    if request.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise RefusedBodyError(415, "send the bytes of files as they are, without Content-Encoding")
    held = bytearray()
    async for arrived in request.stream():
        held += arrived
        if len(held) >= _PIECE:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)
