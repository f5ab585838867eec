"""Outlook messages (.msg): properties in an OLE file."""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from email.message import EmailMessage, Message
from email.parser import HeaderParser
from email.policy import SMTP, compat32
from functools import partial
from io import BytesIO
from itertools import repeat
from typing import Final

from olefile import OleFileIO  # type: ignore[import-untyped] # its stubs are a package of their own
from oxmsg.storage import Storage

from sourcebook.parsing.mail.headers import address_text, addresses, header, one_line
from sourcebook.parsing.mail.internet import MESSAGE
from sourcebook.parsing.mail.message import DEEPEST, Body, MailFile, MailMessage, first_files
from sourcebook.parsing.mail.outlook_properties import OutlookProperties, with_rich_text

_HEADER_OF_MESSAGE, _HEADER_OF_EMBEDDED, _HEADER_OF_PART = 32, 24, 8
_SUBJECT, _BODY, _HTML, _RTF, _HEADERS, _CLASS = 0x0037, 0x1000, 0x1013, 0x1009, 0x007D, 0x001A
_SENDER_NAME, _SENDER_SMTP, _SENDER_ADDRESS, _ON_BEHALF_OF = 0x0C1A, 0x5D01, 0x0C1F, 0x0042
_SUBMITTED, _DELIVERED, _MESSAGE_ID, _IN_REPLY_TO = 0x0039, 0x0E06, 0x1035, 0x1042
_NAME, _ADDRESS, _SMTP, _RECIPIENT_TYPE = 0x3001, 0x3003, 0x39FE, 0x0C15
_LONG_FILE_NAME, _FILE_NAME, _DATA, _MIME, _CONTENT_ID = 0x3707, 0x3704, 0x3701, 0x370E, 0x3712
_EMBEDDED = f"__substg1.0_{_DATA:04X}000D"
_TO, _CC = 1, 2
_BROKEN_HEADER = (ValueError, LookupError, TypeError, AttributeError)
_NAMES: Final = "__nameid_version1.0"
_SETS, _ENTRIES = "__substg1.0_00020102", "__substg1.0_00030102"
_APPOINTMENT, _TASK = (bytes.fromhex(f"{number}20060000000000c000000000000046") for number in ("02", "03"))
STARTS: Final = ((_APPOINTMENT, 0x820D), (_TASK, 0x8104))
ENDS: Final = ((_APPOINTMENT, 0x820E), (_TASK, 0x8105))
PLACE: Final = ((_APPOINTMENT, 0x8208),)
_FIRST_SET: Final = 3
"""Index of the first set of properties that the file lists; those below are Outlook's own."""
Name = tuple[bytes, int]
"""Set of properties, and the number in it."""


def read_outlook_message(content: bytes) -> MailMessage:
    """Read a message; a broken property counts as missing.

    Raises:
        OSError, LookupError, ValueError, TypeError, AttributeError, struct.error: The content is no OLE file,
            a damaged one, or one without a message.
    """
    with OleFileIO(BytesIO(content)) as file:
        storage = Storage.from_ole(file)
    return message_of(storage)


def message_of(storage: Storage) -> MailMessage:
    """Return the message in the root storage of an OLE file."""
    return _read(storage, header_bytes=_HEADER_OF_MESSAGE, depth=0)


def _read(storage: Storage, *, header_bytes: int, depth: int) -> MailMessage:
    properties = OutlookProperties(storage, header_bytes=header_bytes)
    headers = HeaderParser(policy=compat32).parsestr(properties.text(_HEADERS))
    bodies = tuple(_bodies(properties))
    encoding = properties.encoding()
    sealed = one_line(properties.text(_CLASS)).upper() == "IPM.NOTE.SMIME" and not bodies
    files, more_files = first_files(_files(storage, "".join(body.html for body in bodies), encoding, depth=depth))
    names = named_properties(storage)
    starts, ends = (next(_dates(properties, names, wanted), None) for wanted in (STARTS, ENDS))
    places = (one_line(properties.text(names[wanted])) for wanted in PLACE if wanted in names)
    return MailMessage(
        starts=starts,
        ends=ends,
        place=next(places, ""),
        subject=one_line(properties.text(_SUBJECT)),
        sender=_sender(properties, headers),
        to=_recipients(storage, _TO, encoding) or addresses(headers, "to"),
        cc=_recipients(storage, _CC, encoding) or addresses(headers, "cc"),
        sent=properties.date(_SUBMITTED) or properties.date(_DELIVERED),
        message_id=one_line(properties.text(_MESSAGE_ID)) or header(headers, "message-id"),
        in_reply_to=one_line(properties.text(_IN_REPLY_TO)) or header(headers, "in-reply-to"),
        bodies=bodies,
        files=files,
        more_files=more_files,
        pictures=dict(_pictures(storage)),
        sealed="encrypted (S/MIME)" if sealed else None,
    )


def _dates(properties: OutlookProperties, names: Mapping[Name, int], wanted: Sequence[Name]) -> Iterator[datetime]:
    for name in wanted:
        if name in names and (found := properties.date(names[name])) is not None:
            yield found


