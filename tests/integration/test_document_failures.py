"""The stage `documents` where a file cannot be read as it lies there, or changes under the reader's eyes."""

from datetime import UTC, datetime, timedelta

import pytest

from sourcebook.model.selection import Selection
from tests.integration.stages import Stages

BROKEN = b"PK\x03\x04 this is no archive" + bytes(50)


def test_the_bytes_that_are_parsed_are_the_bytes_that_are_recorded(stages: Stages) -> None:
    """A file that changed between listing and parsing is recorded as what was parsed, and is up to date."""
    stages.write("a.md", "The flag is green.")
    stages.configure()
    stages.raw_files()
    stages.write("a.md", "The flag is white, and longer.")
    stages.documents()
    stages.chunks()
    stages.embeddings()
    stages.search_index()
    assert stages.raw_file("a.md")["sha256"] == stages.document("a.md")["input_hash"]
    assert stages.raw_file("a.md")["size"] == (stages.root / "a.md").stat().st_size
    assert (stages.found("white"), stages.found("green")) == ({"a.md"}, set())
    reports = stages.run()
    assert not reports["documents"].worked
    assert stages.document("a.md")["version"] == 1


def test_a_file_that_became_an_unsupported_type_meanwhile_is_skipped(stages: Stages) -> None:
    stages.write("a.md", "The flag is green.")
    stages.configure()
    stages.raw_files()
    stages.write("a.md", b"\x1f\x8b\x08" + bytes(40))
    report = stages.documents()
    assert (report.added, report.failed) == (0, 0)
    assert stages.item("a.md")["state"] == "skipped"


def test_a_file_that_vanished_after_the_listing_fails_alone(stages: Stages) -> None:
    stages.write("a.md", "The flag is green.")
    stages.write("b.md", "The flag is white.")
    stages.configure()
    stages.raw_files()
    (stages.root / "a.md").unlink()
    report = stages.documents()
    assert (report.added, report.failed) == (1, 1)
    assert stages.item("a.md")["error"] == "it vanished between listing and reading"
    stages.run()
    assert not stages.rows("SELECT FROM item WHERE state = 'failed'")
    assert stages.found("flag") == {"b.md"}


def test_a_failure_keeps_the_old_version_and_waits_for_a_change(stages: Stages) -> None:
    """Bytes that no parser reads are not tried again until they or the settings change, or a person asks."""
    good = stages.write("report.docx", _docx("The batteries last ninety hours."))
    kept = good.read_bytes()
    stages.write("b.md", "The flag is white.")
    stages.configure()
    stages.run()
    assert stages.found("batteries") == {"report.docx"}

    stages.write("report.docx", BROKEN)
    report = stages.run()["documents"]
    assert (report.failed, report.unchanged) == (1, 1)
    assert report.failures[0].uri == stages.uri("report.docx")
    item = stages.item("report.docx")
    assert (item["state"], item["version"], item["attempts"], item["next_retry_at"]) == ("failed", 1, 1, None)
    assert item["error"]
    assert stages.found("batteries") == {"report.docx"}, "the old version stays searchable"
    stages.due_now()
    assert not stages.pending().work, "no time brings it back"
    assert not stages.run()["documents"].failed

    assert stages.run(Selection(only_failed=True))["documents"].failed == 1
    stages.configure("collections: {handbook: {files: [{root: ./docs}], parsing: {timeout: 200s}}}")
    assert stages.pending().work, "other settings may read it"
    assert stages.run()["documents"].failed == 1
    assert stages.item("report.docx")["attempts"] == 3
    assert not stages.pending().work

    stages.write("report.docx", kept)
    report = stages.run()["documents"]
    item = stages.item("report.docx")
    assert (report.failed, item["state"], item["version"], item["attempts"]) == (0, "ready", 1, 0)
    stages.assert_sound()


def test_a_temporary_failure_is_retried_at_once_and_then_later_and_later(stages: Stages) -> None:
    """A file that vanished between listing and reading is due at once, then after 1, 2, 4 minutes."""
    file = stages.write("report.docx", _docx("The batteries last ninety hours."))
    content = file.read_bytes()
    stages.configure()
    stages.raw_files()
    file.unlink()
    waits = []
    for _ in range(4):
        assert stages.documents().failed == 1
        waits.append(_wait(stages))
        stages.due_now()
    assert [max(round(wait.total_seconds() / 60), 0) for wait in waits] == [0, 1, 2, 4]
    file.write_bytes(content)
    assert stages.documents().failed == 0


def test_only_failed_retries_at_once_and_touches_nothing_else(stages: Stages) -> None:
    stages.write("bad.docx", BROKEN)
    stages.write("a.md", "The flag is green.")
    stages.configure()
    assert stages.run()["documents"].failed == 1
    assert stages.document("bad.docx")["version"] == 0
    stages.write("a.md", "The flag is white.")
    reports = stages.run(Selection(only_failed=True))
    assert (reports["documents"].failed, reports["documents"].changed) == (1, 0)
    assert stages.item("bad.docx")["attempts"] == 2
    assert stages.found("green") == {"a.md"}
    stages.run()
    assert stages.found("white") == {"a.md"}


@pytest.mark.parametrize("content", [b"", b" \n\t \r\n\n", b"\xef\xbb\xbf", "\u00a0\u2003\n".encode()])
@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html", "a.csv", "a.json", "a.py"])
def test_a_file_without_text_is_a_document_without_passages_that_says_so(
    stages: Stages, name: str, content: bytes
) -> None:
    """A copy of it, whose content is not parsed again, says the same."""
    stages.write(name, content)
    stages.configure()
    stages.run()
    (stages.root / "copy").mkdir()
    stages.write(f"copy/{name}", content)
    reports = stages.run()
    assert reports["documents"].extra.get("reused") == 1
    for place in (name, f"copy/{name}"):
        item = stages.item(place)
        assert (item["state"], item["error"]) == ("skipped", "it holds no text")
    assert not stages.rows("SELECT FROM search_entry")
    assert not stages.pending().work
    stages.assert_sound()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("nul.txt", b"The tide \x00 is high."),
        ("latin.txt", "Die Gezeit an der Küste: tide.".encode("latin-1")),
        ("broken.md", b"# tide\n\nBroken \xff\xfe\xfa bytes"),
        ("wide.txt", "The tide is high.".encode("utf-16")),
        ("markdown-in-disguise.pdf", b"The tide is high, and this is no PDF."),
        ("page-in-disguise.docx", b"<!doctype html><html><body><p>The tide is high.</p></body></html>"),
    ],
)
def test_where_there_is_content_it_is_searchable(stages: Stages, name: str, content: bytes) -> None:
    stages.write(name, content)
    stages.configure()
    stages.run()
    assert stages.item(name)["state"] == "ready"
    assert stages.found("tide") == {name}


def _wait(stages: Stages) -> timedelta:
    retry: datetime = stages.item("report.docx")["next_retry_at"]
    return retry - datetime.now(UTC)


def _docx(text: str) -> bytes:
    import io

    from docx import Document

    document = Document()
    document.add_heading("Report", level=1)
    document.add_paragraph(text)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()
