"""Rows of the table `parsed_content`, which a crawl and the stage `documents` write."""

from typing import Any

from psycopg.types.json import Jsonb

from sourcebook.model.document import ParsedDocument, block_rows


def parsed_content_row(sha256: bytes, parser: str, document: ParsedDocument, content_hash: bytes) -> dict[str, Any]:
    """Return the parameters of `add_parsed_contents` and `record_parsed_contents`.

    Args:
        sha256: identity of what was parsed: bytes of a file, main content of a page, segments of a recording.
        parser: identity of the parser.
        document: what it returned.
        content_hash: identity of the document's content.
    """
    return {
        "sha256": sha256,
        "parser": parser,
        "markdown": document.markdown,
        "blocks": Jsonb(block_rows(document.blocks)),
        "title": document.title,
        "page_count": document.page_count,
        "language": document.language,
        "metadata": Jsonb(dict(document.metadata)),
        "content_hash": content_hash,
        "nothing_to_read": document.nothing_to_read,
        "attachments": len(document.attachments),
    }