def _sender(properties: OutlookProperties, headers: Message) -> str:
    if found := addresses(headers, "from"):
        return ", ".join(found)
    name = properties.text(_SENDER_NAME) or properties.text(_ON_BEHALF_OF)
    address = properties.text(_SENDER_SMTP) or properties.text(_SENDER_ADDRESS)
    return address_text(one_line(name), _mail_address(address))


def _recipients(storage: Storage, kind: int, encoding: str) -> tuple[str, ...]:
    found = []
    for recipient in storage.iter_recipient_storages():
        properties = OutlookProperties(recipient, header_bytes=_HEADER_OF_PART, encoding=encoding)
        if properties.whole_number(_RECIPIENT_TYPE) == kind:
            address = properties.text(_SMTP) or properties.text(_ADDRESS)
            found.append(address_text(one_line(properties.text(_NAME)), _mail_address(address)))
    return tuple(text for text in found if text)


def _mail_address(address: str) -> str:
    """Return an e-mail address, "" for a path in the directory of an Exchange server."""
    return one_line(address) if "@" in address else ""


def _bodies(properties: OutlookProperties) -> Iterator[Body]:
    body = with_rich_text(Body(properties.text(_BODY), properties.html(_HTML)), properties.binary(_RTF))
    if body.plain.strip() or body.html.strip():
        yield body


def _files(storage: Storage, html: str, encoding: str, *, depth: int) -> Iterator[MailFile | None]:
    """Yield the attachments of a message; None for each one that is nested too deeply, or is one too many."""
    html = html.lower()
    for attachment in storage.iter_attachment_storages():
        properties = OutlookProperties(attachment, header_bytes=_HEADER_OF_PART, encoding=encoding)
        name = properties.text(_LONG_FILE_NAME) or properties.text(_FILE_NAME) or properties.text(_NAME)
        embedded = next((inner for inner in attachment.storages if inner.name == _EMBEDDED), None)
        if embedded is not None:
            if depth < DEEPEST:
                message = _read(embedded, header_bytes=_HEADER_OF_EMBEDDED, depth=depth + 1)
                title = name or message.subject
                yield MailFile(f"{title}.eml" if title else "", MESSAGE, partial(_as_internet_message, message))
                yield from message.files
                yield from repeat(None, message.more_files)
            else:
                yield from _too_deep(embedded)
            continue
        identity = properties.text(_CONTENT_ID).strip("<> ").lower()
        kind = one_line(properties.text(_MIME))
        if identity and f"cid:{identity}" in html and (kind.startswith("image/") or not kind):
            continue
        yield MailFile(name, kind or "application/octet-stream", partial(properties.binary, _DATA))


def _pictures(storage: Storage) -> Iterator[tuple[str, Callable[[], bytes]]]:
    for attachment in storage.iter_attachment_storages():
        properties = OutlookProperties(attachment, header_bytes=_HEADER_OF_PART)
        if name := properties.text(_CONTENT_ID).strip("<> ").lower():
            yield name, partial(properties.binary, _DATA)


def _too_deep(message: Storage) -> Iterator[None]:
    """Yield None for an embedded message and for each attachment in it."""
    yield None
    waiting = [message]
    while waiting:
        for attachment in waiting.pop().iter_attachment_storages():
            yield None
            waiting.extend(inner for inner in attachment.storages if inner.name == _EMBEDDED)


def _as_internet_message(message: MailMessage) -> bytes:
    """Write a nested message as an Internet message without attachments."""
    written = EmailMessage(policy=SMTP)
    fields = {
        "Subject": message.subject,
        "From": message.sender,
        "To": ", ".join(message.to),
        "Cc": ", ".join(message.cc),
        "Date": message.sent.strftime("%a, %d %b %Y %H:%M:%S %z") if message.sent else "",
        "Message-ID": message.message_id,
        "In-Reply-To": message.in_reply_to,
    }
    for name, value in fields.items():
        if value:
            with suppress(*_BROKEN_HEADER):
                written[name] = value
    body = next(iter(message.bodies), Body())
    if body.plain or not body.html:
        written.set_content(body.plain)
    if body.html:
        written.add_alternative(body.html, subtype="html")
        if written.is_multipart():
            written.set_boundary("=_alternative")  # a random boundary would change the content hash
    return written.as_bytes()


def named_properties(storage: Storage) -> Mapping[Name, int]:
    """Return the numbers that a message in the root storage of a file gives the properties of sets."""
    return dict(_named(storage))


def _named(storage: Storage) -> Iterator[tuple[Name, int]]:
    held = next((inner for inner in storage.storages if inner.name == _NAMES), None)
    streams = {stream.name: stream.bytes_ for stream in held.streams} if held is not None else {}
    sets, entries = streams.get(_SETS, b""), streams.get(_ENTRIES, b"")
    for number, info, index in struct.iter_unpack("<IHH", entries[: len(entries) // 8 * 8]):
        at = (info >> 1) - _FIRST_SET
        if not info & 1 and at >= 0:
            yield (sets[16 * at : 16 * at + 16], number), 0x8000 + index
