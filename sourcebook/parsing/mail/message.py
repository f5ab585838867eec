"""Types shared by the e-mail formats: message, body and attached file."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

MOST_ATTACHMENTS = 1000
"""Attachments read of a message, those of nested messages included."""
DEEPEST = 10
"""Levels of nested messages whose attachments are read."""


@dataclass(frozen=True, slots=True)
class Body:
    """A part of a message's text, as plain text, HTML or both."""

    plain: str = ""
    html: str = ""
    other: str = ""
    """HTML of a further form, for some programs only."""


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
    starts: datetime | None = None
    """Beginning of an appointment or task."""
    ends: datetime | None = None
    """End of an appointment, or the day on which a task is due."""
    place: str = ""
    """Place of an appointment."""
    bodies: tuple[Body, ...] = ()
    """In reading order."""
    files: tuple[MailFile, ...] = ()
    """The first 1,000 attachments in order; a nested message is followed by its own attachments."""
    more_files: int = 0
    """Attachments that are not read: those behind the first 1,000, and all in messages nested more than ten deep."""
    pictures: Mapping[str, Callable[[], bytes]] = field(default_factory=dict)
    """What decodes each picture that its page shows, by its id in small letters."""
    sealed: str | None = None
    """Reason why the text cannot be read, such as "encrypted (PGP)"."""


def first_files(files: Iterator[MailFile | None]) -> tuple[tuple[MailFile, ...], int]:
    """Return the first 1,000 files, and the number of the others; None stands for a file that is nested too deeply."""
    deep = 0

    def readable() -> Iterator[MailFile]:
        nonlocal deep
        for file in files:
            if file is None:
                deep += 1
            else:
                yield file

    found = readable()
    first = tuple(islice(found, MOST_ATTACHMENTS))
    return first, sum(1 for _ in found) + deep
