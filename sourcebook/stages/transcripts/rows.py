"""Recordings and transcripts as the database keeps them. Connections are in autocommit mode, and used by one thread."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

from psycopg import Connection
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from sourcebook.config.speech import SpeechSettings
from sourcebook.database.queries import queries
from sourcebook.database.usage_log import store_uses
from sourcebook.model import revisions
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.model.transcript import Language, Recording, Segment, Transcript, Window, chapters_of, most_spoken
from sourcebook.model.usage import Use
from sourcebook.redaction.ingestion import with_identity
from sourcebook.redaction.redactor import Redactor
from sourcebook.speech.engine import engine_identity
from sourcebook.speech.segments import redacted_segments
from sourcebook.stages.ingest_redaction import redaction_identity

PROBE = f"probe/{revisions.PROBE}"
"""Count it up when `Recording` may say something else of the same file."""

_EARLIER_FIELDS = 5
"""Fields of a segment in transcripts of versions that knew one language a recording."""


@dataclass(frozen=True, slots=True)
class StaleRecording:
    """A file that has no transcript of its present bytes by the present engine."""

    source_id: int
    uri: str
    sha256: bytes
    size: int
    modified: str
    """As in `FileEntry.modified`, when the bytes were hashed."""
    touched: str | None
    content_hash: bytes | None
    """Content hash of the existing transcript; None without one."""


@dataclass(frozen=True, slots=True)
class TranscriptState:
    """Progress of a transcript."""

    finished: bool
    damaged: bool
    """Whether somebody else than the library changed it."""
    heard: float
    """Seconds from the beginning that are transcribed."""
    language: str | None
    """Language of the last speech so far; once finished, the one most spoken."""
    language_probability: float | None


def speech_settings(connection: Connection, collection: str) -> SpeechSettings:
    """Return how a collection's recordings are to be transcribed."""
    row = connection.execute(queries["speech_settings"], {"collection": collection}).fetchone()
    return SpeechSettings.model_validate(row[0]) if row and row[0] else SpeechSettings()


def transcript_engine(connection: Connection, collection: str) -> str:
    """Return the identity of what makes a collection's transcripts: its engine, and redaction at ingestion."""
    return with_identity(
        engine_identity(speech_settings(connection, collection)), redaction_identity(connection, collection)
    )


def stale_recordings(
    connection: Connection, collection: str, engine: str, selection: Selection = EVERYTHING
) -> list[StaleRecording]:
    """Return the recordings of a collection that are to be transcribed, in one query.

    Args:
        connection: to the knowledge base.
        collection: its name.
        engine: identity of the engine wanted.
        selection: which ones.
    """
    with connection.cursor(row_factory=class_row(StaleRecording)) as cursor:
        return cursor.execute(
            queries["stale_recordings"],
            {
                "collection": collection,
                "engine": engine,
                "documents": list(selection.documents),
                "locations": list(selection.sources),
                "only_failed": selection.only_failed,
                "force": selection.force,
            },
        ).fetchall()


def known_recordings(connection: Connection, sha256s: Iterable[bytes]) -> dict[bytes, Recording]:
    """Return what is known of files by their bytes."""
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["recordings"], {"sha256s": list(sha256s), "probe": PROBE})
        return {row.pop("sha256"): Recording(**row) for row in rows}


def record_recording(connection: Connection, sha256: bytes, recording: Recording) -> None:
    """Keep what a file holds."""
    connection.execute(
        queries["record_recording"],
        {
            "sha256": sha256,
            "probe": PROBE,
            "sound_sha256": recording.sound_sha256,
            "duration": recording.duration,
            "title": recording.title,
            "metadata": Jsonb(dict(recording.metadata)),
        },
    )


