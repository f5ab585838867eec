"""E-mail: subject, sender, recipients, date, text, and the names of the attachments."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from urllib.parse import unquote

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import Block, BlockKind, JsonValue, ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.attached_files import attachments_line, attachments_of, more_than
from sourcebook.parsing.html.cleaner import readable_body, write_everything
from sourcebook.parsing.html.parts import html_of
from sourcebook.parsing.html.tidying import mark_images
from sourcebook.parsing.html.tree import Element
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.mail.attachments import read_message
from sourcebook.parsing.mail.internet import CONTENT_ID
from sourcebook.parsing.mail.message import Body, MailMessage
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.picture_marks import picture_mark
from sourcebook.parsing.text.plain_text import paragraphs
from sourcebook.parsing.text.spans import trimmed
from sourcebook.parsing.text.titles import plain_title
from sourcebook.parsing.text.word_counts import word_counts

_MOST_NAMED = 50
"""Recipients listed by name."""
_ESCAPED = re.compile(r"([\\`*_\[\]<>#])")
_BLOCK = re.compile(r"</?(?:blockquote|br|dd|div|dt|h[1-6]|hr|li|p|pre|table|td|th|tr)\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")
_QUOTED_LINES = re.compile(r"^(?:[ ]?>[^\n]*(?:\n|\Z))+", re.MULTILINE)


def parse_mail(content: bytes, *, media_type: str) -> ParsedDocument:
    """Parse a message, message/rfc822 or application/vnd.ms-outlook.

    The subject is title and H1; plain text is kept verbatim, HTML becomes Markdown.

    Raises:
        ParseError: the message is encrypted or damaged, or the content is no message.
    """
    return mail_document(content, media_type=media_type, taken=set())


def mail_document(content: bytes, *, media_type: str, taken: set[str]) -> ParsedDocument:
    """Parse a message of several that keep the names of their attachments apart.

    Args:
        content: the whole message.
        media_type: its media type.
        taken: names, case-folded, that no attachment may have; the names of the attachments are added.

    Raises:
        ParseError: the message is encrypted or damaged, or the content is no message.
    """
    message = read_message(content, media_type=media_type)
    if message.sealed:
        raise ParseError(
            f"the message is {message.sealed}; save it from the mail program as plain text", FailureClass.PASSWORD
        )
    attachments = tuple(attachments_of(message.files, taken))
    writer = _Writer()
    subject = _ESCAPED.sub(r"\\\1", message.subject)
    title = plain_title(subject)
    writer.add_heading(subject, 1)
    writer.add("  \n".join(_head_lines(message)), "paragraph")
    before = len(writer.blocks)
    lost = sum(writer.add_body(body, message.pictures) for body in message.bodies)
    prose = writer.blocks[before:]
    if attachments:
        writer.add(attachments_line(attachments, message.more_files), "paragraph")
    if not writer.blocks:
        raise ParseError("it holds no message: neither headers nor text; check its file name", FailureClass.EMPTY)
    markdown = writer.markdown()
    return ParsedDocument(
        markdown=markdown,
        blocks=tuple(writer.blocks),
        title=title or None,
        language=detect_language(markdown, prose),
        metadata=with_left_out(_metadata(message), {"attachments": message.more_files, "other_part_words": lost}),
        attachments=attachments,
    )


class _Writer(JoinedBlocks):
    """The document of a message."""

    def add_body(self, body: Body, pictures: Mapping[str, Callable[[], bytes]]) -> int:
        """Add the form of a text that holds more; return the number of words that the other forms hold beside it.

        Where each has words of its own, that is the page, which people were shown, unless the plain text has more than
        twice as many.
        """
        html = body.html if body.html.strip() or body.plain.strip() else body.other
        page, further = (readable_body(form) if form.strip() else None for form in (html, body.other))
        plain, shown, other = word_counts(body.plain), _words(page), _words(further)
        own = (shown - plain).total()
        if page is not None and (not plain or (own and own * 2 >= (plain - shown).total())):
            mark_images(page, lambda address: pictures.get(_content_id(address), bytes)())
            written = write_everything(page, base_url=None)
            self.add_blocks(written.markdown.rstrip(), written.blocks())
            return ((plain | other) - shown).total()
        text = clean(body.plain).strip("\n")
        for named in dict.fromkeys(CONTENT_ID.findall(body.html)):
            mark = picture_mark(pictures.get(_content_id(f"cid:{named}"), bytes)())
            text = text.replace(f"[cid:{named}]", mark) if f"[cid:{named}]" in text else f"{text}\n\n{mark}"
        self.add_blocks(text, _plain_blocks(text))
        return ((shown | other) - plain).total()


def _words(page: Element | None) -> Counter[str]:
    """Return the words of a page, apart where their blocks are, with the descriptions of its pictures."""
    if page is None:
        return Counter()
    text = unescape(_TAG.sub("", _BLOCK.sub(" ", html_of(page))))
    return word_counts(" ".join((text, *(picture.get("alt") or "" for picture in page.iter("img")))))


def _content_id(address: str) -> str:
    """Return the id of the part that an address of a page names, "" for the address of another page."""
    return unquote(address[4:]).lower() if address[:4].lower() == "cid:" else ""


def _plain_blocks(text: str) -> Iterator[Block]:
    """Yield the paragraphs and quoted lines of plain text."""
    for paragraph in paragraphs(text):
        reached = paragraph.start
        for quoted in _QUOTED_LINES.finditer(text, paragraph.start, paragraph.end):
            yield from _block(text, "paragraph", reached, quoted.start())
            yield from _block(text, "quote", quoted.start(), quoted.end())
            reached = quoted.end()
        yield from _block(text, "paragraph", reached, paragraph.end)


def _block(text: str, kind: BlockKind, start: int, end: int) -> Iterator[Block]:
    start, end = trimmed(text, start, end)
    if start < end:
        yield Block(kind, start, end)


def _head_lines(message: MailMessage) -> Iterator[str]:
    for name, people in (("From", (message.sender,)), ("To", message.to), ("Cc", message.cc)):
        if line := ", ".join(people[:_MOST_NAMED]):
            yield f"{name}: {line}{more_than(_MOST_NAMED, people)}"
    if message.sent is not None:
        yield f"Date: {message.sent.isoformat(sep=' ', timespec='minutes')}"
    for name, moment in (("Begins", message.starts), ("Ends", message.ends)):
        if moment is not None:
            yield f"{name}: {moment.isoformat(sep=' ', timespec='minutes')}"
    if message.place:
        yield f"Place: {message.place}"


def _metadata(message: MailMessage) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {
        "from": message.sender,
        "to": list(message.to),
        "cc": list(message.cc),
        "sent": message.sent.isoformat() if message.sent else None,
        "message_id": message.message_id,
        "in_reply_to": message.in_reply_to,
    }
    return {name: value for name, value in found.items() if value}
