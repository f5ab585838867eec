"""Identity of a document's content."""

import hashlib
import json
from collections.abc import Iterable

from sourcebook.model.block_rows import block_rows
from sourcebook.model.document import Block


def content_hash(markdown: str, blocks: Iterable[Block], title: str | None) -> bytes:
    """Return the sha256 over Markdown, blocks and title: the identity of a crawled page and of a document."""
    digest = hashlib.sha256(markdown.encode())
    digest.update(b"\0" + json.dumps(block_rows(blocks), ensure_ascii=False).encode())
    digest.update(b"\0" + (title or "").encode())
    return digest.digest()
