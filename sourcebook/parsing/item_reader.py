"""Read one item, wherever it lies, and say how to parse it."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sourcebook.files.reading import file_name, read_file
from sourcebook.files.source import Source
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.page import parse_page
from sourcebook.parsing.parse import parse
from sourcebook.parsing.registry import is_taken, parser_for, skip_reason
from sourcebook.parsing.transcript import parse_transcript
from sourcebook.parsing.types import JsonValue, ParsedDocument
from sourcebook.speech.types import Transcript


@dataclass(frozen=True, slots=True)
class StaleDocument:
    """One file, page or recording whose document must be made or made again."""

    uri: str
    source_id: int
    sha256: bytes
    media_type: str
    format: str
    """What picks the parser: the media type, `page` or `transcript`."""
    parser: str
    tags: list[str]
    kind: str
    size: int
    metadata: dict[str, JsonValue] | None
    """What a page or a recording says of itself; None where the parser finds it."""
    document_id: int | None
    content_hash: bytes | None

    @property
    def key(self) -> tuple[bytes, str]:
        """What its parsed content is kept under."""
        return (self.sha256, self.parser)


@dataclass(frozen=True, slots=True)
class CrawledContent:
    """What a crawl kept of one page: main content and blocks of an HTML page, or else the bytes."""

    source_id: int
    url: str
    markdown: str | None
    blocks: list[list[Any]] | None
    title: str | None
    language: str | None
    content: bytes | None


class ItemReader:
    """Reads the items of one batch.

    Args:
        sources: by id, for files.
        pages: by source and URL.
        transcripts: by source and URI.
    """

    def __init__(
        self,
        sources: Mapping[int, Source],
        pages: Mapping[tuple[int, str], CrawledContent],
        transcripts: Mapping[tuple[int, str], Transcript],
    ) -> None:
        self._sources = sources
        self._pages = pages
        self._transcripts = transcripts

    def read(self, stale: StaleDocument) -> tuple[StaleDocument, dict[str, Any] | None, Callable[[], ParsedDocument]]:
        """Return the item as it was found, what the inventory must learn where its bytes are others, and its parser.

        Raises:
            OSError: it cannot be read.
        """
        if stale.kind == "page":
            return stale, None, self._page(stale)
        if stale.kind == "recording":
            return stale, None, self._transcript(stale)
        read = read_file(self._sources[stale.source_id], stale.uri)
        item, other = _follow(stale, read.content, read.modified)
        return item, other, lambda: parse(read.content, name=file_name(item.uri), media_type=item.media_type)

    def _page(self, stale: StaleDocument) -> Callable[[], ParsedDocument]:
        try:
            page = self._pages[stale.source_id, stale.uri]
        except KeyError:
            raise FileNotFoundError(stale.uri) from None
        markdown, blocks, content = page.markdown, page.blocks, page.content or b""
        if markdown is not None and blocks is not None:
            return lambda: parse_page(markdown, blocks, title=page.title, language=page.language)
        return lambda: parse(content, name=file_name(stale.uri), media_type=stale.media_type)

    def _transcript(self, stale: StaleDocument) -> Callable[[], ParsedDocument]:
        try:
            found = self._transcripts[stale.source_id, stale.uri]
        except KeyError:
            raise FileNotFoundError(stale.uri) from None
        return lambda: parse_transcript(found.segments, title=found.title, language=found.language)


def _follow(stale: StaleDocument, content: bytes, modified: str) -> tuple[StaleDocument, dict[str, Any] | None]:
    """Return the item for the bytes that were read, and what the inventory must learn where they are others."""
    digest = hashlib.sha256(content).digest()
    if digest == stale.sha256:
        return stale, None
    media_type = detect_media_type(file_name(stale.uri), content[:4096])
    parser = parser_for(media_type)
    item = replace(
        stale,
        sha256=digest,
        media_type=media_type,
        format=media_type,
        parser=parser.identity if parser else stale.parser,
        size=len(content),
    )
    return item, {
        "sha256": digest,
        "size": len(content),
        "modified": modified,
        "media_type": media_type,
        "skip_reason": None if is_taken(media_type) else skip_reason(media_type),
    }
