"""Headers of a message as readable text, also where they are malformed."""

import re
from datetime import datetime
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime

from sourcebook.parsing.html.charset import codec_name
from sourcebook.parsing.text.decode import clean, decode

_LONGEST = 10_000
"""Characters read of a header."""
_MOST_ADDRESSES = 200
"""Addresses kept of a header."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


def header(message: Message, name: str) -> str:
    """Return a header's decoded text on one line; "" where the header is missing."""
    wanted = name.lower()
    raw = next((value for key, value in message.raw_items() if key.lower() == wanted), "")
    return decoded(str(raw)[:_LONGEST])


def decoded(raw: str) -> str:
    """Decode the encoded words (RFC 2047) and 8-bit characters of a header's value; undecodable words stay."""
    if not raw.isascii():
        raw = decode(raw.encode("utf-8", "surrogateescape")).text
    # `decode_header` joins encoded words only across spaces, not across line breaks.
    raw = re.sub(r"\r?\n[ \t]*", " ", raw)
    try:
        text = "".join(_piece(piece, charset) for piece, charset in decode_header(raw))
    except (HeaderParseError, ValueError):
        text = raw
    return one_line(text)


def addresses(message: Message, name: str) -> tuple[str, ...]:
    """Return the first 200 addresses of a header, each as `Name <address>`."""
    wanted = name.lower()
    raw = [str(value)[: 10 * _LONGEST] for key, value in message.raw_items() if key.lower() == wanted]
    try:
        pairs = getaddresses([re.sub(r"\s+", " ", value) for value in raw])
    except RecursionError:  # from nested comments
        pairs = []
    found = [text for person, address in pairs if (text := address_text(decoded(person), decoded(address)))]
    # `getaddresses` returns nothing for a list that it cannot parse with certainty.
    return tuple(found[:_MOST_ADDRESSES]) or tuple(text for value in raw if (text := decoded(value[:_LONGEST])))


def address_text(name: str, address: str) -> str:
    """Return `Name <address>`, or the one of the two that is not empty."""
    name = name.strip("\"' ")
    if not address or not name or name == address:
        return address or name
    return f"{name} <{address}>"


def sent_date(message: Message) -> datetime | None:
    """Return the date of the Date header, None where it is missing or malformed."""
    try:
        return parsedate_to_datetime(header(message, "date"))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def one_line(text: str) -> str:
    """Return text without control characters, its white space collapsed."""
    return " ".join(_CONTROL.sub(" ", clean(text)).split())


def _piece(piece: str | bytes, charset: str | None) -> str:
    if isinstance(piece, str):
        return piece
    codec = codec_name(charset) if charset else None
    return piece.decode(codec, errors="replace") if codec else decode(piece).text
