"""HTML pages as documents, from a file or from a crawl."""

from collections.abc import Mapping

from sourcebook.config.parsing import SAVED_PAGE, ParsingSettings
from sourcebook.model.document import Block, JsonValue, ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.html.cleaner import clean_page
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.titles import document_title


def parse_html(content: bytes, *, settings: ParsingSettings) -> ParsedDocument:
    """Parse a saved page with the cleaner that also reads crawled pages.

    Args:
        content: the whole file.
        settings: `html` chooses the part that is kept; `auto` is `SAVED_PAGE`.
    """
    page = clean_page(content, keep=SAVED_PAGE if settings.html == "auto" else settings.html)
    metadata = with_left_out(page.metadata, page.left_out)
    if page.canonical:
        metadata["canonical"] = page.canonical
    return page_document(page.markdown, page.blocks, title=page.title, language=page.language, metadata=metadata)


def page_document(
    markdown: str,
    blocks: tuple[Block, ...],
    *,
    title: str | None,
    language: str | None,
    metadata: Mapping[str, JsonValue] | None = None,
) -> ParsedDocument:
    """Return the document of a cleaned page.

    Args:
        markdown: its text.
        blocks: of the Markdown.
        title: as the cleaner found it; the first heading where None.
        language: declared by the page; used where the text is too short to detect its language.
        metadata: of the page; empty where the crawl records it.
    """
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=title or document_title(blocks, markdown),
        language=detect_language(markdown, blocks) or language,
        metadata=metadata or {},
    )
