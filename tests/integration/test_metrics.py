"""Metrics from the ledger: true, cheap, and there even where the database is not."""

import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.measurement_writer import MeasurementWriter, store_measurements
from sourcebook.database.pool import StatementLimits
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.metrics import register
from sourcebook.metrics.server import LedgerCollector, MetricsServer, MetricsServerError, read_ledger
from sourcebook.telemetry.measurements import measurements
from tests.integration.stages import Stages
from tests.waiting import wait_until

Samples = dict[str, dict[tuple[str, ...], float]]


def samples(text: str) -> Samples:
    """Return the values of an exposition by name and by values of the labels in alphabetical order of their names."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = tuple(value for _, value in sorted(sample.labels.items()))
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def scrape(collector: LedgerCollector) -> Samples:
    registry = CollectorRegistry()
    registry.register(collector)
    return samples(generate_latest(registry).decode())


@pytest.fixture(autouse=True)
def _own_counts() -> Iterator[None]:
    """Counts of this test alone."""
    measurements.forget()
    yield
    measurements.forget()


@pytest.fixture
def collector(database: Database) -> Iterator[LedgerCollector]:
    collector = LedgerCollector(database.url)
    yield collector
    collector.close()


def test_a_scrape_tells_the_state_of_the_knowledge_base(stages: Stages, collector: LedgerCollector) -> None:
    stages.configure()
    stages.write("a.md", "# Flags\n\nThe flag is green.\n")
    stages.write("b.md", "# Tides\n\nHigh water is at noon.\n")
    stages.write("broken.docx", b"PK\x03\x04 nothing else")
    stages.run()
    with KnowledgeBase(stages.database, query_embedder=stages.embedder) as knowledge:
        for _ in range(2):
            assert len(knowledge.search("Which flag?")) == 2
        knowledge.release()
        found = scrape(collector)
    assert found["sourcebook_up"] == {(): 1}
    states = {state: number for (_, state), number in found["sourcebook_documents"].items()}
    assert states == {"ready": 2, "failed": 1}
    assert found["sourcebook_chunks"] == {("handbook",): 2}
    assert {labels[0] for labels in found["sourcebook_failures"]} == {"corrupt"}
    assert found["sourcebook_freshness_lag_seconds"] == {("handbook",): 0}
    assert found["sourcebook_searches_total"] == {("hybrid", "ok"): 2}
    assert found["sourcebook_search_seconds_count"] == {("hybrid",): 2}
    assert found["sourcebook_search_leg_seconds_count"][("vector",)] == 2
    assert found["sourcebook_search_leg_seconds_count"][("keyword",)] == 2
    assert found["sourcebook_search_results_sum"] == {("hybrid",): 4}
    assert found["sourcebook_cache_hits_total"][("query_vectors",)] == 1
    assert found["sourcebook_cache_misses_total"][("query_vectors",)] == 1
    assert found["sourcebook_embedding_calls_total"] == {("passages",): 1, ("query",): 1}
    assert found["sourcebook_embedding_texts_total"] == {("passages",): 2, ("query",): 1}
    assert found["sourcebook_embedding_tokens_total"][("passages",)] > 10
    assert found["sourcebook_stage_items_total"][("failed", "documents")] == 1


def test_counts_of_several_processes_add_up(database: Database, collector: LedgerCollector) -> None:
    from sourcebook.telemetry.measurements import SEARCHES

    with database.connection() as connection:
        for _ in range(2):
            measurements.record(SEARCHES, 3, "keyword", "ok")
            store_measurements(connection)
            measurements.forget()  # as another process
        store_measurements(connection)
    assert scrape(collector)["sourcebook_searches_total"] == {("keyword", "ok"): 6}


def test_counts_that_cannot_be_stored_are_kept(database: Database) -> None:
    import psycopg

    from sourcebook.telemetry.measurements import SEARCHES

    measurements.record(SEARCHES, 1, "keyword", "ok")
    with database.connection() as connection:
        connection.execute("SET default_transaction_read_only = on")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            store_measurements(connection)
        connection.execute("SET default_transaction_read_only = off")
        store_measurements(connection)
        # Errors of the database that earlier tests in this process have met are counted, too.
        kept = connection.execute("SELECT name, total FROM measurement WHERE name <> 'database_errors'").fetchall()
        assert [total for _, total in kept] == [1.0], kept


def test_a_process_without_counts_opens_no_connection(database: Database) -> None:
    """A sensor's tick begins and ends a writer, mostly with nothing to write."""
    from sourcebook.telemetry.measurements import SEARCHES

    connections = database.new_pool(1, StatementLimits())
    for recorded in (0, 1):
        if recorded:
            measurements.record(SEARCHES, 1, "keyword", "ok")
        writer = MeasurementWriter(connections)
        writer.start()
        writer.close()
        assert connections.check_outs == recorded
    connections.close()


def test_errors_of_the_database_are_counted_by_class(database: Database) -> None:
    from sourcebook.errors import DatabaseError

    with pytest.raises(DatabaseError), database.connection() as connection:
        connection.execute("SELECT nothing")
    with pytest.raises(DatabaseError):
        Database(DatabaseLocation(Path(), "postgresql://127.0.0.1:1/nowhere"))
    counted = {labels: total for (name, labels, _), total in measurements.totals().items() if name == "database_errors"}
    assert counted == {("DatabaseError",): 1, ("DatabaseUnavailableError",): 1}


