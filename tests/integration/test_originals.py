"""Originals are the very bytes that documents were made from, or are said to be gone."""

import hashlib
import os
import time
from typing import BinaryIO

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFile

from sourcebook.admin import originals
from sourcebook.errors import OriginalError, OriginalGoneError, ParseError, QueryError, TemporaryParseError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.parsing.reading_child import ReadingChild
from tests.checkout import EXAMPLES
from tests.integration.membership import live, take_policies
from tests.integration.stages import Stages, html
from tests.integration.test_attachments import message
from tests.unit.parsing.archives.archive_writer import zipped

REPORT = (EXAMPLES / "library" / "reports" / "annual-review-2024.pdf").read_bytes()
NOTE = "# Anchor\n\nThe anchor lies in five fathoms.\n"


def read(knowledge: KnowledgeBase, document: str | int) -> bytes:
    with knowledge.original(document) as original:
        content = original.stream.read()
    assert (len(content), hashlib.sha256(content).hexdigest()) == (original.size, original.sha256)
    return content


def test_the_bytes_of_a_file_come_as_they_were_read(stages: Stages) -> None:
    text = "# Power\r\n\nThe batteries last.\n"
    stages.write("a <b>.md", text)
    stages.configure()
    stages.run()
    with stages.knowledge.original(stages.uri("a <b>.md")) as original:
        assert (original.name, original.media_type) == ("a <b>.md", "text/markdown")
        (stages.root / "a <b>.md").unlink()  # it stays open
        assert original.stream.read() == text.encode()
    assert original.stream.closed


