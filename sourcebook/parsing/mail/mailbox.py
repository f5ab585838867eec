"""Mailboxes (.mbox): one section a message, with its subject as heading."""

import re
from collections.abc import Iterator
from typing import cast

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.model.media_types import EMAIL
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.mail.read_mail import parse_mail
from sourcebook.parsing.text.joined_blocks import JoinedBlocks

_SEPARATOR = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\d{4}[^\r\n]*\r?\n")
"""Line before a message: its sender and the date of its delivery, after a blank line."""
_QUOTED_SEPARATOR = re.compile(rb"^>(>*From )", re.MULTILINE)
"""Line of a text that would begin a message, as programs quote it."""
_UNREADABLE = "*A message that cannot be read:* "


def parse_mailbox(content: bytes) -> ParsedDocument:
    """Parse the messages of a mailbox in their order; a message that is encrypted leaves its reason.

    Attachments are named in the text of their message; the metadata count them and the messages.

    Raises:
        ParseError: The mailbox holds no message.
    """
    joined = JoinedBlocks()
    messages = attachments = unread = left_out = 0
    for message in _messages(content):
        messages += 1
        try:
            document = parse_mail(message, media_type=EMAIL)
        except (ParseError, RecursionError) as error:
            unread += 1
            reason = str(error) if isinstance(error, ParseError) else "its parts are nested too deeply"
            joined.add(f"{_UNREADABLE}{reason}", "paragraph")
            continue
        attachments += len(document.attachments)
        left_out += cast(int, document.metadata.get("unread_attachments", 0))
        joined.add_blocks(document.markdown.rstrip("\n"), document.blocks)
    if messages == unread:
        raise ParseError("it holds no message that can be read; check its file name", FailureClass.EMPTY)
    markdown, blocks = joined.markdown(), tuple(joined.blocks)
    counts = {
        "messages": messages,
        "attachments": attachments,
        "unread_messages": unread,
        "unread_attachments": left_out,
    }
    metadata: dict[str, JsonValue] = {name: count for name, count in counts.items() if count}
    return ParsedDocument(markdown, blocks, language=detect_language(markdown, blocks), metadata=metadata)


def _messages(content: bytes) -> Iterator[bytes]:
    """Yield the bytes of each message, without the line before it."""
    starts = list(_SEPARATOR.finditer(content))
    ends = [*(found.start() for found in starts[1:]), len(content)]
    for found, end in zip(starts, ends if starts else (), strict=True):
        message = content[found.end() : end]
        if message.strip():
            yield _QUOTED_SEPARATOR.sub(rb"\1", message)
