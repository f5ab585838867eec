"""Read the bytes of an item and start its parser."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sourcebook.config.parsing import ParsingSettings
from sourcebook.files.reading import file_name, read_file
from sourcebook.files.source import Source
from sourcebook.model.block_rows import blocks_of
from sourcebook.model.document import ParsedDocument
from sourcebook.model.transcript import Transcript
from sourcebook.parsing.media_type import HEAD_BYTES, detect_media_type
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.parsing.registry import file_type, parser_identity
from sourcebook.parsing.transcript import parse_transcript
from sourcebook.parsing.worker import AttachmentPlace
from sourcebook.redaction.ingestion import with_identity
from sourcebook.stages.documents.rows import CrawledContent, StaleDocument

Parse = Callable[[], ParsedDocument]
"""Wait for the parser and return its document."""


class ItemReader:
    """Reads the items of one batch.

    Args:
        sources: sources of files, by id.
        pages: content of crawled pages, by source and URL.
        transcripts: transcripts of recordings, by source and URI.
        parsers: pool of parser processes.
        settings: parsing settings of the collection.
        redaction: identity of the redaction of what is stored; empty without any.
    """

    def __init__(
        self,
        sources: Mapping[int, Source],
        pages: Mapping[tuple[int, str], CrawledContent],
        transcripts: Mapping[tuple[int, str], Transcript],
        parsers: ParserPool,
        settings: ParsingSettings,
        redaction: str = "",
    ) -> None:
        self._sources = sources
        self._pages = pages
        self._transcripts = transcripts
        self._parsers = parsers
        self._settings = settings
        self._redaction = redaction
        self._container: tuple[tuple[int, str], bytes] | None = None

    def read(self, stale: StaleDocument) -> tuple[StaleDocument, dict[str, Any] | None, Parse | None]:
        """Start to parse an item.

        Returns:
            The item as it was read; the new values of its inventory row where its bytes changed, else None; and a
            function that waits for its document, None where its new bytes are of a type that is skipped.

        Raises:
            OSError: the item cannot be read.
        """
        if stale.kind == "page":
            return stale, None, self._page(stale)
        if stale.kind == "recording":
            return stale, None, self._transcript(stale)
        if stale.container is not None and stale.number is not None:
            return stale, None, self._attachment(stale, stale.container, stale.number)
        read = read_file(self._sources[stale.source_id], stale.uri)
        item, other = self._follow(stale, read.content, read.modified)
        is_read = other is None or other["skip_reason"] is None
        return item, other, self._start(read.content, item) if is_read else None

    def _page(self, stale: StaleDocument) -> Parse:
        try:
            page = self._pages[stale.source_id, stale.uri]
        except KeyError:
            raise FileNotFoundError(stale.uri) from None
        markdown, blocks = page.markdown, page.blocks
        if markdown is not None and blocks is not None:
            from sourcebook.parsing.html.read_html import page_document  # not with the stage: most items are files

            return lambda: page_document(markdown, blocks_of(blocks), title=page.title, language=page.language)
        return self._start(page.content or b"", stale)

    def _transcript(self, stale: StaleDocument) -> Parse:
        try:
            found = self._transcripts[stale.source_id, stale.uri]
        except KeyError:
            raise FileNotFoundError(stale.uri) from None
        return lambda: parse_transcript(
            found.segments, title=found.title, language=found.language, chapters=found.chapters
        )

    def _attachment(self, stale: StaleDocument, container: str, number: int) -> Parse:
        if self._container is None or self._container[0] != (stale.source_id, container):
            self._container = None  # hold the bytes of one message at a time
            content = read_file(self._sources[stale.source_id], container).content
            self._container = (stale.source_id, container), content
        content = self._container[1]
        media_type = detect_media_type(file_name(container), content[:HEAD_BYTES])
        return self._start(content, stale, AttachmentPlace(media_type, number, stale.sha256))

    def _start(self, content: bytes, item: StaleDocument, attachment: AttachmentPlace | None = None) -> Parse:
        name = file_name(item.uri)
        return self._parsers.start(
            content, name=name, media_type=item.media_type, settings=self._settings, attachment=attachment
        ).result

    def _follow(
        self, stale: StaleDocument, content: bytes, modified: str
    ) -> tuple[StaleDocument, dict[str, Any] | None]:
        """Return the item for the bytes read, and the new values of its inventory row where the bytes changed."""
        digest = hashlib.sha256(content).digest()
        if digest == stale.sha256:
            return stale, None
        file = file_type(file_name(stale.uri), content[:HEAD_BYTES])
        parser = parser_identity(file.media_type, self._settings)
        item = replace(
            stale,
            sha256=digest,
            media_type=file.media_type,
            format=file.media_type,
            parser=with_identity(parser, self._redaction) if parser is not None else stale.parser,
            size=len(content),
        )
        return item, {
            "sha256": digest,
            "size": len(content),
            "modified": modified,
            "media_type": file.media_type,
            "skip_reason": file.skip_reason,
        }
