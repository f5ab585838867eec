"""Pages that a browser saved with their pictures and styles in one file (MHTML)."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from email import message_from_bytes
from email.message import Message
from email.policy import compat32
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit

from sourcebook.config.parsing import SAVED_PAGE, ParsingSettings
from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.html.cleaner import clean_page
from sourcebook.parsing.html.frames import Frame
from sourcebook.parsing.html.read_html import page_document
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.picture_marks import embedded_picture

_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_TAB: Final = re.compile(rb"<a\s[^>]*?href=[\"']?([^\"'\s>]+)[^>]*>(.*?)</a>", re.IGNORECASE | re.DOTALL)
_TAGS: Final = re.compile(rb"<[^>]*>")
_TABS: Final = "tabstrip"


def parse_web_archive(content: bytes, *, settings: ParsingSettings) -> ParsedDocument:
    """Parse the page of an archive like a saved page; its own address makes its links absolute.

    Args:
        content: the whole file.
        settings: `html` chooses the part that is kept; `auto` is `SAVED_PAGE`.

    Raises:
        ParseError: the archive holds no page.
    """
    archive = message_from_bytes(content.lstrip(), policy=compat32)
    parts = list(_parts(archive))
    pages = [part for part in parts if part.get_content_type() in _PAGES]
    start = _header(archive, "start", parameter=True)
    page = next((part for part in pages if start and _header(part, "content-id") == start), None)
    page = page or next(iter(pages), None)
    if page is None:
        raise ParseError("it is no saved page: it holds no HTML; save the page again", FailureClass.CORRUPT)
    address = next(filter(_is_address, (_header(page, "content-location"), _header(archive, _SNAPSHOT))), "")
    body, frames = _framed(page, pages, address)
    pictures = {name: part for part in parts for name in _names(part) if part.get_content_maintype() == "image"}
    cleaned = clean_page(
        body,
        url=address,
        load=lambda source: (
            embedded_picture(source) or _payload(pictures.get(source) or pictures.get(urljoin(address, source)))
        ),
        content_type=_content_type(page),
        keep=SAVED_PAGE if settings.html == "auto" else settings.html,
        frames=frames,
    )
    if is_frameset(body) and not cleaned.markdown.strip():
        beside = (part for part in pages if part is not page)
        held = [
            (_header(part, "content-location"), part.get_payload(decode=True), _content_type(part)) for part in beside
        ]
        sheets = [(address, html, kind) for address, html, kind in held if isinstance(html, bytes)]
        return workbook_document(sheets, title=cleaned.title)
    document = page_document(cleaned.markdown, cleaned.blocks, title=cleaned.title, language=cleaned.language)
    found = {**cleaned.metadata, "canonical": cleaned.canonical, "saved_from": address}
    metadata = {name: value for name, value in found.items() if value}
    others = len(pages) - 1 - len(frames.keys() & set(cleaned.frames))
    counts = {**cleaned.left_out, "frames": max(others, cleaned.left_out.get("frames", 0))}
    return replace(document, metadata=with_left_out(metadata, counts))


_SNAPSHOT = "snapshot-content-location"
"""Header with the address of the page, as Chromium writes it."""


def _framed(page: Message, pages: Sequence[Message], address: str) -> tuple[bytes, dict[str, Frame]]:
    """Return the body of a page, and its frames from its own site by their addresses, as which the body names them."""
    body, frames = _payload(page) or b"", {}
    for part in pages:
        location, name = urldefrag(_header(part, "content-location"))[0], _header(part, "content-id").strip("<>")
        if part is not page and _is_address(location) and urlsplit(location).netloc == urlsplit(address).netloc:
            frames[location] = Frame(location, _payload(part) or b"", _content_type(part))
            body = body.replace(f"cid:{name}".encode(), location.encode()) if name else body
    return body, frames


def _names(part: Message) -> Iterator[str]:
    """Yield the addresses by which a page shows a part."""
    yield _header(part, "content-location")
    yield f"cid:{_header(part, 'content-id').strip('<>')}"


def _payload(part: Message | None) -> bytes | None:
    content = part.get_payload(decode=True) if part is not None else None
    return content if isinstance(content, bytes) else None


def _parts(archive: Message) -> Iterator[Message]:
    """Yield the parts that hold no others, in their order."""
    waiting = [archive]
    while waiting:
        part = waiting.pop()
        payload = part.get_payload()
        if isinstance(payload, list):
            waiting.extend(child for child in reversed(payload) if isinstance(child, Message))
        else:
            yield part


def _header(part: Message, name: str, *, parameter: bool = False) -> str:
    """Return a header, or a parameter of the content type, without line breaks; "" where it is absent or malformed."""
    with suppress(ValueError, LookupError, TypeError):
        value = part.get_param(name) if parameter else part.get(name)
        return "".join(str(value or "").split())
    return ""


def _content_type(page: Message) -> str:
    with suppress(ValueError, LookupError, TypeError):
        return f"{page.get_content_type()}; charset={page.get_content_charset() or ''}"
    return page.get_content_type()


def _is_address(url: str) -> bool:
    return url.startswith(("https://", "http://"))


def is_frameset(page: bytes) -> bool:
    """Tell whether a page only frames others."""
    return b"<frameset" in page.lower()


def workbook_document(pages: Sequence[tuple[str, bytes, str]], *, title: str | None) -> ParsedDocument:
    """Return a section for each page of a workbook, with the name of its sheet.

    Args:
        pages: address, HTML and content type of each page, without the one that frames them.
        title: title of the workbook.
    """
    strips = [body for address, body, _ in pages if _TABS in address]
    tabs = [tab for body in strips for tab in _TAB.findall(body)]
    names = {
        target.decode("ascii", "replace"): " ".join(_TAGS.sub(b"", name).decode("utf-8", "replace").split())
        for target, name in tabs
    }
    joined = JoinedBlocks()
    for number, (address, body, content_type) in enumerate((page for page in pages if _TABS not in page[0]), start=1):
        cleaned = clean_page(body, content_type=content_type, keep="everything")
        if cleaned.markdown.strip():
            joined.add_heading(names.get(address.rpartition("/")[2]) or f"Sheet {number}", 2)
            joined.add_blocks(cleaned.markdown.rstrip("\n"), cleaned.blocks)
    markdown, blocks = joined.markdown(), tuple(joined.blocks)
    return ParsedDocument(markdown, blocks, title=title, language=detect_language(markdown, blocks))
