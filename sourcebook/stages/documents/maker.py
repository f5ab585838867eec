"""Parse the items of one collection and record each document in one transaction."""

import time
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from sourcebook.database.batches import batched_by_size
from sourcebook.database.refusals import write_in_halves
from sourcebook.errors import FailureClass, ParseError, SourcebookError
from sourcebook.files.reading import name_as_title
from sourcebook.model.document import content_hash
from sourcebook.model.work import parsing_work
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.parsing.redacted_document import redacted_document
from sourcebook.parsing.registry import PAGE
from sourcebook.stages.documents.reader import Failure, ItemReader, Making, Reading
from sourcebook.stages.documents.recording import record, unindexable_attachments
from sourcebook.stages.documents.rows import Content, ContentKey, StaleDocument, known_contents
from sourcebook.stages.documents.run import DocumentsRun
from sourcebook.stages.processing import Processing
from sourcebook.telemetry.measurements import CACHE_HITS, CACHE_MISSES, measurements

BATCH = 64
"""Items per batch."""
BATCH_BYTES = 8_000_000
"""Bytes of the items of a batch; the next one is read and parsed while one is recorded."""
RECORDED_EACH_SECONDS = 5.0
"""Seconds between two transactions: the work that a killed run loses, besides the current document."""
_NOT_WHOLE = Failure(
    "its parsed content is damaged: an ingest of the collection that it is taken from makes it again",
    FailureClass.MISSING,
    is_temporary=True,
)
"""Failure of a document of another collection: its content is parsed there, never here."""


class DocumentMaker:
    """Makes documents of one collection.

    Args:
        run: the run of the stage; its report counts documents and failures.
        parsers: pool of parser processes.
        marks: says which items are being parsed.
    """

    def __init__(self, run: DocumentsRun, parsers: ParserPool, marks: Processing) -> None:
        self._run = run
        self._parsers = parsers
        self._marks = marks
        self.attachments = 0
        """Files in the documents that were made."""

    def make(self, items: Sequence[StaleDocument]) -> Iterator[int]:
        """Parse and record stale items; yield the number of items after each transaction."""
        before: list[Reading] = []
        for batch in batched_by_size(items, BATCH, BATCH_BYTES, size=attrgetter("size")):
            readings = self._read(batch, {each.item.key: each.making for each in before if each.making is not None})
            yield from self._finish(before)
            before = readings
        yield from self._finish(before)

    def _read(self, batch: Sequence[StaleDocument], makings_before: Mapping[ContentKey, Making]) -> list[Reading]:
        """Read a batch and have its items parsed, but for those whose content is known or being made.

        Args:
            batch: stale items.
            makings_before: those of the batch before, which is not recorded yet.
        """
        known = self._known(batch)
        wanted = [item for item in batch if item.key not in known and not item.is_taken]
        self._marks.begin({item.uri for item in wanted})
        reader = ItemReader(self._run, wanted, self._parsers)
        makings = {**makings_before, **known}
        readings = []
        for item in batch:
            if item.key in makings:
                reading = Reading(item, makings[item.key])
            elif item.is_taken:
                reading = Reading(item, failure=_NOT_WHOLE)
            else:
                reading = reader.read(item)
                if reading.making is not None:
                    reading.making = makings.setdefault(reading.item.key, reading.making)
            readings.append(reading)
        return readings

    def _known(self, batch: Sequence[StaleDocument]) -> dict[ContentKey, Making]:
        """Return the contents that were parsed before; a page's is there since its crawl, which reuses nothing."""
        force = self._run.selection.force
        pages = {item.key for item in batch if item.format == PAGE}
        contents = known_contents(self._run.connection, [item for item in batch if item.is_taken or not force])
        return {
            key: Making(content=content, is_reused=content.has_document or key not in pages)
            for key, content in contents.items()
        }

    def _finish(self, readings: Sequence[Reading]) -> Iterator[int]:
        """Wait for the documents of a batch, and record them every few seconds."""
        done: list[Reading] = []
        recorded = time.monotonic()
        for reading in readings:
            try:
                self._make(reading)
            except ParseError as error:
                reading.failure, reading.making = Failure.of(error), None
            except SourcebookError:  # it concerns every document: record the finished ones and end the run
                self._record(done)
                raise
            done.append(reading)
            if time.monotonic() - recorded > RECORDED_EACH_SECONDS:
                yield self._record(done)
                done, recorded = [], time.monotonic()
        if done:
            yield self._record(done)

    def _make(self, reading: Reading) -> None:
        """Wait for the document of an item, unless its content is known, and count it."""
        item, making, report = reading.item, reading.making, self._run.report
        if making is None:
            return
        if making.content is None and making.parse is not None:
            document = making.parse()
            if self._run.redactor is not None:
                document = redacted_document(document, self._run.redactor)
            making.content = Content(
                document.title,
                document.language,
                dict(document.metadata),
                content_hash(document.markdown, document.blocks, document.title),
                bool(document.blocks),
                document.nothing_to_read,
                attachments=len(document.attachments),
                title_in_reports=self._run.texts.title(document.title or name_as_title(item.uri), document.markdown),
            )
            making.document, making.parse = document, None
            report.work += parsing_work(item.media_type, item.size)
        if making.content is not None:
            measurements.record(CACHE_HITS if making.is_reused else CACHE_MISSES, 1, "parsed_contents")
            if making.is_reused:
                report.count("reused")
            making.is_reused = True

    def _count(self, item: StaleDocument, content: Content) -> None:
        report = self._run.report
        if item.content_hash is None:
            report.added += 1
        elif item.content_hash != content.content_hash and item.uri not in self._run.returned:
            report.changed += 1
        if not content.has_text:
            report.count("skipped")

    def _record(self, readings: Sequence[Reading]) -> int:
        """Record items in one transaction, and return the number of those that have a document or a failure now.

        An item that the database refuses is recorded as failed; its content is kept for others that share it.
        """
        write_in_halves(self._run.connection, readings, self._store, Reading.fail)
        report, texts = self._run.report, self._run.texts
        for reading in readings:
            item, content = reading.item, reading.content
            if reading.making is not None:
                for uri, reason in unindexable_attachments(item, reading.making.document):
                    report.fail(uri, reason, FailureClass.TOO_LARGE)
                reading.making.document = None
            if content is not None:
                self.attachments += content.attachments or 0
                self._count(item, content)
            if content is not None and item.content_hash != content.content_hash:
                title = content.title_in_reports or texts.title(content.title or name_as_title(item.uri))
                report.note(title, item.uri)
            if reading.failure is not None:
                report.fail(item.uri, texts.text(reading.failure.reason), reading.failure.failure_class)
        return sum(reading.is_settled for reading in readings)

    def _store(self, readings: Sequence[Reading]) -> None:
        with self._run.connection.cursor() as cursor:
            record(cursor, self._run, readings)
        self._marks.end({reading.item.uri for reading in readings if reading.is_settled})
