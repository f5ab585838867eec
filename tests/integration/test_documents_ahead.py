"""Documents are read and parsed ahead of the batch that is recorded."""

import os
from typing import Any

import pytest

from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.stages.documents import maker
from sourcebook.stages.documents.maker import DocumentMaker
from tests.integration.stages import Stages


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files whose parsing begins, and `recorded` after each transaction; batches of two files."""
    events: list[str] = []
    start, store = ParserPool.start, DocumentMaker._store

    def noted_start(self: ParserPool, content: bytes, *, name: str, **options: Any) -> Any:
        events.append(name)
        return start(self, content, name=name, **options)

    def noted_store(self: DocumentMaker, outcome: Any) -> None:
        store(self, outcome)
        events.append("recorded")

    monkeypatch.setattr(maker, "BATCH", 2)
    monkeypatch.setattr(ParserPool, "start", noted_start)
    monkeypatch.setattr(DocumentMaker, "_store", noted_store)
    return events


def test_the_next_batch_is_parsed_while_one_is_recorded(stages: Stages, events: list[str]) -> None:
    """Each content once, also where its copy comes before it is recorded."""
    for name, text in {"a": "Tide.", "b": "Mast.", "c": "Gauge.", "d": "Tide.", "e": "Buoy.", "f": "Tide."}.items():
        os.utime(stages.write(f"{name}.md", text), (1_800_000_000, 1_800_000_000))  # else the newest one comes first
    stages.configure()
    stages.raw_files()
    report = stages.documents()
    assert events == ["a.md", "b.md", "c.md", "recorded", "e.md", "recorded", "recorded"]
    assert (report.added, report.extra["reused"]) == (6, 2)
    assert stages.document("a.md")["content_hash"] == stages.document("f.md")["content_hash"]


def test_a_copy_of_a_broken_file_fails_with_it(stages: Stages, events: list[str]) -> None:
    """In the next batch, whose other documents are there."""
    for name, content in {"a.docx": b"PK\x03\x04 broken", "b.md": b"Mast.", "c.docx": b"PK\x03\x04 broken"}.items():
        os.utime(stages.write(name, content), (1_800_000_000, 1_800_000_000))
    os.utime(stages.write("d.md", "Gauge."), (1_700_000_000, 1_700_000_000))
    stages.configure()
    stages.raw_files()
    report = stages.documents()
    assert events == ["a.docx", "b.md", "d.md", "recorded", "recorded"]
    assert (report.added, report.failed) == (2, 2)
    assert stages.document("a.docx")["failure"] == stages.document("c.docx")["failure"]
