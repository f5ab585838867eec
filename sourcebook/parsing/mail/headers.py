"""The headers of a message as people read them, whatever is broken about them."""

import re
from datetime import datetime
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime

from sourcebook.parsing.html.charset import codec_name
from sourcebook.parsing.text.decode import clean, decode

_LONGEST = 10_000
_MOST_ADDRESSES = 200
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


def header(message: Message, name: str) -> str:
    """Return a header's text on one line: encoded words and raw 8-bit text decoded; "" where there is none."""
    wanted = name.lower()
    raw = next((value for key, value in message.raw_items() if key.lower() == wanted), "")
    return decoded(str(raw)[:_LONGEST])


def decoded(raw: str) -> str:
    """Decode a header's value (RFC 2047); what cannot be decoded stays as it is."""
    if not raw.isascii():
        raw = decode(raw.encode("utf-8", "surrogateescape")).text
    # Encoded words apart by a line end and white space are one text, which `decode_header` only sees without line ends.
    raw = re.sub(r"\r?\n[ \t]*", " ", raw)
    try:
        text = "".join(_piece(piece, charset) for piece, charset in decode_header(raw))
    except (HeaderParseError, ValueError):
        text = raw
    return one_line(text)


def addresses(message: Message, name: str) -> tuple[str, ...]:
    """Return the addresses of a header as `Name <address>`, at most 200."""
    wanted = name.lower()
    raw = [str(value)[: 10 * _LONGEST] for key, value in message.raw_items() if key.lower() == wanted]
    try:
        pairs = getaddresses([re.sub(r"\s+", " ", value) for value in raw])
    except RecursionError:  # the library follows comments within comments
        pairs = []
    found = [text for person, address in pairs if (text := address_text(decoded(person), decoded(address)))]
    # The library takes a list for none where it cannot be sure of it.
    return tuple(found[:_MOST_ADDRESSES]) or tuple(text for value in raw if (text := decoded(value[:_LONGEST])))


def address_text(name: str, address: str) -> str:
    """Return `Name <address>`, or what there is of it."""
    name = name.strip("\"' ")
    if not address or not name or name == address:
        return address or name
    return f"{name} <{address}>"


def sent_date(message: Message) -> datetime | None:
    """Return when the message says it was sent."""
    try:
        return parsedate_to_datetime(header(message, "date"))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def one_line(text: str) -> str:
    """Return text without control characters, white space collapsed."""
    return " ".join(_CONTROL.sub(" ", clean(text)).split())


def _piece(piece: str | bytes, charset: str | None) -> str:
    if isinstance(piece, str):
        return piece
    codec = codec_name(charset) if charset else None
    return piece.decode(codec, errors="replace") if codec else decode(piece).text
