"""Pages, messages with attachments, and recordings are taken as what they are."""

import hashlib
import json
from pathlib import Path

from sourcebook.model.transcript import Language, Segment, Window
from sourcebook.speech.engine import engine_identity
from sourcebook.speech.probing import probe
from sourcebook.stages.transcripts.rows import TranscriptLedger, record_recording, speech_settings, transcript_of
from tests.integration.membership import hits, live, run, take
from tests.integration.stages import Stages, html
from tests.integration.test_attachments import message
from tests.sounds import tone, write_sound

SECONDS = 2.0


def configure(stages: Stages) -> None:
    """Let `policies` take what a site and a folder of `handbook` hold."""
    site = {
        "url": stages.address("/"),
        "tags": ["policy"],
        "politeness": {"requests_per_second": "unlimited"},
        "render": "never",
    }
    handbook = {"sites": [site], "files": [{"root": "./docs", "tags": ["policy"]}]}
    policies = {"from": {"collection": "handbook", "tags": ["policy"]}}
    stages.configure(json.dumps({"collections": {"handbook": handbook, "policies": policies}}))


def speak(stages: Stages, path: Path, title: str, text: str, *, begin: float = 0.25) -> None:
    """Write a recording whose transcript is known, so that no engine has to transcribe it."""
    write_sound(path, tone(440, SECONDS), tags={"title": title})
    stages.settle(path)
    recording = probe(str(path), max_hours=1)
    with stages.connection() as connection:
        record_recording(connection, hashlib.sha256(path.read_bytes()).digest(), recording)
        ledger = TranscriptLedger(connection, recording, engine_identity(speech_settings(connection, "handbook")))
        segment = Segment(begin, SECONDS, text, -0.1, 0.0)
        ledger.add(0.0, Window(SECONDS, Language("en", 0.99), (segment,)))
        ledger.finish(Language("en", 0.99))


def test_pages_messages_and_attachments_are_taken_as_what_they_are(stages: Stages) -> None:
    """Tags of a site or a folder are those of every page, message and attachment."""
    stages.web.page("/", html("Tides", "The tide of the page is green."))
    stages.write("minutes.eml", message("The mast is green.", {"note.md": "The anchor is green."}))
    configure(stages)
    run(stages, "handbook")
    take(stages)
    kinds = {row["uri"].rpartition("/")[2]: row["kind"] for row in live(stages).values()}
    assert kinds == {"": "page", "minutes.eml": "file", "note.md": "file"}
    assert hits(stages, "green") == {"", "minutes.eml", "note.md"}
    own = {name: row["metadata"] for name, row in live(stages, "handbook").items()}
    assert {name: row["metadata"] for name, row in live(stages).items()} == own
    stages.write("minutes.eml", message("The mast is green.", {}))
    run(stages, "handbook")
    take(stages)
    assert set(live(stages)) == {"", "minutes.eml"}


def test_recordings_and_pages_are_taken_with_their_times_and_follow_every_change(stages: Stages) -> None:
    """No recording is transcribed and no page is fetched or parsed for the collection that takes them."""
    stages.web.page("/", html("Tides", "The tide is green.", links=["/pier"]))
    stages.web.page("/pier", html("Pier", "The steps of the pier are green."))
    configure(stages)
    path = stages.root / "talk.flac"
    speak(stages, path, "A talk", "The lantern is green at night.")
    run(stages, "handbook")
    assert take(stages)["documents"].added == 3
    assert {name: row["kind"] for name, row in live(stages).items()} == {
        "": "page", "pier": "page", "talk.flac": "recording"
    }  # fmt: skip
    assert hits(stages, "green") == {"", "pier", "talk.flac"}
    for name, taken in live(stages).items():
        own = live(stages, "handbook")[name]
        same = ("title", "language", "metadata", "media_type", "content_hash", "dated_at")
        assert {key: taken[key] for key in same} == {key: own[key] for key in same}
    (hit,) = stages.search("lantern", collections="policies", mode="keyword")
    assert (hit.start_seconds, hit.end_seconds) == (0.25, SECONDS)
    with stages.connection() as connection:
        assert transcript_of(connection, live(stages)["talk.flac"]["id"]) is not None

    speak(stages, path, "Another talk", "The lantern is green at night.")
    stages.web.page("/pier", html("Pier", "The steps of the pier are white."))
    stages.rows("UPDATE source SET next_crawl_at = now() WHERE kind = 'site' RETURNING 1")
    run(stages, "handbook")
    assert take(stages)["documents"].changed == 2
    assert live(stages)["talk.flac"]["title"] == "Another talk"
    assert hits(stages, "white") == {"pier"}

    path.unlink()
    stages.web.page("/", html("Tides", "The tide is green."))
    stages.web.page("/pier", "", status=404)
    stages.rows("UPDATE source SET next_crawl_at = now() WHERE kind = 'site' RETURNING 1")
    run(stages, "handbook")
    requests = len(stages.web.requests)
    assert take(stages)["documents"].removed == 2
    assert set(live(stages)) == hits(stages, "green") == {""}
    assert len(stages.web.requests) == requests
