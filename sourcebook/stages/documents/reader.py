"""Read the bytes of an item and start its parser."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from sourcebook.database.refusals import Refusal
from sourcebook.errors import FailureClass, ParseError, TemporaryParseError, failure_class_of
from sourcebook.files.reading import FileContent, file_name, read_file
from sourcebook.model.document import ParsedDocument, blocks_of
from sourcebook.model.media_types import DATA, RECORD, SOURCE_RECORD
from sourcebook.model.storable import storable_text
from sourcebook.parsing.media_type import HEAD_BYTES, detect_media_type
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.parsing.registry import FileType, file_type, parser_identity
from sourcebook.parsing.transcript import parse_transcript
from sourcebook.parsing.worker import AttachmentPlace
from sourcebook.redaction.ingestion import with_identity
from sourcebook.stages.documents.records import Records
from sourcebook.stages.documents.rows import Content, StaleDocument, page_contents, record_contents
from sourcebook.stages.documents.run import DocumentsRun
from sourcebook.stages.transcripts.rows import transcripts_of_files

Parse = Callable[[], ParsedDocument]
"""Wait for the parser and return its document."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why an item has no document."""

    reason: str
    failure_class: FailureClass
    is_temporary: bool
    """Whether another attempt may succeed."""

    @classmethod
    def of(cls, error: OSError | ParseError) -> Self:
        """Return the failure of an item that cannot be read or parsed."""
        if isinstance(error, ParseError):
            return cls(storable_text(str(error)), error.failure_class, isinstance(error, TemporaryParseError))
        if isinstance(error, FileNotFoundError):
            return cls("it vanished between listing and reading", FailureClass.MISSING, is_temporary=True)
        return cls(
            storable_text(f"it cannot be read: {error.strerror or error}"), failure_class_of(error), is_temporary=True
        )


@dataclass(slots=True)
class Making:
    """The making of one content, which all items with the same bytes share."""

    parse: Parse | None = None
    """None where the content is known."""
    document: ParsedDocument | None = None
    """The parsed document, until it is recorded."""
    content: Content | None = None
    is_reused: bool = False
    """Whether the next item with this content reuses it."""


@dataclass(slots=True)
class Reading:
    """An item as it was read. It has a making or a failure, or neither where its new bytes are of a skipped type."""

    item: StaleDocument
    making: Making | None = None
    failure: Failure | None = None
    other_bytes: dict[str, Any] | None = None
    """New values of its inventory row, where its bytes changed since they were listed."""

    def fail(self, refusal: Refusal) -> Self:
        """Give up what the database refuses of it."""
        self.making, self.other_bytes = None, None
        self.failure = Failure(refusal.reason, refusal.failure_class, is_temporary=False)
        return self

    @property
    def content(self) -> Content | None:
        """The content of the document, once it is made."""
        return None if self.making is None else self.making.content

    @property
    def is_settled(self) -> bool:
        """Whether it has a document or a failure, once its batch is finished."""
        return self.making is not None or self.failure is not None


class ItemReader:
    """Reads the items of one batch.

    Args:
        run: the run of the stage.
        items: the items.
        parsers: pool of parser processes.
        records: the records of data files.
    """

    def __init__(
        self, run: DocumentsRun, items: Sequence[StaleDocument], parsers: ParserPool, records: Records
    ) -> None:
        self._run = run
        self._parsers = parsers
        self._records = records
        self._pages = page_contents(run.connection, items)
        recordings = [(item.source_id, item.uri) for item in items if item.kind == "recording"]
        self._transcripts = transcripts_of_files(run.connection, recordings) if recordings else {}
        self._source_records = record_contents(run.connection, items)
        self._container: tuple[tuple[int, str], bytes] | None = None

    def read(self, stale: StaleDocument) -> Reading:
        """Start to parse an item, and return it as it was read."""
        try:
            if stale.kind == "page":
                return Reading(stale, Making(self._page(stale)))
            if stale.kind == "recording":
                return Reading(stale, Making(self._transcript(stale)))
            if stale.container is not None and stale.number is not None:
                return Reading(stale, Making(self._attachment(stale, stale.container, stale.number)))
            read = self._whole_item(stale)
            item, other_bytes = self._follow(stale, read.content, read.modified)
            if other_bytes is not None and other_bytes["skip_reason"] is not None:
                return Reading(item, other_bytes=other_bytes)
            return Reading(item, Making(self._start(read.content, item)), other_bytes=other_bytes)
        except (OSError, ParseError) as error:
            return Reading(stale, failure=Failure.of(error))

    def _whole_item(self, stale: StaleDocument) -> FileContent:
        if stale.media_type != SOURCE_RECORD:
            return read_file(self._run.sources[stale.source_id], stale.uri)
        try:
            content = self._source_records[stale.source_id, stale.uri]
        except KeyError:
            raise FileNotFoundError(stale.uri) from None
        return FileContent(content, hashlib.sha256(content).hexdigest())

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
        if self._records.has(stale):
            return self._start(self._records.content(stale), stale)
        if self._container is None or self._container[0] != (stale.source_id, container):
            self._container = None  # hold the bytes of one message at a time
            content = read_file(self._run.sources[stale.source_id], container).content
            self._container = (stale.source_id, container), content
        content = self._container[1]
        media_type = detect_media_type(file_name(container), content[:HEAD_BYTES])
        if stale.media_type == RECORD:
            self._records.keep(container, self._whole(content, container, media_type).attachments)
            return self._start(self._records.content(stale), stale)
        return self._start(content, stale, AttachmentPlace(media_type, number, stale.sha256))

    def _whole(self, content: bytes, uri: str, media_type: str) -> ParsedDocument:
        """Parse a data file again, whose records are not at hand."""
        return self._parsers.start(
            content, name=file_name(uri), media_type=media_type, settings=self._run.settings
        ).result()

    def _start(self, content: bytes, item: StaleDocument, attachment: AttachmentPlace | None = None) -> Parse:
        name, settings = file_name(item.uri), self._run.settings
        if item.media_type == RECORD and item.container is not None:
            name = f"{file_name(item.container)}/{name}"
        elif item.media_type in DATA and (item.container is not None or item.kind == "page"):
            settings = settings.model_copy(update={"records": "never"})
        return self._parsers.start(
            content, name=name, media_type=item.media_type, settings=settings, attachment=attachment
        ).result

    def _follow(
        self, stale: StaleDocument, content: bytes, modified: str
    ) -> tuple[StaleDocument, dict[str, Any] | None]:
        """Return the item for the bytes read, and the new values of its inventory row where the bytes changed."""
        digest = hashlib.sha256(content).digest()
        if digest == stale.sha256:
            return stale, None
        file = file_type(file_name(stale.uri), content[:HEAD_BYTES])
        if stale.media_type == SOURCE_RECORD:
            file = FileType(SOURCE_RECORD, None)
        parser = parser_identity(file.media_type, self._run.settings)
        item = replace(
            stale,
            sha256=digest,
            media_type=file.media_type,
            format=file.media_type,
            parser=with_identity(parser, self._run.redaction) if parser is not None else stale.parser,
            size=len(content),
        )
        return item, {
            "sha256": digest,
            "size": len(content),
            "modified": modified,
            "media_type": file.media_type,
            "skip_reason": file.skip_reason,
        }
