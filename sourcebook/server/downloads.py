"""Answers that hold a file: its name, what a browser may do with it, and parts of it by `Range`."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import IO, Final
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from sourcebook.contract.originals import Original

_PIECE: Final = 1 << 18
"""Bytes that are sent at once."""
_LONGEST_NAME: Final = 150
"""Characters of a file name in a header."""
_SHOWN: Final = frozenset(
    {"application/pdf", "text/plain", "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"}
)
"""Media types that a browser may show in place of saving them; beside sound and films."""
_MEDIA_TYPE: Final = re.compile(r"[a-z]+/[a-z0-9][a-z0-9.+-]*", re.ASCII)
_UNNAMEABLE: Final = re.compile(r"[\0-\x1f\x7f-\x9f/\\\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that no file name has on every system, or that let one look like another."""
_PLAIN: Final = re.compile(r"[^A-Za-z0-9 ._()+-]")
_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)
SANDBOX: Final = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""Content security policy of a file: it runs nothing, loads nothing, and is of no origin."""


def disposition(name: str, *, inline: bool = False) -> str:
    """Return the `Content-Disposition` of a file (RFC 6266), whose name RFC 5987 encodes."""
    clean = _UNNAMEABLE.sub("_", name).strip(" .") or "document"
    if len(clean) > _LONGEST_NAME:
        suffix = PurePosixPath(clean).suffix[:20]
        clean = clean[: _LONGEST_NAME - len(suffix)] + suffix
    plain = _PLAIN.sub("_", clean)
    return f"{'inline' if inline else 'attachment'}; filename=\"{plain}\"; filename*=UTF-8''{quote(clean, safe='')}"


def is_shown(media_type: str) -> bool:
    """Return whether a browser may show a file in place of saving it; HTML and what may hold scripts never."""
    return media_type in _SHOWN or media_type.startswith(("audio/", "video/"))


def file_answer(original: Original, *, inline: bool, wanted: str | None, if_range: str | None) -> Response:
    """Return an original as an answer, which closes it.

    Args:
        original: the original.
        inline: whether a browser is to show it, where it may.
        wanted: the `Range` of the request.
        if_range: the `If-Range` of the request: another entity tag makes the range void.
    """
    media_type = original.media_type if _MEDIA_TYPE.fullmatch(original.media_type) else "application/octet-stream"
    tag = f'"{original.sha256}"'
    headers = {
        **file_headers(original.name, inline=inline and is_shown(media_type)),
        "Cache-Control": "private, no-cache",
        "Accept-Ranges": "bytes",
        "ETag": tag,
    }
    start, end = 0, original.size
    status = 200
    if wanted is not None and if_range in {None, tag}:
        part = _part(wanted, original.size)
        if part is not None:
            start, end = part
            if start >= end:
                original.stream.close()
                return Response(status_code=416, headers={"Content-Range": f"bytes */{original.size}"})
            status = 206
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{original.size}"
    return stream_answer(original.stream, end, media_type=media_type, headers=headers, start=start, status=status)


def file_headers(name: str, *, inline: bool = False) -> dict[str, str]:
    """Return the headers of a file, which a browser saves unless it is `inline`, and which runs nothing."""
    return {
        "Content-Disposition": disposition(name, inline=inline),
        "Content-Security-Policy": SANDBOX,
        "X-Content-Type-Options": "nosniff",
    }


def stream_answer(
    stream: IO[bytes], end: int, *, media_type: str, headers: Mapping[str, str], start: int = 0, status: int = 200
) -> Response:
    """Return bytes as an answer, which closes them.

    Args:
        stream: the bytes; seekable.
        end: the place after the last byte that is sent.
        media_type: without a character set, which nobody knows.
        headers: further headers.
        start: place of the first byte that is sent.
        status: status of the answer.
    """
    # The header itself: the framework would add a character set to text.
    sent = {**headers, "Content-Length": str(end - start), "Content-Type": media_type}
    return _StreamAnswer(stream, start, end, status, sent)


class _StreamAnswer(StreamingResponse):
    """An answer that closes its bytes although its client leaves in the middle."""

    def __init__(self, stream: IO[bytes], start: int, end: int, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(_pieces(stream, start, end), status, headers)
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._stream.close()


def _part(wanted: str, size: int) -> tuple[int, int] | None:
    """Return the part of a file that a `Range` names; an empty one where it has none; None for the whole file."""
    found = _RANGE.fullmatch(wanted.strip())
    if found is None or found[0] == "bytes=-":
        return None
    first, last = found.groups()
    if not first:
        return max(size - int(last), 0), size if int(last) else 0
    if last and int(last) < int(first):
        return None
    return int(first), min(int(last) + 1 if last else size, size)


def _pieces(stream: IO[bytes], start: int, end: int) -> Iterator[bytes]:
    stream.seek(start)
    left = end - start
    while left > 0 and (piece := stream.read(min(_PIECE, left))):
        left -= len(piece)
        yield piece
