"""What the formats of e-mail have in common: who wrote what to whom, and the files that came with it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

MOST_ATTACHMENTS = 1000
DEEPEST = 10
"""Messages within messages."""


@dataclass(frozen=True, slots=True)
class Body:
    """A part of a message's text, in one or both of the forms it may come in."""

    plain: str = ""
    html: str = ""


@dataclass(frozen=True, slots=True)
class MailFile:
    """A file that came with a message, as the message names it."""

    name: str
    media_type: str
    """As the message declares it; its content may say otherwise."""
    read: Callable[[], bytes]
    """Return the decoded bytes; each call decodes them anew, so that no two files are in memory at once."""


@dataclass(frozen=True, slots=True)
class MailMessage:
    """A message, its headers decoded."""

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
    """At most 1,000, in their order; a message within it is followed by the files that came with that."""
    sealed: str | None = None
    """What hides the text, such as "encrypted (PGP)"."""


def bounded(files: Iterator[MailFile]) -> tuple[MailFile, ...]:
    """Return the first 1,000 files."""
    return tuple(file for _, file in zip(range(MOST_ATTACHMENTS), files, strict=False))
