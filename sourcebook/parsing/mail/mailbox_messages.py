"""Messages of a mailbox (.mbox), and the message that has an attachment."""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from sourcebook.errors import FailureClass, ParseError
from sourcebook.parsing.mail.internet import read_internet_message

_SEPARATOR = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\d{4}[^\r\n]*\r?\n")
"""Line before a message: its sender and the date of its delivery, after a blank line."""
_ONLY_MESSAGE = re.compile(rb"\s*(?:From [^\r\n]*\r?\n)?(?=[A-Za-z][A-Za-z-]{0,60}:[^\r\n]*\r?\n)")
"""Beginning of a file that holds one message: without a line before it, or with one that has no date."""
_QUOTED_SEPARATOR = re.compile(rb"^>(>*From )", re.MULTILINE)
"""Line of a text that would begin a message, as programs quote it."""


def messages(content: bytes) -> Iterator[bytes]:
    """Yield the bytes of each message of a mailbox, without the line before it."""
    for start, end in _spans(content):
        yield _message(content, start, end)


def message_of_attachment(content: bytes, number: int) -> tuple[bytes, int]:
    """Return the message that has an attachment of a mailbox, and the attachment's index in that message, from 0.

    Args:
        content: the whole mailbox.
        number: index of the attachment in the mailbox, from 0.

    Raises:
        ParseError: the mailbox has no such attachment.
    """
    digest = hashlib.sha256(content).digest()
    if _last.digest != digest:
        _last.replace(content, digest)
    place = bisect_right(_last.ends, number)
    if number < 0 or place == len(_last.ends):
        raise ParseError(f"the mailbox has no attachment of the number {number}; read it again", FailureClass.MISSING)
    before = _last.ends[place - 1] if place else 0
    return _message(content, *_last.spans[place]), number - before


class _Mailbox:
    """Places of the messages of the last mailbox, because its attachments are read one after the other."""

    def __init__(self) -> None:
        self.digest = b""
        self.spans: list[tuple[int, int]] = []
        self.ends: list[int] = []
        """Number of attachments up to and with each message."""

    def replace(self, content: bytes, digest: bytes) -> None:
        """Take another mailbox."""
        self.digest = b""
        self.spans = list(_spans(content))
        self.ends = list(accumulate(_attachments(_message(content, start, end)) for start, end in self.spans))
        self.digest = digest


_last = _Mailbox()


def _attachments(message: bytes) -> int:
    """Return the number of attachments of a message; a message that cannot be read, or is encrypted, has none."""
    try:
        found = read_internet_message(message)
    except (ParseError, RecursionError):
        return 0
    return 0 if found.sealed else len(found.files)


def _spans(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each message that is not empty."""
    starts = list(_SEPARATOR.finditer(content))
    if not starts and (only := _ONLY_MESSAGE.match(content)):
        starts = [only]
    ends = [*(found.start() for found in starts[1:]), len(content)]
    for found, end in zip(starts, ends if starts else (), strict=True):
        if content[found.end() : end].strip():
            yield found.end(), end


def _message(content: bytes, start: int, end: int) -> bytes:
    return _QUOTED_SEPARATOR.sub(rb"\1", content[start:end])
