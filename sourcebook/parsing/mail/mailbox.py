"""Mailboxes (.mbox): one section a message, with its subject as heading."""

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import Attachment, JsonValue, ParsedDocument
from sourcebook.model.left_out import left_out_counts, with_left_out
from sourcebook.model.media_types import EMAIL
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.mail.mailbox_messages import messages
from sourcebook.parsing.mail.read_mail import mail_document
from sourcebook.parsing.text.joined_blocks import JoinedBlocks

_MOST_ATTACHMENTS = 5_000
"""Attachments of a mailbox that become documents."""
_UNREADABLE = "*A message that cannot be read:* "


def parse_mailbox(content: bytes) -> ParsedDocument:
    """Parse the messages of a mailbox in their order; a message that is encrypted leaves its reason.

    Attachments are named in the text of their message, each unlike all others of the mailbox; the metadata count them
    and the messages.

    Raises:
        ParseError: the mailbox holds no message.
    """
    joined = JoinedBlocks()
    count = unread = 0
    facts: dict[str, JsonValue] = {}
    attachments: list[Attachment] = []
    taken: set[str] = set()
    for message in messages(content):
        count += 1
        try:
            document = mail_document(message, media_type=EMAIL, taken=taken)
        except (ParseError, RecursionError) as error:
            unread += 1
            reason = str(error) if isinstance(error, ParseError) else "its parts are nested too deeply"
            joined.add(f"{_UNREADABLE}{reason}", "paragraph")
            continue
        attachments += document.attachments
        facts = with_left_out(facts, left_out_counts(document.metadata))
        joined.add_blocks(document.markdown.rstrip("\n"), document.blocks)
    if count == unread:
        raise ParseError("it holds no message that can be read; check its file name", FailureClass.EMPTY)
    markdown, blocks = joined.markdown(), tuple(joined.blocks)
    counts = {"messages": count, "attachments": len(attachments), "unread_messages": unread}
    facts |= {name: number for name, number in counts.items() if number}
    return ParsedDocument(
        markdown,
        blocks,
        language=detect_language(markdown, blocks),
        metadata=with_left_out(facts, {"attachments": max(0, len(attachments) - _MOST_ATTACHMENTS)}),
        attachments=tuple(attachments[:_MOST_ATTACHMENTS]),
    )
