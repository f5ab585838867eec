"""Attachments of a message: names, media types and content."""

import hashlib
import re
import struct
from collections.abc import Iterator
from mimetypes import guess_extension
from unicodedata import category

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import Attachment
from sourcebook.model.media_types import EMAIL, MBOX, OUTLOOK, extension_of, media_type_of_name
from sourcebook.parsing.mail.message import MailFile, MailMessage
from sourcebook.parsing.media_type import HEAD_BYTES, detect_media_type

_LONGEST_NAME = 200
"""Characters of an attachment's name, its ending included."""
_SEPARATORS = re.compile(r"[/\\:]+")
_UNKNOWN = "application/octet-stream"
_ENDINGS = {"message/rfc822": ".eml", "text/plain": ".txt", "text/calendar": ".ics", "image/jpeg": ".jpg"}


def read_message(content: bytes, *, media_type: str) -> MailMessage:
    """Read an Internet message (.eml) or an Outlook message (.msg).

    Raises:
        ParseError: the content is no message, or a damaged one.
    """
    if media_type != OUTLOOK:
        from sourcebook.parsing.mail.internet import read_internet_message

        return read_internet_message(content)
    from sourcebook.parsing.mail.outlook import read_outlook_message

    try:
        return read_outlook_message(content)
    except (OSError, LookupError, ValueError, TypeError, AttributeError, struct.error) as error:
        raise ParseError(
            "it is no readable Outlook message; open it in Outlook and save it again", FailureClass.CORRUPT
        ) from error


def attachment_content(content: bytes, *, media_type: str, number: int) -> bytes:
    """Return the bytes of an attachment of a message or mailbox.

    Args:
        content: the whole message or mailbox.
        media_type: its media type: message/rfc822, application/vnd.ms-outlook or application/mbox.
        number: index in `ParsedDocument.attachments`, from 0.

    Raises:
        ParseError: there is no such attachment, or the message is damaged.
    """
    if media_type == MBOX:
        from sourcebook.parsing.mail.mailbox_messages import message_of_attachment

        content, number = message_of_attachment(content, number)
    files = read_message(content, media_type=EMAIL if media_type == MBOX else media_type).files
    if not 0 <= number < len(files):
        raise ParseError(
            f"the message has {len(files)} attachments, none of the number {number}; read it again",
            FailureClass.MISSING,
        )
    return files[number].read()


def attachments_of(message: MailMessage, taken: set[str]) -> Iterator[Attachment]:
    """Yield the attachments of a message, their names cleaned and unlike the names taken, to which they are added."""
    for number, file in enumerate(message.files, start=1):
        content = file.read()
        name = _unique(_clean_name(file, number, content[:HEAD_BYTES]), taken)
        taken.add(name.casefold())
        yield Attachment(
            name=name,
            media_type=detect_media_type(name, content[:HEAD_BYTES]),
            size=len(content),
            sha256=hashlib.sha256(content).digest(),
        )


def _clean_name(file: MailFile, number: int, head: bytes) -> str:
    """Return the last part of a file name without unprintable characters; "attachment-3.pdf" where there is none."""
    visible = "".join(letter for letter in file.name if category(letter) not in {"Cc", "Cf", "Cs", "Co", "Cn"})
    name = " ".join(_SEPARATORS.split(visible.strip("/\\: "))[-1].split()).strip(". ")
    if not name:
        return f"attachment-{number}{_ending(file.media_type, head)}"
    if "." not in name and media_type_of_name(name) is None:
        name += _ending(file.media_type, head)
    return _cut(name, _LONGEST_NAME)


def _ending(declared: str, head: bytes) -> str:
    proven = detect_media_type("", head)
    media_type = declared if proven in {_UNKNOWN, "text/plain"} and declared != _UNKNOWN else proven
    return _ENDINGS.get(media_type) or guess_extension(media_type) or ""


def _unique(name: str, taken: set[str]) -> str:
    found, count = name, 2
    while found.casefold() in taken:
        mark = f" ({count})"
        stem, dot, ending = _cut(name, _LONGEST_NAME - len(mark)).rpartition(".")
        found = f"{stem}{mark}{dot}{ending}" if stem else f"{ending}{mark}"
        count += 1
    return found


def _cut(name: str, longest: int) -> str:
    """Shorten a name to a number of characters, keeping its ending."""
    if len(name) <= longest:
        return name
    ending = extension_of(name)
    ending = f".{ending}" if 0 < len(ending) <= 20 else ""
    return name[: longest - len(ending)].rstrip(". ") + ending
