"""Properties of a message, a recipient or an attachment in Outlook's format."""

import re
import struct
from contextlib import suppress
from datetime import datetime

from compressed_rtf import decompress  # type: ignore[import-untyped] # has no types
from oxmsg.domain.model import UnrecognizedCodePageError, UnsupportedEncodingError
from oxmsg.properties import Properties
from oxmsg.storage import Storage
from striprtf.striprtf import rtf_to_text

from sourcebook.parsing.html.charset import decode_page
from sourcebook.parsing.mail.message import Body
from sourcebook.parsing.text.word_counts import word_counts

# Errors of python-oxmsg for a property that is missing, cut off, or in an unknown encoding.
_BROKEN = (
    AttributeError, KeyError, LookupError, OverflowError, TypeError, ValueError, struct.error,
    UnrecognizedCodePageError, UnsupportedEncodingError,
)  # fmt: skip

_CODE_PAGE = 0x3FFD
"""Property with the code page of texts that are not in Unicode."""
_FROM_HTML = re.compile(r"\\fromhtml1\b")
_FROM_HTML_WITHIN = 1000
"""Characters of an RTF document in which its header names the format it was made from."""
_FOR_RTF_READERS = re.compile(r"\\htmlrtf1?(?![a-z0-9]) ?.*?(?:\\htmlrtf0 ?|\Z)|\{\\\*\\mhtmltag[^{}]*\}", re.DOTALL)
_HTML_TAG = re.compile(r"\{\\\*\\htmltag\d* ?")


class OutlookProperties:
    """Reads properties by their number; a missing or broken property is empty."""

    def __init__(self, storage: Storage, *, header_bytes: int, encoding: str = "") -> None:
        """Take the properties of a storage.

        Args:
            storage: the message, or a recipient or attachment in it.
            header_bytes: bytes before its first property.
            encoding: encoding of the message, for the texts of a recipient or attachment.
        """
        self._message_encoding = encoding
        self._properties = Properties(storage, properties_header_offset=header_bytes)
        self._streams = {stream.name.upper(): stream.bytes_ for stream in storage.streams}

    def text(self, number: int) -> str:
        """Return a text property, stored in Unicode or in the message's own encoding."""
        wide = self._stream(number, "001F")
        if wide:
            return wide.decode("utf-16-le", errors="replace").rstrip("\0")
        narrow = self._stream(number, "001E")
        return decode_page(narrow, f"charset={self.encoding()}").text.rstrip("\0") if narrow else ""

    def encoding(self) -> str:
        """Return the encoding of texts that are not in Unicode, "" where nothing names it."""
        page = self.whole_number(_CODE_PAGE)
        return f"cp{page}" if page else self._message_encoding or self._encoding()

    def html(self, number: int) -> str:
        """Return a property of HTML, stored as bytes or as text."""
        binary = self.binary(number)
        return decode_page(binary, f"charset={self._encoding()}").text if binary else self.text(number)

    def binary(self, number: int) -> bytes:
        """Return a binary property."""
        return self._stream(number, "0102")

    def whole_number(self, number: int) -> int | None:
        """Return an integer property."""
        with suppress(*_BROKEN):
            found = self._properties.int_prop_value(number)
            return found if isinstance(found, int) else None
        return None

    def date(self, number: int) -> datetime | None:
        """Return a property of date and time, in UTC."""
        with suppress(*_BROKEN):
            found = self._properties.date_prop_value(number)
            return found if isinstance(found, datetime) else None
        return None

    def _stream(self, number: int, kind: str) -> bytes:
        return self._streams.get(f"__SUBSTG1.0_{number:04X}{kind}", b"")

    def _encoding(self) -> str:
        with suppress(*_BROKEN):
            return self._properties.body_encoding.replace("windows-9", "cp9")  # names that no web page uses
        return ""


def with_rich_text(body: Body, compressed: bytes) -> Body:
    """Return a body whose HTML, where it has none, is that of its compressed RTF, and its plain text the longer one."""
    if body.html.strip() or not compressed:
        return body
    plain, html = rich_text(compressed)
    return Body(plain if word_counts(plain).total() > word_counts(body.plain).total() else body.plain, html)


def rich_text(compressed: bytes) -> tuple[str, str]:
    """Return plain text and HTML of compressed RTF (MS-OXRTFCP): HTML where the RTF was made from HTML, else text.

    Both are empty where the content is no compressed RTF or its checksum is wrong.
    """
    try:
        rtf = decompress(compressed).decode("latin-1")
    except Exception:  # noqa: BLE001 - the library raises `Exception` itself
        return "", ""
    if not _FROM_HTML.search(rtf, 0, _FROM_HTML_WITHIN):
        return _text(rtf), ""
    # HTML in RTF (MS-OXRTFEX): tags are in groups that RTF readers ignore, and `\htmlrtf` marks their substitutes.
    return "", _text(_HTML_TAG.sub("{", _FOR_RTF_READERS.sub("", rtf)))


def _text(rtf: str) -> str:
    with suppress(*_BROKEN):
        text: str = rtf_to_text(rtf, errors="replace")  # type: ignore[no-untyped-call] # has no types
        # RTF writes a character beyond U+FFFF as two surrogates.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", errors="replace")
    return ""
