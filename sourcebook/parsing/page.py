"""Crawled HTML pages: the crawl has cleaned them already, and keeps Markdown and blocks."""

from collections.abc import Sequence
from typing import Any

from sourcebook.model.block_rows import blocks_of
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.titles import document_title


def parse_page(
    markdown: str, blocks: Sequence[Sequence[Any]], *, title: str | None, language: str | None
) -> ParsedDocument:
    """Return the document of a page.

    Args:
        markdown: its main content.
        blocks: rows of `Block`'s fields, as `crawled_page.blocks` keeps them.
        title: as the page gives it.
        language: as the page declares it; what its text says counts more, where it says enough.
    """
    found = blocks_of(blocks)
    return ParsedDocument(
        markdown=markdown,
        blocks=found,
        title=title or document_title(found),
        language=detect_language(markdown, found) or language,
    )
