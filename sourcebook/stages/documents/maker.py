"""Parse the items of one collection and record each document in one transaction."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

from psycopg import Connection, Cursor
from psycopg.types.json import Jsonb

from sourcebook.config.parsing import ParsingSettings
from sourcebook.database.batches import batched_by_size
from sourcebook.database.deadlocks import despite_deadlocks
from sourcebook.database.parsed_content import parsed_content_row
from sourcebook.database.queries import queries
from sourcebook.errors import FailureClass, ParseError, SourcebookError, TemporaryParseError, failure_class_of
from sourcebook.files.reading import name_as_title
from sourcebook.files.source import Source
from sourcebook.model.content_hash import content_hash
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import ARCHIVES, CONTAINERS
from sourcebook.model.report import StageReport
from sourcebook.model.selection import Selection
from sourcebook.model.transcript import Transcript
from sourcebook.model.work import parsing_work
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.parsing.redacted_document import redacted_document
from sourcebook.parsing.registry import PAGE
from sourcebook.redaction.redactor import Redactor
from sourcebook.stages.documents.attachments import record_attachments
from sourcebook.stages.documents.reader import ItemReader, Parse
from sourcebook.stages.documents.rows import Content, StaleDocument, known_contents, page_contents
from sourcebook.stages.ingest_redaction import Told, told_of
from sourcebook.stages.processing import Processing
from sourcebook.stages.transcripts.rows import transcripts_of_files
from sourcebook.telemetry.measurements import CACHE_HITS, CACHE_MISSES, measurements

BATCH = 64
"""Items per batch."""
BATCH_BYTES = 8_000_000
"""Bytes of the items of a batch; the next one is read and parsed while one is recorded."""
RECORDED_EACH_SECONDS = 5.0
"""Seconds between two transactions: the work that a killed run loses, besides the current document."""
_NOTHING_TO_READ = {
    "file": "it holds no text",
    "page": "it holds no text",
    "recording": "no speech was recognised in it",
}
_NOT_WHOLE = "its parsed content is damaged: an ingest of the collection that it is taken from makes it again"
"""Failure of a document of another collection: its content is parsed there, never here."""


_Key = tuple[bytes, str]
"""Hash of an item's bytes, and the identity of its parser."""
_Started = tuple[StaleDocument, Parse]
"""An item as it was read, and the function that waits for its document."""