def test_other_bytes_and_missing_files_are_gone(stages: Stages) -> None:
    path = stages.write("power.md", NOTE)
    stages.configure()
    stages.run()
    times = path.stat()
    path.write_text(NOTE.replace("five", "nine"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # size and time are the same
    with pytest.raises(OriginalGoneError, match="another version"):
        stages.knowledge.original(stages.uri("power.md"))
    path.unlink()
    with pytest.raises(OriginalGoneError, match="no longer has it"):
        stages.knowledge.original(stages.uri("power.md"))
    outside = stages.root.parent / "secret.md"
    outside.write_text(NOTE)
    path.symlink_to(outside)
    with pytest.raises(OriginalError, match="cannot be read"):
        stages.knowledge.original(stages.uri("power.md"))


def test_a_file_is_hashed_once_for_each_of_its_states(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changed bytes are noticed although size and time are those of before: the time of the change itself is not."""
    path = stages.write("power.md", NOTE)
    stages.configure()
    stages.run()
    hashed: list[int] = []
    digest = originals._digest

    def counted(opened: BinaryIO) -> bytes:
        hashed.append(1)
        return digest(opened)

    monkeypatch.setattr(originals, "_digest", counted)
    monkeypatch.setattr(originals, "_SETTLED_NANOSECONDS", 0)
    for _ in range(3):
        assert read(stages.knowledge, stages.uri("power.md")) == NOTE.encode()
    assert len(hashed) == 1
    times = path.stat()
    path.write_text(NOTE.replace("five", "nine"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(OriginalGoneError, match="another version"):
        stages.knowledge.original(stages.uri("power.md"))
    monkeypatch.setattr(originals, "_SETTLED_NANOSECONDS", 10**18)
    path.write_text(NOTE)
    for _ in range(2):
        assert read(stages.knowledge, stages.uri("power.md")) == NOTE.encode()
    assert len(hashed) == 4, "it was changed just now"


def test_files_in_archives_and_attachments_are_read_out_of_them(stages: Stages) -> None:
    """A container with other bytes by now has none of them."""
    stages.write("old.zip", zipped({"a b/note.md": NOTE, "other.txt": "Rudder."}))
    stages.write("minutes.eml", message("We spoke of the mast.", {"note.md": NOTE, "report.pdf": REPORT}))
    stages.configure()
    stages.run()
    assert read(stages.knowledge, stages.uri("old.zip/a b/note.md")) == NOTE.encode()
    assert read(stages.knowledge, stages.uri("minutes.eml/note.md")) == NOTE.encode()
    assert read(stages.knowledge, stages.uri("minutes.eml/report.pdf")) == REPORT
    assert stages.knowledge.page_image(stages.uri("minutes.eml/report.pdf"), 1).pages > 1
    stages.write("old.zip", zipped({"a b/note.md": NOTE}))
    with pytest.raises(OriginalGoneError, match="another version"):
        stages.knowledge.original(stages.uri("old.zip/a b/note.md"))


def test_a_linked_file_of_a_site_is_kept_and_the_markup_of_a_page_is_not(stages: Stages) -> None:
    stages.web.page("/", html("Home", links=["/report.pdf"]))
    stages.web.page("/report.pdf", REPORT, content_type="application/pdf")
    stages.configure_site()
    stages.run()
    assert read(stages.knowledge, stages.address("/report.pdf")) == REPORT
    with pytest.raises(OriginalGoneError, match="only the text was kept"):
        stages.knowledge.original(stages.address("/"))


def test_a_taken_document_has_the_original_of_the_one_that_it_is_taken_from(stages: Stages) -> None:
    base = take_policies(stages)
    assert read(base.knowledge, live(base)["a.md"]["id"]) == (base.root / "a.md").read_bytes()


def test_files_of_a_store_are_copied_and_compared(stages: Stages) -> None:
    store = fsspec.filesystem("memory")
    store.store["/originals/power.md"] = MemoryFile(store, "/originals/power.md", NOTE.encode())
    try:
        stages.configure("collections: {handbook: {files: [{root: 'memory://originals'}]}}")
        stages.run()
        (item,) = stages.knowledge.documents()
        assert read(stages.knowledge, item.uri) == NOTE.encode()
        store.store["/originals/power.md"] = MemoryFile(store, "/originals/power.md", NOTE.encode() * 100)
        with pytest.raises(OriginalGoneError, match="another version"):
            stages.knowledge.original(item.uri)
        del store.store["/originals/power.md"]
        with pytest.raises(OriginalGoneError):
            stages.knowledge.original(item.uri)
    finally:
        store.store.pop("/originals/power.md", None)


def test_a_page_is_drawn_with_a_passage_marked(stages: Stages) -> None:
    """The marks are where the passage's words are, on each of its pages; without a picture the places alone."""
    stages.write("report.pdf", REPORT)
    stages.configure()
    stages.run()
    uri = stages.uri("report.pdf")
    found = stages.knowledge.show(uri)
    passage = next(each for each in found.passages if each.page == 2)
    plain = stages.knowledge.page_image(uri, 2)
    marked = stages.knowledge.page_image(uri, 2, passage=passage.ordinal)
    assert plain.png.startswith(b"\x89PNG")
    assert (plain.width, plain.height, plain.page) == (marked.width, marked.height, 2)
    assert not plain.boxes
    assert marked.boxes
    assert marked.png != plain.png
    assert all(0 <= left < right <= 1 and 0 <= top < bottom <= 1 for left, top, right, bottom in marked.boxes)
    places = stages.knowledge.page_image(uri, 2, scale=None, passage=passage.ordinal)
    assert (places.png, places.boxes) == (b"", marked.boxes)
    large = stages.knowledge.page_image(uri, 1, scale=10)
    assert max(large.width, large.height) == 2_000
    for page, options in [(0, {}), (99, {}), (1, {"scale": 0}), (1, {"scale": float("nan")}), (1, {"passage": 999})]:
        with pytest.raises(QueryError):
            stages.knowledge.page_image(uri, page, **options)  # type: ignore[arg-type]


def test_what_is_no_pdf_or_a_damaged_one_is_refused(stages: Stages) -> None:
    stages.write("note.md", NOTE)
    stages.write("broken.pdf", b"%PDF-1.4\n" + bytes(100))
    stages.configure()
    stages.run()
    for name in ("note.md", "broken.pdf"):
        with pytest.raises(QueryError):
            stages.knowledge.page_image(stages.uri(name), 1)


def test_a_reader_that_hangs_crashes_or_takes_all_memory_fails_alone() -> None:
    """The next file is read by another process."""
    child = ReadingChild(seconds=20)
    short = ReadingChild(seconds=1)
    starved = ReadingChild(memory=1_000_000)
    try:
        with pytest.raises(TemporaryParseError, match="within 1 seconds"):
            short._run(time.sleep, 60)
        with pytest.raises(TemporaryParseError, match="crashed"):
            child._run(os._exit, 3)
        with pytest.raises(ParseError):
            starved.picture(REPORT, 1, 10)
        assert child.picture(REPORT, 1, 0.5).pages > 1
        child.close()
        assert child.picture(REPORT, 1, 0.5).pages > 1, "it starts again"
    finally:
        for each in (child, short, starved):
            each.close()