class TranscriptLedger:
    """One sound's transcript by one engine, written window by window."""

    def __init__(
        self,
        connection: Connection,
        recording: Recording,
        engine: str,
        use: Use | None = None,
        redactor: Redactor | None = None,
    ) -> None:
        """Make the ledger of a sound.

        Args:
            connection: in autocommit mode.
            recording: which has the sound.
            engine: identity of the engine.
            use: whose collection and model the use of the engine is counted for; not counted where None.
            redactor: replaces what is not stored as it is; None where everything is.
        """
        self._redactor = redactor
        self._connection = connection
        self._use = use
        self._key: dict[str, Any] = {"sound_sha256": recording.sound_sha256, "engine": engine}
        self.title = recording.title
        self._chapters = recording.chapters

    def state(self) -> TranscriptState:
        """Return how far it is."""
        with self._connection.cursor(row_factory=class_row(TranscriptState)) as cursor:
            found = cursor.execute(queries["transcript_state"], self._key).fetchone()
        return found or TranscriptState(False, False, 0.0, None, None)

    def forget(self, *, with_language: bool = False) -> None:
        """Delete the windows, so that the sound is transcribed again, and the language where it was changed."""
        self._connection.execute(queries["forget_transcript"], {**self._key, "with_language": with_language})

    def add(self, start: float, window: Window) -> None:
        """Keep a window, in one transaction.

        Args:
            start: where it begins, in seconds.
            window: which ends behind that.
        """
        with self._connection.transaction():
            self._record_language(window.language)
            self._connection.execute(
                queries["record_window"],
                {
                    **self._key,
                    "starts_at": start,
                    "ends_at": window.end,
                    "segments": Jsonb([_row(segment) for segment in self._redacted(window.segments)]),
                },
            )
            self._count(
                sound_seconds=window.end - start, seconds=window.seconds, processor_seconds=window.processor_seconds
            )

    def finish(self, language: Language | None) -> None:
        """Record that the last window is there, and the language that is spoken longest.

        Args:
            language: language of the last speech, for windows of earlier versions, whose segments have none.
        """
        self._redact_whole()
        spoken = most_spoken(self.segments()) or language
        with self._connection.transaction():
            self._record_language(spoken)
            self._connection.execute(queries["finish_transcript"], self._key)
            self._count(texts=1)

    def reuse(self) -> None:
        """Count a recording whose transcript was there."""
        self._count(texts=1, cached=1)

    def segments(self) -> tuple[Segment, ...]:
        """Return everything that was said so far."""
        return segments_of(self._connection, **self._key)

    def content_hash(self) -> bytes:
        """Return the identity of what a document is made of: sha256 over title, language, segments and chapters."""
        content: list[Any] = [self.title, self.state().language, [_row(segment) for segment in self.segments()]]
        content += [self._chapters] if self._chapters else []
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).digest()

    def _redacted(self, segments: Sequence[Segment]) -> Sequence[Segment]:
        return segments if self._redactor is None else redacted_segments(self._redactor, segments)

    def _redact_whole(self) -> None:
        """Redact what only the whole transcript shows, such as a number that is spoken across two windows."""
        if self._redactor is None:
            return
        windows = self._connection.execute(queries["transcript_windows"], self._key).fetchall()
        said = [Segment(*row) for _, rows in windows for row in rows]
        shown = iter(self._redacted(said))
        with self._connection.transaction():
            for starts_at, rows in windows:
                segments = Jsonb([_row(next(shown)) for _ in rows])
                parameters = {**self._key, "starts_at": starts_at, "segments": segments}
                self._connection.execute(queries["replace_window"], parameters)

    def _count(self, **numbers: Any) -> None:
        if self._use is not None:
            store_uses(self._connection, [replace(self._use, **numbers)])

    def _record_language(self, language: Language | None) -> None:
        self._connection.execute(
            queries["record_transcript"],
            {
                **self._key,
                "language": language.code if language else None,
                "language_probability": round(language.probability, 4) if language else None,
            },
        )


def _row(segment: Segment) -> tuple[Any, ...]:
    """Return a segment as it is stored and hashed: one of an earlier version has no language, and stays as it was."""
    row = astuple(segment)
    return row if segment.language is not None else row[:_EARLIER_FIELDS]


def segments_of(connection: Connection, sound_sha256: bytes, engine: str) -> tuple[Segment, ...]:
    """Return the segments of a transcript in order."""
    rows = connection.execute(queries["transcript_segments"], {"sound_sha256": sound_sha256, "engine": engine})
    return tuple(Segment(*segment) for (segments,) in rows for segment in segments)


def transcripts_of_files(connection: Connection, files: Sequence[tuple[int, str]]) -> dict[tuple[int, str], Transcript]:
    """Return the transcripts of files, by source and URI."""
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            queries["transcripts_of_files"],
            {"source_ids": [source for source, _ in files], "uris": [uri for _, uri in files]},
        )
        return {(row["source_id"], row["uri"]): _transcript(row) for row in rows}


def _transcript(row: dict[str, Any]) -> Transcript:
    segments = tuple(Segment(*segment) for segment in row["segments"])
    return Transcript(row["title"], row["language"], segments, chapters_of(row["chapters"]))


def transcript_of(connection: Connection, document_id: int) -> tuple[Segment, ...] | None:
    """Return the segments that a document was made from; an empty tuple for a recording without speech.

    The result is None for a document that is no recording, and after a newer transcription of its recording.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        transcript = cursor.execute(queries["transcript_of_document"], {"document_id": document_id}).fetchone()
    if transcript is None:
        return None
    windows = connection.execute(queries["transcript_segments"], transcript)
    return tuple(Segment(*row) for (rows,) in windows for row in rows)