def test_a_searching_application_registers_its_own_metrics(stages: Stages) -> None:
    registry = CollectorRegistry()
    register(registry)
    stages.configure()
    stages.write("a.md", "# Flags\n\nThe flag is green.\n")
    stages.run()
    stages.search("flag")
    found = samples(generate_latest(registry).decode())
    assert sum(found["sourcebook_searches_total"].values()) == 1
    infinity = found["sourcebook_search_seconds_bucket"][("+Inf", "hybrid")]
    assert infinity == found["sourcebook_search_seconds_count"][("hybrid",)] == 1


def test_a_malformed_url_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """PostgreSQL's own message about such a URL repeats it, with the password."""
    collector = LedgerCollector("postgresql://user:s3cret@pass@host/x")
    assert scrape(collector)["sourcebook_up"] == {(): 0}
    collector.close()
    assert "not of the form postgresql://" in caplog.text
    assert "s3cret" not in caplog.text


def test_a_scrape_without_dagsters_database_leaves_no_connection(database: Database) -> None:
    """The knowledge base answers, Dagster's database does not: the connection to the first is closed."""
    collector = LedgerCollector(database.url, "postgresql://127.0.0.1:1/nowhere")
    assert scrape(collector)["sourcebook_up"] == {(): 0}
    collector.close()
    with database.connection() as connection:

        def open_ones() -> int:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sourcebook metrics' "
                "AND datname = current_database()"
            ).fetchone()
            return int(row[0]) if row else -1

        wait_until(lambda: open_ones() == 0, what="the connection is closed")


def test_a_scrape_during_an_outage_is_quick_and_says_so(public_folder: Path) -> None:
    """HTTP 200 with `sourcebook_up 0`, and everything again once the database is back."""
    server = EmbeddedServer(public_folder / "postgres")
    location = DatabaseLocation(public_folder, None)
    database = Database(location)
    with MetricsServer(database.url, port=0) as metrics:
        address = f"http://127.0.0.1:{metrics.port}/metrics"

        def ask() -> tuple[float, Samples]:
            started = time.monotonic()
            with urllib.request.urlopen(address, timeout=60) as answer:
                assert answer.status == 200
                return time.monotonic() - started, samples(answer.read().decode())

        assert ask()[1]["sourcebook_up"] == {(): 1}
        database.close()
        server.close()
        answers: list[tuple[float, Samples]] = []

        def says(up: int) -> bool:
            answers.append(ask())
            return answers[-1][1]["sourcebook_up"] == {(): up}

        wait_until(lambda: says(0), what="a scrape tells the outage", every=0.2)  # a reading is kept for 3 s
        seconds, found = answers[-1]
        assert "sourcebook_documents" not in found
        assert seconds < 10
        with Database(location):
            wait_until(lambda: says(1), what="a scrape tells the end of the outage", every=0.2)


def test_a_database_that_never_answers_holds_no_scrape(tmp_path: Path) -> None:
    """The server accepts the connection and says nothing."""
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        collector = LedgerCollector(f"postgresql://127.0.0.1:{silent.getsockname()[1]}/x")
        started = time.monotonic()
        assert scrape(collector)["sourcebook_up"] == {(): 0}
        assert time.monotonic() - started < 30
        collector.close()


LARGE = """
INSERT INTO collection (name, settings) SELECT 'c' || number, '{}' FROM generate_series(1, 20) AS number;
INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes)
SELECT name, 'files', '/' || name, '{}', '{}', '{}', 1 FROM collection;
INSERT INTO generation (collection, chunking, embedding, model, dimensions)
SELECT name, '{}', '{}', 'm', 384 FROM collection;
UPDATE collection SET active_generation_id = generation.id FROM generation WHERE generation.collection = name;
INSERT INTO document
    (collection, source_id, uri, kind, media_type, tags, input_hash, config_hash, content_hash, failure)
SELECT collection, source.id, location || number, 'file', 'text/markdown', '{}', '', 'p', sha256(number::text::bytea),
       CASE WHEN number % 100 = 0 THEN 'its parser was not done after 120 seconds' END
FROM source CROSS JOIN generate_series(1, 5000) AS number;
INSERT INTO indexed_document (generation_id, document_id, input_hash, config_hash, chunk_count, published_hash)
SELECT generation.id, document.id, content_hash, 'c', 1, CASE WHEN document.id % 1000 > 0 THEN content_hash END
FROM document JOIN generation USING (collection);
DELETE FROM changed_document
WHERE document_id IN (SELECT document_id FROM indexed_document WHERE published_hash IS NOT NULL)
"""


@pytest.mark.alone
def test_a_scrape_at_100_000_documents_takes_less_than_a_tenth_of_a_second(database: Database) -> None:
    with database.connection() as connection:
        for statement in (*LARGE.split(";"), "VACUUM ANALYZE"):
            connection.execute(statement.encode())
        seconds = []
        for _ in range(10):
            started = time.perf_counter()
            families = {family.name: family for family in read_ledger(connection)}
            seconds.append(time.perf_counter() - started)
        told = dict(connection.execute("SELECT state, count(*) FROM item GROUP BY 1").fetchall())
    states: defaultdict[str, float] = defaultdict(float)
    for sample in families["sourcebook_documents"].samples:
        states[sample.labels["state"]] += sample.value
    assert states == told
    assert set(told) == {"ready", "pending", "failed"}
    print(f"\n{min(seconds) * 1000:.0f} ms a scrape")
    assert min(seconds) < 0.1


def test_a_port_that_is_taken_is_told(database: Database) -> None:
    with MetricsServer(database.url, port=0) as first, pytest.raises(MetricsServerError, match="--metrics-port"):
        MetricsServer(database.url, port=first.port)
