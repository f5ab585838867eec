"""Recordings: from a file of sound to a passage with its time, once for each sound."""

import hashlib
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from sourcebook.admin.items import find_document
from sourcebook.admin.removal import purge, purgeable
from sourcebook.model.selection import Selection
from sourcebook.model.transcript import SAMPLE_RATE, Language, Recording, Segment, Window
from sourcebook.processes.worker_pool import WorkerPool
from sourcebook.speech.decoding import Samples
from sourcebook.stages.transcripts.rows import TranscriptLedger, transcript_of
from tests.integration.stages import Stages
from tests.integration.transcripts.conftest import KeptProcess
from tests.integration.transcripts.recordings import SETTINGS, configure, put
from tests.sounds import BRIEF_SECONDS, NOTE_WORD, join_tracks, write_sound


@pytest.mark.usefixtures("shared_speech")
def test_what_is_said_is_found_with_its_time(stages: Stages, brief: Path) -> None:
    """A word leads to the passage it is said in; its document has the recording's title, language and metadata.

    The language decides the stemming: a recording in English is found by another form of its words.
    """
    configure(stages)
    put(stages, "note.m4a", brief)
    reports = stages.run()
    assert (reports["transcripts"].added, reports["transcripts"].failed, reports["documents"].added) == (1, 0, 1)
    (hit, *_) = stages.search(NOTE_WORD, mode="keyword")
    assert hit.start_seconds is not None
    assert hit.end_seconds is not None
    document = stages.document("note.m4a")
    assert (document["kind"], document["language"]) == ("recording", "en")
    with stages.connection() as connection:
        segments = transcript_of(connection, document["id"])
        passages = find_document(connection, str(document["id"])).passages
    assert segments is not None
    spoken = next(segment for segment in segments if NOTE_WORD in segment.text)
    assert hit.start_seconds <= spoken.start < spoken.end <= hit.end_seconds
    assert (passages[0].start_seconds, passages[-1].end_seconds) == (segments[0].start, segments[-1].end)
    assert all(one.end_seconds == other.start_seconds for one, other in itertools.pairwise(passages))
    assert document["metadata"]["codec"] == "aac"
    assert document["metadata"]["duration_seconds"] == pytest.approx(segments[-1].end, abs=3)
    assert document["metadata"]["language_probability"] > 0.9
    assert stages.found(f"{NOTE_WORD}s") == {"note.m4a"}, "of one umbrella it speaks"
    stages.assert_sound()
    assert not stages.pending().work
    (used,) = (each for each in stages.knowledge.usage() if each.operation == "transcribe")
    assert (used.provider, used.model) == ("local", "faster-whisper/base")
    assert (used.texts, used.cached, used.tokens, used.cost) == (1, 0, 0, 0.0)
    assert used.sound_seconds == pytest.approx(BRIEF_SECONDS, abs=0.5)
    assert 0 < used.seconds < 600
    assert used.processor_seconds is not None
    assert 0.2 < used.processor_seconds < 600
    assert reports["transcripts"].extra["processor_seconds"] == round(used.processor_seconds)


