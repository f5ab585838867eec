"""Usage of models: what is computed, what a cache had, what it cost, and who says so."""

import json
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from assets.materialization import describe_usage
from sourcebook.command.app import app
from sourcebook.contract.usage import Usage
from sourcebook.database.usage_log import UsageLog, store_uses
from sourcebook.embedding.metering import TokenMeter
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.errors import ModelError, QueryError
from sourcebook.indexing.generations import ensure_generation
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.report import StageReport
from sourcebook.model.usage import EMBED_QUERY, LOCAL, TRANSCRIBE, Use
from sourcebook.stages.embeddings import embed_missing
from tests.integration.stages import Stages

TIDES = "# Tides\n\nHigh water is at noon, and low water in the evening.\n"
FLAGS = "# Flags\n\nThe flag is green when boats may leave the harbour.\n"


class Service:
    """An embedder of a service that bills other numbers of tokens than the tokenizer counts."""

    def __init__(self, inner: OnnxEmbedder, tokens: int | None = 1_000, provider: str = "openai") -> None:
        self.inner = inner
        self.tokens = tokens
        self.provider = provider
        self.meter = TokenMeter()
        self.fails = False

    def submit(self, texts: Sequence[str]) -> "Future[NDArray[np.float32]]":
        self.meter.add(self.tokens)
        if self.fails:
            failed: Future[NDArray[np.float32]] = Future()
            failed.set_exception(ModelError("the connection was lost behind the answer"))
            return failed
        return self.inner.submit(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.meter.add(self.tokens)
        return self.inner.embed_query(text)

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def library(stages: Stages) -> Stages:
    stages.configure()
    stages.write("tides.md", TIDES)
    stages.write("flags.md", FLAGS)
    return stages


def _prices(stages: Stages, prices: str) -> None:
    files = f"files: [{{root: ./{stages.root.name}}}]"
    stages.configure(f"collections:\n  {stages.collection}:\n    {files}\n    usage: {{prices: {prices}}}\n")


def _prepared(stages: Stages) -> None:
    stages.raw_files()
    stages.documents()
    stages.chunks()


def _embed(stages: Stages, service: Service) -> StageReport:
    """Embed with a service, whose model the settings of the collection seem to name."""
    with stages.connection() as reader, stages.connection() as writer:
        generation = ensure_generation(reader, stages.collection)
        return embed_missing(reader, writer, generation, lambda _: service)


def _by_operation(stages: Stages) -> dict[str | None, Usage]:
    return {each.operation: each for each in stages.knowledge.usage(by=["provider", "model", "operation"])}


def test_an_ingest_and_its_searches_are_metered_with_what_the_caches_had(library: Stages) -> None:
    """Passages count the tokens of their chunks; a second collection and a second question come from the cache."""
    library.run()
    (tokens,) = (row["sum"] for row in library.rows("SELECT sum(token_count) FROM chunk"))
    library.search("When is high water?")
    library.search("When is high water?")
    library.knowledge.release()
    found = _by_operation(library)
    passages, query = found["embed_passages"], found["embed_query"]
    assert (passages.texts, passages.cached, passages.tokens, passages.cost) == (2, 0, tokens, 0.0)
    assert (passages.provider, passages.model) == ("local", "all-MiniLM-L6-v2")
    assert 0 < passages.seconds < 60
    assert (query.texts, query.cached, query.tokens, query.cost) == (2, 1, 7, 0.0)
    library.write("copy.md", TIDES)
    library.run()
    assert (_by_operation(library)["embed_passages"].texts, _by_operation(library)["embed_passages"].cached) == (3, 1)
    library.run()
    assert _by_operation(library)["embed_passages"].texts == 3, "a run without changes uses nothing"
    (day,) = {each.day for each in library.knowledge.usage()}
    assert day == datetime.now(UTC).date()


def test_the_sentences_of_results_are_metered(library: Stages) -> None:
    library.run()
    library.search("ebb and flow of the ocean", mode="vector", snippets="meaning")
    library.knowledge.release()
    sentences = _by_operation(library)["embed_sentences"]
    assert sentences.texts >= 2
    assert sentences.tokens is not None
    assert sentences.tokens > sentences.texts


def test_a_service_is_billed_by_its_own_count_and_the_list_of_prices(library: Stages) -> None:
    _prepared(library)
    service = Service(library.embedder)
    _prices(library, "{all-MiniLM-L6-v2: 0.5}")
    report = _embed(library, service)
    assert report.tokens == 1_000
    assert report.cost == pytest.approx(1_000 * 0.5 / 1e6)
    library.search_index()
    with KnowledgeBase(library.database, query_embedder=service) as knowledge:
        knowledge.search("When is high water?")
        knowledge.release()
        (total,) = knowledge.usage(by=[])
        assert (total.texts, total.tokens) == (3, 2_000)
        assert total.cost == pytest.approx(0.001)
        assert (total.day, total.model) == (None, None)
        _prices(library, "{}")
        assert [each.cost for each in knowledge.usage()] == [None, None], "no list has this model at this provider"


def test_what_nobody_counted_or_prices_is_unknown_and_so_is_every_sum_with_it(library: Stages) -> None:
    _prepared(library)
    report = _embed(library, Service(library.embedder, None))
    assert report.use() == {"tokens": None, "cost": None}
    with library.connection() as connection:
        store_uses(connection, [Use("handbook", "local", "m", EMBED_QUERY, 1, tokens=5)])
    assert {each.tokens for each in library.knowledge.usage()} == {None, 5}
    (total,) = library.knowledge.usage(by=[])
    assert (total.tokens, total.cost) == (None, None)


def test_what_a_service_billed_before_it_failed_is_kept(library: Stages) -> None:
    _prepared(library)
    service = Service(library.embedder)
    service.fails = True
    with pytest.raises(ModelError, match="lost behind"):
        _embed(library, service)
    (used,) = library.knowledge.usage()
    assert (used.texts, used.tokens) == (0, 1_000)


def test_usage_waits_where_the_database_cannot_be_written_and_adds_up(library: Stages) -> None:
    import psycopg

    log = UsageLog()
    use = Use("handbook", "openai", "text-embedding-3-small", EMBED_QUERY, 1, tokens=50_000, seconds=0.5)
    log.add(use)
    with library.database.connection() as connection:
        connection.execute("SET default_transaction_read_only = on")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            log.store(connection)
        connection.execute("SET default_transaction_read_only = off")
        log.add(use)
        log.store(connection)
        log.store(connection)
        store_uses(connection, [use])
    (found,) = library.knowledge.usage()
    assert (found.texts, found.tokens, found.seconds) == (3, 150_000, 1.5)
    assert found.cost == pytest.approx(150_000 * 0.02 / 1e6), "the price of the list, by provider and model"


def test_usage_is_chosen_by_time_and_collection_and_outlives_its_collection(library: Stages) -> None:
    with library.database.connection() as connection:
        store_uses(connection, [Use("gone", "local", "m", EMBED_QUERY, 1)])
        connection.execute("UPDATE usage SET day = day - 10")
        store_uses(connection, [Use("handbook", "local", "m", EMBED_QUERY, 1)])
    knowledge = library.knowledge
    assert [each.collection for each in knowledge.usage()] == ["handbook", "gone"]
    assert [each.collection for each in knowledge.usage(since=timedelta(days=9))] == ["handbook"]
    assert [each.collection for each in knowledge.usage("gone")] == ["gone"]
    with pytest.raises(QueryError, match="no collection"):
        knowledge.usage("nowhere")
    with pytest.raises(QueryError, match="kept by week"):
        knowledge.usage(by=["week"])


def test_the_commands_show_usage_and_what_is_unknown(library: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", library.database.location.url or "")
    runner = CliRunner()
    assert "No model was used" in runner.invoke(app, ["usage"]).output
    with library.database.connection() as connection:
        store_uses(connection, [Use(library.collection, "local", "m", EMBED_QUERY, 3, 1, 20)])
    listed = runner.invoke(app, ["usage", "--by", "model", "--by", "operation"])
    assert listed.output.splitlines()[1].split("\t") == ["m", EMBED_QUERY, "3", "1", "20", "0.0", "0.00"]
    with library.database.connection() as connection:
        store_uses(connection, [Use(library.collection, "host.example.com", "m", EMBED_QUERY, 3, 1, 20)])
    found = json.loads(runner.invoke(app, ["usage", "--json"]).output)
    assert {each["provider"]: each["cost"] for each in found["usage"]} == {"local": 0, "host.example.com": None}
    assert found["total"]["cost"] is None
    assert "usage.prices" in runner.invoke(app, ["usage"]).output
    assert "6 texts (2 from the cache), 40 tokens, cost unknown" in runner.invoke(app, ["status"]).output
    status = json.loads(runner.invoke(app, ["status", "--json"]).output)
    assert {each["cost"] for each in status["collections"][0]["usage"]} == {0, None}


def test_transcribing_has_its_seconds_of_sound_and_of_processors(
    library: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two columns more where there is such use; of other operations nobody measures the processor time."""
    spoken = Use(library.collection, LOCAL, "faster-whisper/base", TRANSCRIBE, 2, 1, 0, 40.0, 120.0, 70.5)
    with library.database.connection() as connection:
        store_uses(connection, [spoken, spoken])
        (record,) = describe_usage(connection, library.collection)["usage_of_30_days"].records
    assert (record.data["seconds of sound"], record.data["processor seconds"]) == (240.0, 141.0)
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", library.database.location.url or "")
    shown = CliRunner().invoke(app, ["usage", "--by", "operation"]).output.splitlines()
    assert [line.split("\t")[-2:] for line in shown] == [["s of sound", "processor s"], ["240.0", "141.0"]]
    with library.database.connection() as connection:
        store_uses(connection, [Use(library.collection, LOCAL, "m", EMBED_QUERY, 1)])
    (total,) = library.knowledge.usage(by=[])
    assert (total.texts, total.sound_seconds, total.processor_seconds) == (5, 240.0, None)
    shown = CliRunner().invoke(app, ["usage", "--by", "operation"]).output.splitlines()
    assert shown[2].split("\t")[-2:] == ["0.0", "?"]


def test_dagster_has_the_numbers_of_a_run_and_a_table_of_the_usage(library: Stages) -> None:
    """Numbers are plotted over the runs; what is unknown is null, and a word in the table."""
    _prepared(library)
    with library.connection() as connection:
        assert describe_usage(connection, library.collection) == {}
    report = _embed(library, Service(library.embedder, None, "api.example.com"))
    assert report.use() == {"tokens": None, "cost": None}
    assert replace(report, tokens=12, cost=0.25).use() == {"tokens": 12, "cost": 0.25}
    assert StageReport.from_json(report.finish("v").to_json()).use() == report.use(), "of a run that is recorded later"
    with library.connection() as connection:
        table = describe_usage(connection, library.collection)["usage_of_30_days"]
    (record,) = table.records
    assert (record.data["provider"], record.data["operation"]) == ("api.example.com", "embed_passages")
    assert (record.data["texts"], record.data["tokens"], record.data["cost"]) == (2, "unknown", "unknown")
