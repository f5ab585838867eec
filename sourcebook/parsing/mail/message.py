"""Types shared by the e-mail formats: message, body and attached file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

MOST_ATTACHMENTS = 1000
"""Attachments read of a message, those of nested messages included."""
DEEPEST = 10
"""Levels of nested messages whose attachments are read."""


@dataclass(frozen=True, slots=True)
class Body:
    """A part of a message's text, as plain text, HTML or both."""

    plain: str = ""
    html: str = ""


@dataclass(frozen=True, slots=True)
class MailFile:
    """A file attached to a message, under the name that the message gives."""

    name: str
    media_type: str
    """The declared media type, which the content may contradict."""
    read: Callable[[], bytes]
    """Decode and return the bytes. They are not cached: one attachment is in memory at a time."""


@dataclass(frozen=True, slots=True)
class MailMessage:
    """A message with decoded headers."""

    subject: str = ""
    sender: str = ""
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    sent: datetime | None = None
    message_id: str = ""
    in_reply_to: str = ""
    bodies: tuple[Body, ...] = ()
    """In reading order."""
    files: tuple[MailFile, ...] = ()
    """The first 1,000 attachments in order; a nested message is followed by its own attachments."""
    sealed: str | None = None
    """Reason why the text cannot be read, such as "encrypted (PGP)"."""


def bounded(files: Iterator[MailFile]) -> tuple[MailFile, ...]:
    """Return the first 1,000 files."""
    return tuple(file for _, file in zip(range(MOST_ATTACHMENTS), files, strict=False))
