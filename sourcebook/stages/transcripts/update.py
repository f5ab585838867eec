"""The stage `transcripts`: transcribes the recordings of a collection.

Reads: `raw_file` rows of sound and video, the files themselves, and the collection's speech settings.
Writes: `recording` (description by the file's SHA-256), `transcript` and its windows (by the sound's SHA-256 and the
engine's identity), and the transcript or failure of each file.
Stale: a file whose present bytes have no finished transcript by the present engine, model and language, whose last try
failed and is due again, or whose rows somebody else has changed.

A transcript belongs to the sound, not to the file: a recording that was renamed, copied or given other tags is not
transcribed again. It is written window by window, so a killed run resumes after its last window.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.database.refusals import refusals_as, write_in_halves
from sourcebook.database.stage_runs import refresh_statistics
from sourcebook.errors import FailureClass, RecordingError, SpeechError, TemporaryRecordingError, failure_class_of
from sourcebook.files.confinement import open_confined
from sourcebook.files.reading import local_path, open_file, store_errors
from sourcebook.files.source import Source
from sourcebook.files.upload_store import upload_path
from sourcebook.indexing.damage import find_suspicion, heightened
from sourcebook.indexing.mending import mend_recordings
from sourcebook.model.progress import Progress, silent
from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.model.storable import storable_text
from sourcebook.model.transcript import Language, Recording
from sourcebook.model.usage import LOCAL, TRANSCRIBE, Use, model_label
from sourcebook.model.work import transcribing_work
from sourcebook.redaction.documents import redacted_facts
from sourcebook.redaction.redactor import Redactor
from sourcebook.speech.process import SpeechProcess
from sourcebook.stages.ingest_redaction import collection_redactor, forget_whole_transcripts, redaction_identity
from sourcebook.stages.observed_stage import observed_stage
from sourcebook.stages.other_work import OtherWork
from sourcebook.stages.processing import Processing, processing
from sourcebook.stages.raw_files import collection_sources
from sourcebook.stages.transcripts.presence import has_recordings
from sourcebook.stages.transcripts.rows import (
    StaleRecording,
    TranscriptLedger,
    known_recordings,
    record_recording,
    speech_settings,
    stale_recordings,
    transcript_engine,
)


@observed_stage("transcripts")
def update_transcripts(
    connection: Connection,
    collection: str,
    selection: Selection = EVERYTHING,
    progress: Progress = silent,
    *,
    home: Path,
    gives_way: bool = False,
) -> StageReport:
    """Transcribe every recording of a collection that has no transcript of its present bytes by its engine.

    A recording that cannot be read is reported as failed, and keeps its earlier transcript. If the engine cannot be
    loaded, every recording fails in this way.

    Args:
        connection: connection in autocommit mode.
        collection: name of the collection; the caller holds its lock.
        selection: restriction to some recordings; `force` transcribes them again.
        progress: function that receives the seconds of sound done and in total.
        home: state folder.
        gives_way: whether the rest is left to the next run, which goes on from there, where other work waits.
    """
    report = StageReport()
    scope = {"collection": collection}
    if has_recordings(connection, collection):
        selection = heightened(selection, find_suspicion(connection, collection))
        if selection.thorough and (damaged := mend_recordings(connection, collection)):
            report.count("damaged", damaged)
        settings = speech_settings(connection, collection)
        engine = transcript_engine(connection, collection)
        redactor = collection_redactor(connection, collection)
        stale = [
            recording
            for recording in stale_recordings(connection, collection, engine, selection)
            if selection.shard is None or selection.shard.takes(recording.uri)
        ]
        sources = {source.id: source for source in collection_sources(connection, collection)}
        with (
            SpeechProcess(settings, home) as speech,
            processing(connection, collection, "transcripts", shares=selection.shard is not None) as marks,
        ):
            model = f"{settings.engine}/{model_label(settings.model)}"
            use = Use(collection, LOCAL, model, TRANSCRIBE, 0, processor_seconds=0.0)
            others = OtherWork(connection, collection, [file.uri for file in stale]) if gives_way else None
            stage = _Stage(
                connection, engine, use, sources, speech, selection, report, progress, marks, redactor, others
            )
            stage.run(stale)
        if redactor is not None and stale:
            forget_whole_transcripts(connection, collection, redaction_identity(connection, collection))
    row = connection.execute(queries["count_transcribed"], scope).fetchone()
    report.unchanged = max((row[0] if row else 0) - report.added - report.changed, 0)
    refresh_statistics(connection, queries["analyze_transcripts"], report)
    row = connection.execute(queries["transcripts_version"], scope).fetchone()
    return report.finish(row[0] if row else "")


class _OthersWaitError(Exception):
    """Other work of the collection waits."""


@dataclass(slots=True)
class _Stage:
    """One run over the stale recordings."""

    connection: Connection
    engine: str
    use: Use
    sources: Mapping[int, Source]
    speech: SpeechProcess
    selection: Selection
    report: StageReport
    progress: Progress
    marks: Processing
    redactor: Redactor | None
    others: OtherWork | None
    _heard: float = 0.0
    """Seconds of sound that are done."""
    _processor: float = 0.0
    """Seconds of processor time."""
    _total: float = 0.0
    """Seconds of sound of all recordings."""

    def run(self, stale: list[StaleRecording]) -> None:
        with suppress(_OthersWaitError):
            self._run(stale)
        if self._processor:
            self.report.count("processor_seconds", round(self._processor))

    def _run(self, stale: list[StaleRecording]) -> None:
        known = known_recordings(self.connection, {file.sha256 for file in stale})
        ready: list[tuple[StaleRecording, Recording]] = []
        for file in stale:
            try:
                with refusals_as(RecordingError):
                    recording = known[file.sha256] = self._described(file, known.get(file.sha256))
                ready.append((file, recording))
            except (RecordingError, SpeechError) as error:
                self._fail(file, error)
        sounds = {recording.sound_sha256: recording.duration for _, recording in ready}
        self._total = sum(sounds.values())
        done: set[bytes] = set()
        for file, recording in ready:
            self._look_around()
            self.marks.end()
            self.marks.begin([file.uri])
            try:
                with refusals_as(RecordingError):
                    content_hash = self._transcribe(file, recording, is_first=recording.sound_sha256 not in done)
                    done.add(recording.sound_sha256)
                    self._record(file, recording, content_hash)
            except (RecordingError, SpeechError) as error:
                self._fail(file, error)

    def _look_around(self) -> None:
        if self.others is not None and self.others.waits():
            raise _OthersWaitError

    def _described(self, file: StaleRecording, known: Recording | None) -> Recording:
        """Return the description of a recording, recorded as it may be stored."""
        if known is None:
            with place_of(self.sources, file.source_id, file.uri) as place:
                recording = self._redacted(self.speech.probe(place))
            self._check_unchanged(file)
        else:
            recording = self._redacted(known)
        if recording != known:
            record_recording(self.connection, file.sha256, recording)
        return recording

    def _redacted(self, recording: Recording) -> Recording:
        if self.redactor is None:
            return recording
        title, metadata = redacted_facts(self.redactor, recording.title, dict(recording.metadata))
        return replace(recording, title=title, metadata=metadata)

    def _transcribe(self, file: StaleRecording, recording: Recording, *, is_first: bool) -> bytes:
        """Finish the transcript of a file's sound; return the content hash of its document."""
        ledger = TranscriptLedger(self.connection, recording, self.engine, self.use, self.redactor)
        if self.selection.force and is_first:
            ledger.forget()
        if ledger.state().damaged:
            ledger.forget(with_language=True)
        state = ledger.state()
        if state.finished:
            self.report.count("reused")
            ledger.reuse()
            self._advance(recording.duration if is_first else 0.0)
            return ledger.content_hash()
        start = state.heard
        language = (
            Language(state.language, round(state.language_probability or 0.0, 4))
            if start and state.language is not None
            else None
        )
        self._advance(start)
        with place_of(self.sources, file.source_id, file.uri) as place:
            for window in self.speech.transcribe(place, start=start, language=language, track=recording.track):
                ledger.add(start, window)
                self._processor += window.processor_seconds
                self._advance(window.end - start)
                start, language = window.end, window.language
                if start < recording.duration:
                    self._look_around()
        try:
            self._check_unchanged(file)
        except RecordingError:
            ledger.forget()
            raise
        ledger.finish(language)
        self.report.count("seconds_of_sound", round(recording.duration))
        self.report.work += transcribing_work(recording.duration)
        return ledger.content_hash()

    def _check_unchanged(self, file: StaleRecording) -> None:
        """Raise `RecordingError` if a local file is not the hashed one any more: its transcript belongs to the hash."""
        if not file.uri.startswith("file://"):
            return
        try:
            with open_confined(self.sources[file.source_id], local_path(file.uri)) as opened:
                status = os.fstat(opened.fileno())
        except FileNotFoundError:
            raise RecordingError("it vanished while it was read", FailureClass.MISSING) from None
        except OSError as error:
            raise RecordingError(f"it cannot be read: {error.strerror}", failure_class_of(error)) from None
        if (status.st_size, str(status.st_mtime_ns)) != (file.size, file.modified) or (
            file.touched is not None and str(status.st_ctime_ns) != file.touched.partition(" ")[0]
        ):
            raise RecordingError(
                "it changed while it was read; the next run takes it as it is then", FailureClass.MISSING
            )

    def _advance(self, seconds: float) -> None:
        self._heard += seconds
        self.progress(round(self._heard), round(max(self._total, self._heard)), self.report.failed)

    def _record(self, file: StaleRecording, recording: Recording, content_hash: bytes) -> None:
        self.connection.execute(
            queries["record_transcribed_file"],
            {
                "source_id": file.source_id,
                "uri": file.uri,
                "sha256": file.sha256,
                "sound_sha256": recording.sound_sha256,
                "engine": self.engine,
                "content_hash": content_hash,
            },
        )
        if file.content_hash is None:
            self.report.added += 1
        elif file.content_hash != content_hash:
            self.report.changed += 1

    def _fail(self, file: StaleRecording, error: RecordingError | SpeechError) -> None:
        row = {
            "source_id": file.source_id,
            "uri": file.uri,
            "sha256": file.sha256,
            "engine": self.engine,
            "failure": storable_text(str(error)),
            "failure_class": error.failure_class,
            "most_attempts": error.failure_class.most_attempts,
            "temporary": isinstance(error, TemporaryRecordingError),
        }
        write_in_halves(
            self.connection,
            [row],
            lambda rows: self.connection.execute(queries["record_transcription_failure"], rows[0]),
        )
        self.report.fail(file.uri, str(error), error.failure_class)


@contextmanager
def place_of(sources: Mapping[int, Source], source_id: int, uri: str) -> Iterator[str]:
    """Lend a local path or a URL that fsspec opens.

    A recording of a Git repository, or of a remote store of uploads, is copied to a temporary file.

    Args:
        sources: the sources by their ids.
        source_id: id of the source of the recording.
        uri: URI of the recording.

    Raises:
        RecordingError: it cannot be copied.
    """
    source = sources.get(source_id)
    upload = source.uploads.get(uri) if source is not None and source.uploads is not None else None
    stored = upload_path(upload.sha256, upload.store) if upload is not None else None
    if stored is not None:
        yield str(stored)
        return
    if source is None or (source.repository is None and source.uploads is None):
        yield local_path(uri) if uri.startswith("file://") else uri
        return
    with NamedTemporaryFile(prefix="sourcebook-") as copy:
        try:
            with store_errors(source), open_file(source, uri) as content:
                shutil.copyfileobj(content, copy)
            copy.flush()
        except OSError as error:
            reason = f"it cannot be read: {error.strerror or error}"
            raise RecordingError(reason, failure_class_of(error)) from None
        yield copy.name