class DocumentMaker:
    """Makes documents of one collection.

    Args:
        connection: in autocommit mode.
        collection: name of the collection.
        sources: sources of its files, by id.
        settings: its parsing settings.
        parsers: pool of parser processes.
        selection: selection of the run.
        report: counts documents and failures.
        marks: says which items are being parsed.
        redactor: replaces what is not stored as it is; None where everything is.
        redaction: identity of what it does; empty without one.
    """

    def __init__(
        self,
        connection: Connection,
        collection: str,
        *,
        sources: Mapping[int, Source],
        settings: ParsingSettings,
        parsers: ParserPool,
        selection: Selection,
        report: StageReport,
        marks: Processing,
        redactor: Redactor | None = None,
        redaction: str = "",
    ) -> None:
        self._redactor = redactor
        self._redaction = redaction
        self._told = told_of(connection, collection)
        self._marks = marks
        self._connection = connection
        self._collection = collection
        self._sources = sources
        self._settings = settings
        self._parsers = parsers
        self._selection = selection
        self._report = report

    def make(self, items: Sequence[StaleDocument], *, returned: set[str]) -> Iterator[int]:
        """Parse and record items; yield the number of items after each transaction.

        Args:
            items: stale items.
            returned: URIs of items that are already counted as returned.
        """
        before = None
        for batch in batched_by_size(items, BATCH, BATCH_BYTES, size=attrgetter("size")):
            begun = self._begin(batch, returned, {} if before is None else before.parses)
            if before is not None:
                yield from self._finish(before, returned)
                begun.take_known(before)
            before = begun
        if before is not None:
            yield from self._finish(before, returned)

    def _begin(
        self, batch: Sequence[StaleDocument], returned: set[str], parsed_before: Mapping[_Key, Parse]
    ) -> "_Begun":
        """Read a batch and have its items parsed; take those whose content is known.

        Args:
            batch: stale items.
            returned: URIs of items that are already counted as returned.
            parsed_before: functions that wait for the documents of the batch before, which are not recorded yet.
        """
        known = known_contents(self._connection, [item for item in batch if item.is_taken or not self._selection.force])
        wanted = [item for item in batch if item.key not in known and not item.is_taken]
        self._marks.begin({item.uri for item in wanted})
        reader = ItemReader(
            self._sources,
            page_contents(self._connection, wanted),
            _transcripts(self._connection, wanted),
            self._parsers,
            self._settings,
            self._redaction,
        )
        begun = _Begun(known, _Outcome(self._collection, self._redactor, self._told))
        outcome, parses = begun.outcome, begun.parses
        for stale in batch:
            if stale.key in known:
                content = known[stale.key]
                # A page's content is there since its crawl; only another document makes it reused.
                self._take(stale, content, outcome, returned, reused=stale.format != PAGE or content.has_document)
                known[stale.key] = replace(content, has_document=True)
                continue
            if stale.is_taken:
                outcome.fail(stale, _NOT_WHOLE, FailureClass.MISSING, temporary=True)
                continue
            parse = parses.get(stale.key) or parsed_before.get(stale.key)
            if parse is not None:
                begun.started.append((stale, parses.setdefault(stale.key, parse)))
                continue
            try:
                item, other, parse = reader.read(stale)
            except FileNotFoundError:
                outcome.fail(stale, "it vanished between listing and reading", FailureClass.MISSING, temporary=True)
                continue
            except OSError as error:
                reason = f"it cannot be read: {error.strerror or error}"
                outcome.fail(stale, reason, failure_class_of(error), temporary=True)
                continue
            except ParseError as error:
                outcome.fail(stale, str(error), error.failure_class, temporary=isinstance(error, TemporaryParseError))
                continue
            if other is not None:
                outcome.moved.append((item, other))
            if parse is not None:
                begun.started.append((item, parses.setdefault(item.key, parse)))
        return begun

    def _finish(self, begun: "_Begun", returned: set[str]) -> Iterator[int]:
        known, outcome = begun.known, begun.outcome
        recorded = time.monotonic()
        for item, parse in begun.started:
            content = known.get(item.key)
            if content is None:
                try:
                    content = known[item.key] = outcome.add(item, parse())
                    self._report.work += parsing_work(item.media_type, item.size)
                except ParseError as error:
                    outcome.fail(
                        item, str(error), error.failure_class, temporary=isinstance(error, TemporaryParseError)
                    )
                    continue
                except SourcebookError:  # it concerns every document: record the finished ones and end the run
                    self._record(outcome)
                    raise
                self._take(item, content, outcome, returned, reused=False)
            else:
                self._take(item, content, outcome, returned)
            if time.monotonic() - recorded > RECORDED_EACH_SECONDS:
                yield self._record(outcome)
                outcome, recorded = _Outcome(self._collection, self._redactor, self._told), time.monotonic()
        yield self._record(outcome)

    def _take(
        self, item: StaleDocument, content: Content, outcome: "_Outcome", returned: set[str], *, reused: bool = True
    ) -> None:
        outcome.made.append((item, content))
        measurements.record(CACHE_HITS if reused else CACHE_MISSES, 1, "parsed_contents")
        if reused:
            self._report.count("reused")
        if item.content_hash is None:
            self._report.added += 1
        elif item.content_hash != content.content_hash and item.uri not in returned:
            self._report.changed += 1
        if not content.has_text:
            self._report.count("skipped")

    def _record(self, outcome: "_Outcome") -> int:
        despite_deadlocks(partial(self._store, outcome))
        for item, content in outcome.made:
            if item.content_hash != content.content_hash:
                title = content.told_title or self._told.title(content.title or name_as_title(item.uri))
                self._report.note(title, item.uri)
        for item, reason, failure_class, _ in outcome.failed:
            self._report.fail(item.uri, reason, failure_class)
        return outcome.done

    def _store(self, outcome: "_Outcome") -> None:
        with self._connection.transaction(), self._connection.cursor() as cursor:
            outcome.record(cursor)
            self._marks.end(outcome.uris)


@dataclass
class _Begun:
    """A batch that is being parsed."""

    known: dict[_Key, Content]
    """Contents that are recorded already, or with the items so far."""
    outcome: "_Outcome"
    started: list[_Started] = field(default_factory=list)
    parses: dict[_Key, Parse] = field(default_factory=dict)

    def take_known(self, before: "_Begun") -> None:
        """Know the contents that the batch before has recorded since this one began."""
        self.known |= {key: before.known[key] for key in self.parses.keys() & before.known.keys()}


