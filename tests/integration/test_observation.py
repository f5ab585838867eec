"""Spans and log lines of stages and searches, on the real parts."""

import logging

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sourcebook.errors import QueryError
from sourcebook.telemetry import spans
from tests.integration.stages import Stages


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Spans of this test, from a provider of its own."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(spans, "_tracer", lambda: provider.get_tracer("sourcebook"))
    return exporter


def test_an_ingest_and_a_search_are_traced(
    stages: Stages, exporter: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    """Each stage is a span with its counts; a search is one with its legs below it, also in the thread of a leg."""
    stages.configure()
    stages.write("a.md", "# Flags\n\nThe flag is green.\n")
    stages.write("broken.docx", b"PK\x03\x04 nothing else")
    with caplog.at_level(logging.INFO, "sourcebook"):
        stages.run()
    by_name: dict[str, ReadableSpan] = {span.name: span for span in exporter.get_finished_spans()}
    stages_seen = {name.removeprefix("sourcebook.stage.") for name in by_name if ".stage." in name}
    assert {"raw_files", "documents", "chunks", "embeddings", "search_index"} <= stages_seen
    documents = dict(by_name["sourcebook.stage.documents"].attributes or {})
    assert documents["sourcebook.collection"] == "handbook"
    assert (documents["sourcebook.added"], documents["sourcebook.failed"]) == (1, 1)
    failures = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(failures) == 1
    assert "broken.docx failed: " in failures[0].getMessage()

    exporter.clear()
    stages.search("Which flag?")
    found = {span.name: span for span in exporter.get_finished_spans()}
    search = found["sourcebook.search"]
    assert dict(search.attributes or {})["sourcebook.results"] == 1
    for leg in ("sourcebook.search.vector_leg", "sourcebook.search.keyword_leg"):
        parent = found[leg].parent
        assert parent is not None, leg
        assert parent.span_id == search.context.span_id, leg
    assert "Which flag?" not in str([span.to_json() for span in found.values()])


def test_a_refused_search_is_counted_and_no_warning(
    stages: Stages, exporter: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    stages.configure()
    with caplog.at_level(logging.INFO, "sourcebook"), pytest.raises(QueryError):
        stages.search("flag", collections=["nowhere"])
    assert not caplog.records
    (search,) = [span for span in exporter.get_finished_spans() if span.name == "sourcebook.search"]
    assert not search.status.is_ok