@pytest.mark.usefixtures("shared_speech")
def test_the_same_sound_is_transcribed_once(stages: Stages, brief_samples: Samples) -> None:
    """A new name, a copy, other tags and another collection's file cost no transcription; another sound does."""
    configure(stages)
    write_sound(stages.root / "first.mp3", brief_samples, codec="libmp3lame", tags={"title": "First"})
    stages.settle(stages.root / "first.mp3")
    stages.run()
    before = stages.document("first.mp3")
    assert before["title"] == "First"
    (stages.root / "first.mp3").rename(stages.root / "renamed.mp3")
    assert stages.run()["transcripts"].extra == {"reused": 1}
    assert stages.document("renamed.mp3")["id"] == before["id"]
    put(stages, "copies/again.mp3", stages.root / "renamed.mp3")
    assert stages.run()["transcripts"].extra == {"reused": 1}
    assert stages.found(NOTE_WORD) == {"renamed.mp3", "again.mp3"}

    write_sound(stages.root / "renamed.mp3", brief_samples, codec="libmp3lame", tags={"title": "Another title"})
    stages.settle(stages.root / "renamed.mp3")
    report = stages.run()
    assert report["transcripts"].extra == {"reused": 1}
    assert stages.document("renamed.mp3")["title"] == "Another title"
    (used,) = (each for each in stages.knowledge.usage() if each.operation == "transcribe")
    assert (used.texts, used.cached) == (4, 3)
    assert used.sound_seconds == pytest.approx(BRIEF_SECONDS, abs=0.5)
    assert len(stages.rows("SELECT FROM transcript")) == 1

    write_sound(stages.root / "other.mp3", brief_samples[: len(brief_samples) // 2], codec="libmp3lame")
    stages.settle(stages.root / "other.mp3")
    assert "reused" not in stages.run()["transcripts"].extra
    assert len(stages.rows("SELECT FROM transcript")) == 2


def test_nothing_changed_costs_nothing(
    stages: Stages, brief: Path, shared_speech: KeptProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run starts no child and touches no document."""
    configure(stages)
    put(stages, "note.m4a", brief)
    starts: list[WorkerPool] = []

    def start() -> WorkerPool:
        starts.append(KeptProcess._open_pool(shared_speech))
        return starts[-1]

    monkeypatch.setattr(shared_speech, "_open_pool", start)
    first = stages.run()
    assert starts
    starts.clear()
    again = stages.run()
    assert not starts, "no child was asked for"
    assert again["transcripts"].unchanged == 1
    assert not again["transcripts"].worked
    assert again["transcripts"].version == first["transcripts"].version


@pytest.mark.usefixtures("shared_speech")
def test_the_track_with_speech_is_transcribed_and_its_chapters_are_headings(
    stages: Stages, brief: Path, kept_process: KeptProcess, tmp_path: Path
) -> None:
    """A silent default track hides nobody; a chapter with another title changes the document, and costs no engine."""
    configure(stages)
    kept_process.forget()  # the same sound is known from other tests
    write_sound(tmp_path / "silent.m4a", np.zeros(round(BRIEF_SECONDS * SAMPLE_RATE), np.float32))
    for title in ("Lost & found", "At the school"):
        join_tracks([tmp_path / "silent.m4a", brief], tmp_path / "note.mkv", chapters={0.0: "Watchroom", 4.4: title})
        put(stages, "note.mkv", tmp_path / "note.mkv")
        stages.run()
        (hit, *_) = stages.search(NOTE_WORD, mode="keyword")
        assert title in hit.text
        assert stages.found(title.split()[-1]) == {"note.mkv"}
        metadata = stages.document("note.mkv")["metadata"]
        assert (metadata["sound_tracks"], metadata["sound_track"]) == (2, 2)
        assert [chapter["title"] for chapter in metadata["chapters"]] == ["Watchroom", title]
    assert len(stages.rows("SELECT FROM transcript")) == 1
    stages.assert_sound()


@pytest.mark.usefixtures("shared_speech")
def test_silence_is_a_document_that_says_so(stages: Stages) -> None:
    """Nobody speaks: no text is invented, and nobody has to wonder where the document is."""
    configure(stages)
    silence = np.zeros(5 * SAMPLE_RATE, np.float32)
    write_sound(stages.root / "silent.wav", silence, codec="pcm_s16le")
    stages.settle(stages.root / "silent.wav")
    stages.run()
    item = stages.item("silent.wav")
    assert (item["kind"], item["state"]) == ("recording", "skipped")
    assert "no speech" in item["error"]
    assert stages.rows("SELECT FROM chunk") == []
    assert not stages.pending().work


@pytest.mark.usefixtures("shared_speech")
def test_one_bad_recording_fails_alone_and_is_tried_again_when_it_changes(
    stages: Stages, brief: Path, brief_samples: Samples
) -> None:
    """The run goes on; the reason is told, and a repaired file is taken.

    A recording that was overwritten with something broken stays searchable as it was.
    """
    configure(stages)
    stages.write("bad.mp3", "This is no recording.\n" * 50)
    put(stages, "note.m4a", brief)
    report = stages.run()["transcripts"]
    assert (report.added, report.failed) == (1, 1)
    item = stages.item("bad.mp3")
    assert (item["state"], item["attempts"]) == ("failed", 1)
    assert "record" in item["error"]
    assert item["failure_class"] == "unsupported"
    stages.due_now()
    assert stages.run()["transcripts"].failed == 0, "no time brings it back"
    assert stages.run(Selection(only_failed=True))["transcripts"].failed == 1
    write_sound(stages.root / "bad.mp3", brief_samples, codec="libmp3lame")
    stages.settle(stages.root / "bad.mp3")
    assert stages.run()["transcripts"].failed == 0
    assert stages.found(NOTE_WORD) == {"bad.mp3", "note.m4a"}
    stages.write("note.m4a", brief.read_bytes()[:2000])
    stages.run()
    assert stages.item("note.m4a")["state"] == "failed"
    assert stages.found(NOTE_WORD) == {"bad.mp3", "note.m4a"}


@pytest.mark.usefixtures("shared_speech")
def test_a_model_that_is_missing_fails_recordings_and_nothing_else(stages: Stages, brief: Path, tmp_path: Path) -> None:
    """Documents are taken in; each recording says which setting to look at, and is tried again with another model."""
    configure(stages, model=str(tmp_path / "nowhere.pt"))
    put(stages, "note.m4a", brief)
    stages.write("page.md", "# Page\n\nThe lighthouse is white.\n")
    stages.run()
    assert stages.found("lighthouse") == {"page.md"}
    assert "speech.model" in stages.item("note.m4a")["error"]
    configure(stages)
    stages.run()
    assert stages.found(NOTE_WORD) == {"note.m4a"}


@pytest.mark.usefixtures("shared_speech")
def test_recordings_have_limits_of_length_and_size_of_their_own(stages: Stages, brief: Path) -> None:
    """Too long a recording says which setting allows it; a higher limit takes it in.

    `max_bytes` of the source is for documents, which are read whole; `speech.max_bytes` is for recordings.
    """
    configure(stages, max_hours=0.001)
    put(stages, "note.m4a", brief)
    stages.run()
    assert "speech.max_hours" in stages.item("note.m4a")["error"]
    size = brief.stat().st_size
    sources = [{"root": f"./{stages.root.name}", "max_bytes": size - 1}]
    collection = {"files": sources, "speech": SETTINGS}
    stages.configure(json.dumps({"collections": {stages.collection: collection}}))
    stages.due_now()
    stages.run()
    assert stages.found(NOTE_WORD) == {"note.m4a"}
    configure(stages, max_bytes=size - 1)
    stages.run()
    assert "speech.max_bytes" in stages.item("note.m4a")["error"]
    assert stages.found(NOTE_WORD) == set()


@pytest.mark.usefixtures("shared_speech")
def test_a_removed_recording_leaves_and_comes_back_without_work(stages: Stages, brief: Path) -> None:
    """As any document; a purge forgets its transcript."""
    configure(stages)
    path = put(stages, "note.m4a", brief)
    stages.run()
    path.rename(stages.root.parent / "kept.m4a")
    stages.run()
    assert stages.found(NOTE_WORD) == set()
    (stages.root.parent / "kept.m4a").rename(path)
    assert stages.run()["transcripts"].extra == {}
    assert stages.found(NOTE_WORD) == {"note.m4a"}
    path.unlink()
    stages.run()
    with stages.connection() as connection:
        assert purgeable(connection).transcripts == 1
    assert purge(stages.database).transcripts == 1
    assert stages.rows("SELECT FROM transcript") == stages.rows("SELECT FROM recording") == []


def test_force_and_another_language_transcribe_anew(
    stages: Stages, brief_samples: Samples, shared_speech: KeptProcess
) -> None:
    """Forced, it gives the same words, and the document's version stays; a language that is set is the document's."""
    configure(stages)
    write_sound(stages.root / "note.m4a", brief_samples[: 4 * SAMPLE_RATE])  # the wrong language is tried twice
    stages.settle(stages.root / "note.m4a")
    stages.run()
    before = stages.document("note.m4a")
    shared_speech.forget()
    report = stages.run(Selection(force=True))["transcripts"]
    assert "reused" not in report.extra
    assert stages.document("note.m4a")["version"] == before["version"]
    assert stages.found("voice") == {"note.m4a"}
    configure(stages, language="de")
    assert stages.pending().recordings == 1
    stages.run()
    assert stages.document("note.m4a")["language"] == "de"
    assert not stages.pending().work


def test_the_language_spoken_longest_is_the_recording_s(stages: Stages) -> None:
    """It is settled with the last window; until then the ledger has the last one spoken, which a resumed run needs."""
    english, german = Language("en", 0.9), Language("de", 0.8)
    with stages.connection() as connection:
        ledger = TranscriptLedger(connection, Recording(bytes(32), 20.0, None), "engine")
        ledger.add(0.0, Window(12.0, english, (Segment(0.0, 9.0, "Long.", -0.2, 0.1, "en", 0.9),)))
        ledger.add(12.0, Window(20.0, german, (Segment(13.0, 15.0, "Kurz.", -0.2, 0.1, "de", 0.8, 2),)))
        assert ledger.state().language == "de"
        ledger.finish(german)
        state = ledger.state()
        assert (state.finished, state.damaged, state.language) == (True, False, "en")
        assert state.language_probability == pytest.approx(0.9)
        assert ledger.segments()[1] == Segment(13.0, 15.0, "Kurz.", -0.2, 0.1, "de", 0.8, 2)


def test_a_transcript_of_an_earlier_version_stays_what_it_is(stages: Stages) -> None:
    """Its segments have no language of their own: its hash stays, so nothing is made again."""
    rows = [[0.0, 2.0, "Hello.", -0.2, 0.1]]
    with stages.connection() as connection:
        ledger = TranscriptLedger(connection, Recording(bytes(32), 2.0, "Call"), "engine")
        ledger.add(0.0, Window(2.0, Language("en", 0.9), (Segment(0.0, 2.0, "Hello.", -0.2, 0.1),)))
        ledger.finish(Language("en", 0.9))
        assert stages.rows("SELECT segments FROM transcript_window") == [{"segments": rows}]
        said = json.dumps(["Call", "en", rows], ensure_ascii=False)
        assert ledger.content_hash() == hashlib.sha256(said.encode()).digest()
