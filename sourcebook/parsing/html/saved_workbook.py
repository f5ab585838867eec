"""Workbooks that Excel saved as a web page in one file: a page a sheet, and one that frames them."""

import re
from collections.abc import Sequence
from typing import Final

from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.html.cleaner import clean_page
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.joined_blocks import JoinedBlocks

_TAB: Final = re.compile(rb"<a\s[^>]*?href=[\"']?([^\"'\s>]+)[^>]*>(.*?)</a>", re.IGNORECASE | re.DOTALL)
_TAGS: Final = re.compile(rb"<[^>]*>")
_TABS: Final = "tabstrip"


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