class _Outcome:
    """Documents and failures since the last transaction."""

    def __init__(self, collection: str, redactor: Redactor | None, told: Told) -> None:
        self._collection = collection
        self._redactor = redactor
        self._told = told
        self._parsed: dict[tuple[bytes, str], tuple[ParsedDocument, Content]] = {}
        self._containers: dict[tuple[bytes, str], str] = {}
        self.made: list[tuple[StaleDocument, Content]] = []
        self.failed: list[tuple[StaleDocument, str, FailureClass, bool]] = []
        """Items with the reason, its class, and whether another attempt may succeed."""
        self.moved: list[tuple[StaleDocument, dict[str, Any]]] = []

    @property
    def done(self) -> int:
        return len(self.made) + len(self.failed)

    @property
    def uris(self) -> set[str]:
        return {item.uri for item, _ in self.made} | {item.uri for item, *_ in self.failed}

    def add(self, item: StaleDocument, document: ParsedDocument) -> Content:
        if self._redactor is not None:
            document = redacted_document(document, self._redactor)
        content = Content(
            document.title,
            document.language,
            dict(document.metadata),
            content_hash(document.markdown, document.blocks, document.title),
            bool(document.blocks),
            document.nothing_to_read,
            told_title=self._told.title(document.title or name_as_title(item.uri), document.markdown),
        )
        self._parsed[item.key] = document, content
        if document.attachments or item.media_type in CONTAINERS:
            self._containers[item.key] = item.media_type
        return content

    def fail(self, item: StaleDocument, reason: str, failure_class: FailureClass, *, temporary: bool) -> None:
        self.failed.append((item, self._told.text(reason), failure_class, temporary))

    def record(self, cursor: "Cursor[Any]") -> None:
        for item, other in self.moved:
            cursor.execute(queries["record_other_bytes"], {"source_id": item.source_id, "uri": item.uri, **other})
        if self._parsed:
            # In the order of their keys, because two collections that write equal contents wait for each other.
            rows = [
                parsed_content_row(*key, document, content.content_hash)
                for key, (document, content) in sorted(self._parsed.items(), key=itemgetter(0))
            ]
            cursor.executemany(queries["record_parsed_contents"], rows)
        for key, media_type in self._containers.items():
            record_attachments(cursor, key, self._parsed[key][0].attachments, in_archive=media_type in ARCHIVES)
        if self.made:
            rows = [self._facts(_row(self._collection, *pair)) for pair in self.made]
            cursor.executemany(queries["record_documents"], rows)
        for item, reason, failure_class, temporary in self.failed:
            most = failure_class.most_attempts if temporary else 1
            failure = {"failure": reason, "failure_class": failure_class, "most_attempts": most}
            row = self._facts({**_identity(self._collection, item), **failure})
            cursor.execute(queries["record_document_failure"], row)

    def _facts(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the row of a document with what its file's name says redacted, too."""
        return row if self._redactor is None else {**row, "title": self._redactor.redact(row["title"]).text}


def _transcripts(connection: Connection, items: Sequence[StaleDocument]) -> dict[tuple[int, str], Transcript]:
    recordings = [item for item in items if item.kind == "recording"]
    return transcripts_of_files(connection, [(item.source_id, item.uri) for item in recordings]) if recordings else {}


def _identity(collection: str, item: StaleDocument) -> dict[str, Any]:
    return {
        "collection": collection,
        "source_id": item.source_id,
        "uri": item.uri,
        "kind": item.kind,
        "media_type": item.media_type,
        "tags": item.tags,
        "title": name_as_title(item.uri),
        "sha256": item.sha256,
        "parser": item.parser,
    }


def _row(collection: str, item: StaleDocument, content: Content) -> dict[str, Any]:
    nothing = content.nothing_to_read or _NOTHING_TO_READ[item.kind]
    return {
        **_identity(collection, item),
        "title": content.title or name_as_title(item.uri),
        "language": content.language,
        "metadata": Jsonb(content.metadata if item.metadata is None else item.metadata),
        "content_hash": content.content_hash,
        "skip_reason": None if content.has_text else nothing,
    }
