"""The properties of a message, a recipient or an attachment in Outlook's format."""

import struct
from contextlib import suppress
from datetime import datetime

from oxmsg.domain.model import UnrecognizedCodePageError, UnsupportedEncodingError
from oxmsg.properties import Properties
from oxmsg.storage import Storage

from sourcebook.parsing.html.charset import decode_page

# What the library raises where a property is missing, cut off, or in an encoding nobody knows.
_BROKEN = (
    AttributeError, KeyError, LookupError, OverflowError, TypeError, ValueError, struct.error,
    UnrecognizedCodePageError, UnsupportedEncodingError,
)  # fmt: skip


class OutlookProperties:
    """Reads properties by their number; one that is missing or broken is empty."""

    def __init__(self, storage: Storage, *, header_bytes: int) -> None:
        self._properties = Properties(storage, properties_header_offset=header_bytes)
        self._streams = {stream.name.upper(): stream.bytes_ for stream in storage.streams}

    def text(self, number: int) -> str:
        """Return a text, in Unicode or in the message's own encoding."""
        wide = self._stream(number, "001F")
        if wide:
            return wide.decode("utf-16-le", errors="replace").rstrip("\0")
        narrow = self._stream(number, "001E")
        return decode_page(narrow, f"charset={self._encoding()}").text.rstrip("\0") if narrow else ""

    def html(self, number: int) -> str:
        """Return HTML, which may be kept as bytes."""
        binary = self.binary(number)
        return decode_page(binary, f"charset={self._encoding()}").text if binary else self.text(number)

    def binary(self, number: int) -> bytes:
        """Return a property of bytes."""
        return self._stream(number, "0102")

    def whole_number(self, number: int) -> int | None:
        """Return a property that is a number."""
        with suppress(*_BROKEN):
            found = self._properties.int_prop_value(number)
            return found if isinstance(found, int) else None
        return None

    def date(self, number: int) -> datetime | None:
        """Return a property that is a moment, in UTC."""
        with suppress(*_BROKEN):
            found = self._properties.date_prop_value(number)
            return found if isinstance(found, datetime) else None
        return None

    def _stream(self, number: int, kind: str) -> bytes:
        return self._streams.get(f"__SUBSTG1.0_{number:04X}{kind}", b"")

    def _encoding(self) -> str:
        with suppress(*_BROKEN):
            return self._properties.body_encoding
        return ""
