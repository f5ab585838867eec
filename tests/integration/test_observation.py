"""Spans and log lines of stages and searches, on the real parts."""

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sourcebook.contract.search import SearchRequest
from sourcebook.errors import DatabaseError, QueryError
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.ranking.reranking.reranker import Reranker
from sourcebook.search.ranking.state import SearchResources
from sourcebook.search.run import run_search
from sourcebook.telemetry import spans
from sourcebook.telemetry.measurements import measurements
from tests.integration.published_passages import publish_passages, unit_vectors
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


class Disturbing:
    """Embeds every query as one vector, and ends every other session of the database the first time."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_first = True

    def embed_query(self, text: str) -> NDArray[np.float32]:
        if self.is_first:
            self.is_first = False
            with psycopg.connect(self.url, autocommit=True) as admin:
                admin.execute(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
        vector: NDArray[np.float32] = unit_vectors(1, seed=99)[0]
        return vector

    def close(self) -> None:
        """Do nothing."""


def searches() -> dict[tuple[str, ...], float]:
    """Return the number of searches by mode and outcome."""
    return {labels: number for (name, labels, _), number in measurements.totals().items() if name == "searches"}


def test_a_search_that_loses_its_connection_counts_once(stages: Stages, caplog: pytest.LogCaptureFixture) -> None:
    """It is run again over a new connection, and is one search, which succeeded."""
    stages.configure()
    publish_passages(stages, [["tide moon", "boat harbour"]])
    before = searches()
    with ThreadPoolExecutor(1) as executor, caplog.at_level(logging.WARNING, "sourcebook"):
        vectors = QueryVectors(Path(), Disturbing(stages.database.url))
        resources = SearchResources(stages.database.pool, executor, vectors, Reranker())
        assert len(run_search(resources, SearchRequest.checked("tide", mode="vector"))) > 0
    grown = {labels: number - before.get(labels, 0) for labels, number in searches().items()}
    assert {labels: number for labels, number in grown.items() if number} == {("vector", "ok"): 1}
    assert not caplog.records


def test_no_query_is_in_the_log_of_a_search_that_the_database_refuses(
    stages: Stages, exporter: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    """The error quotes the statement's values; the log and the span have its class alone."""
    stages.configure()
    publish_passages(stages, [["tide moon", "boat harbour"]])
    with stages.connection() as connection:
        connection.execute(
            "CREATE OR REPLACE FUNCTION query_lexemes(configuration regconfig, content text) "
            "RETURNS TABLE (lexeme text, place integer, is_further boolean) "
            "LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room for %', content; END $$"
        )
    with caplog.at_level(logging.DEBUG, "sourcebook"), pytest.raises(DatabaseError, match="no room for tide"):
        stages.search("tide", mode="keyword")
    (line,) = [record.getMessage() for record in caplog.records if record.name == "sourcebook.search"]
    assert line.startswith("search ended with database_error (DatabaseError) after ")
    told = line + str([span.to_json() for span in exporter.get_finished_spans()])
    assert "DatabaseError" in told
    assert "tide" not in told
