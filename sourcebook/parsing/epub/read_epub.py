"""EPUB e-books: chapters in reading order, without cover and table of contents."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from sourcebook.errors import ParseError
from sourcebook.model.document import Block, ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.epub.archive import EpubArchive, archive_path, open_epub
from sourcebook.parsing.epub.package import Package, TocEntry, read_package
from sourcebook.parsing.html.charset import decode_page
from sourcebook.parsing.html.cleaner import readable_body, write_everything
from sourcebook.parsing.html.markdown import WrittenPage
from sourcebook.parsing.html.tree import HEADINGS, Element, drop, found, plain_text, replace_content
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.media_type import looks_like_text
from sourcebook.parsing.text.picture_marks import embedded_picture
from sourcebook.parsing.text.titles import document_title
from sourcebook.parsing.text.word_counts import word_counts

_SHORT = 200
_NOTE_REFERENCE = "noteref"
_BACK_LINK = "backlink"
_TEXT_ELEMENTS = ("p", "div", "span", "td")


def parse_epub(content: bytes, *, name: str) -> ParsedDocument:
    """Parse a book; chapters without a heading get the heading of their entry in the table of contents.

    Raises:
        ParseError: the file is damaged, protected, too large, or no EPUB.
    """
    with open_epub(content) as archive:
        package = read_package(archive)
        archive.check_size(package.spine)
        archive.check_unlocked(package.spine)
        bodies = list(_bodies(archive, package))
        if not bodies:
            raise archive.refuse_unreadable()
    pages: list[WrittenPage] = []
    words = 0
    for path, body in bodies:
        if _is_left_out(path, body, package):
            words += word_counts("\n".join(found(body, "descendant::text()"))).total()
        else:
            _give_headings(body, [entry for entry in package.toc if entry.path == path])
            _mark_notes(body)
            pages.append(write_everything(body, base_url=None))
    markdown = "\n".join(page.markdown for page in pages if page.markdown)
    blocks = tuple(_blocks(pages))
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=package.title or document_title(blocks),
        language=detect_language(markdown, blocks) or _declared(package),
        metadata=with_left_out(package.metadata, {"words": words}),
    )


def _blocks(pages: Sequence[WrittenPage]) -> Iterator[Block]:
    """Yield the blocks of the chapters, placed in the Markdown of the book."""
    start = 0
    for page in pages:
        for block in page.blocks():
            yield replace(block, start=start + block.start, end=start + block.end)
        start += len(page.markdown) + 1 if page.markdown else 0


def _declared(package: Package) -> str | None:
    language = str(package.metadata.get("language", "")).partition("-")[0].lower()
    return language if len(language) == 2 and language.isalpha() else None


def _bodies(archive: EpubArchive, package: Package) -> Iterator[tuple[str, Element]]:
    for path in package.spine:
        page = archive.read(path)
        if page is None or not looks_like_text(page[:4096]):
            continue
        text = decode_page(page, "application/xhtml+xml").text
        body = readable_body(text, xml=True, load=partial(_picture, archive, path))
        if body is not None:
            yield path, body


def _picture(archive: EpubArchive, page: str, address: str) -> bytes | None:
    with suppress(ParseError):
        return embedded_picture(address) or archive.read(archive_path(page, address))
    return None


def _is_left_out(path: str, body: Element, package: Package) -> bool:
    """Whether a document is a cover or a table of contents and holds no other text."""
    if path in package.covers or "cover" in _types(body):
        return len(plain_text(body)) < _SHORT
    if path in package.navigation or any("toc" in _types(nav) for nav in body.iter("nav")):
        in_links = sum(len(plain_text(link)) for link in body.iter("a"))
        in_headings = sum(len(plain_text(heading)) for heading in body.iter(*HEADINGS))
        return in_links * 2 >= len(plain_text(body)) - in_headings
    return False


def _types(element: Element) -> list[str]:
    return (element.get("epub:type") or "").split()


def _give_headings(body: Element, entries: Sequence[TocEntry]) -> None:
    """Give a chapter without headings one heading for each entry of the table of contents that links into it."""
    if not entries or any(plain_text(heading) for heading in body.iter(*HEADINGS)):
        return
    by_id = {element.get("id"): element for element in body.iter() if element.get("id")}
    for entry in entries:
        place = by_id.get(entry.fragment) if entry.fragment else None
        target = _block_of(place) if place is not None else _first_text(body)
        tag = f"h{min(entry.depth + 1, 6)}"
        if target is not None and plain_text(target).casefold() == entry.title.casefold():
            replace_content(target, entry.title)
            target.tag = tag
            continue
        heading = _new_element(tag, entry.title)
        if target is not None and place is not None and target is not body:
            target.addprevious(heading)
        else:
            heading.tail, body.text = body.text, None
            body.insert(0, heading)


def _block_of(element: Element) -> Element:
    while element.tag in {"a", "span", "b", "i", "em", "strong", "img"}:
        parent = element.getparent()
        if parent is None:
            break
        element = parent
    return element


def _first_text(body: Element) -> Element | None:
    for element in body.iter(*_TEXT_ELEMENTS):
        if all(child.tag not in _TEXT_ELEMENTS for child in element) and plain_text(element):
            return element
    return None


def _new_element(tag: str, text: str) -> Element:
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

    element: Element = etree.Element(tag)
    element.text = text
    return element


def _mark_notes(body: Element) -> None:
    """Write references to notes as `[1]`, apart from the word before them, and drop the links back."""
    for link in list(body.iter("a")):
        role = f"{link.get('epub:type') or ''} {link.get('role') or ''}"
        if _BACK_LINK in role:
            drop(link)
        elif _NOTE_REFERENCE in role:
            replace_content(link, f"[{plain_text(link).strip('[]')}]")
