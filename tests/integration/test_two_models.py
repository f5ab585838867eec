"""Two real models: a collection changes from one to another of other prompts and length while it is searched."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sourcebook.embedding.embedder_pool import EmbedderPool
from sourcebook.embedding.model import find_model
from sourcebook.embedding.weights import MULTILINGUAL_NAME as MULTILINGUAL
from sourcebook.indexing.generation_states import activate_generation
from sourcebook.indexing.generations import ensure_generations, find_generations
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.generation import Generation
from sourcebook.model.report import StageReport
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.generations import finish_generations, in_each_generation
from sourcebook.stages.search_index import publish
from tests.exported import link_model
from tests.integration.stages import Stages
from tests.waiting import wait_until

TEXT = """\
collections:
  handbook:
    files: [{{root: ./docs}}]
    chunking: {{tokens: {tokens}}}
    embedding: {{model: {model}, precision: float32}}
"""
DOCUMENTS = {
    "pegel.md": "# Pegel\n\nDer Wasserstand im Hafen wird jede Stunde abgelesen und in das Buch eingetragen.",
    "wind.md": "# Wind\n\nAuf dem Mast misst ein Anemometer die Geschwindigkeit des Windes.",
    "bread.md": "# Bread\n\nThe baker kneads flour, water and salt, and bakes the bread at dawn.",
    "train.md": "# Train\n\nThe locomotive pulls eleven waggons through the tunnel every morning.",
}
GERMAN = "Wie oft liest jemand die Höhe des Meeres ab?"


@pytest.fixture
def pool() -> Iterator[EmbedderPool]:
    with EmbedderPool() as pool:
        yield pool


def build(stages: Stages, pool: EmbedderPool) -> dict[str, StageReport]:
    """Run what follows the documents, each generation with its own model."""
    home = stages.database.location.home
    with stages.connection() as connection, stages.connection() as writer:
        generations = ensure_generations(connection, stages.collection)

        def embed(generation: Generation) -> StageReport:
            settings = generation.embedding_settings
            return embed_missing(connection, writer, generation, lambda texts: pool.for_texts(settings, home, texts))

        reports = {
            "chunks": in_each_generation(
                connection, generations, lambda each: prepare_chunks(connection, each), is_first=True
            ),
            "embeddings": in_each_generation(connection, generations, embed),
            "search_index": in_each_generation(connection, generations, lambda each: publish(connection, each)),
        }
        finish_generations(connection, stages.collection)
    return reports


def vectors(stages: Stages, model: str) -> dict[str, np.ndarray]:
    """Return the stored vector of each text as it was embedded, without its prompt."""
    rows = stages.rows(
        "SELECT chunk.context || chunk.text AS text, embedding.vector::text AS vector FROM chunk "
        "JOIN generation ON generation.id = chunk.generation_id "
        "JOIN embedding ON embedding.model = generation.model AND embedding.text_hash = chunk.embedding_hash "
        "WHERE generation.model LIKE %(model)s || '%%'",
        model=model,
    )
    return {row["text"]: np.array(row["vector"].strip("[]").split(","), np.float32) for row in rows}


def test_a_collection_changes_its_model_while_it_is_searched(
    stages: Stages, pool: EmbedderPool, exported_model: Path
) -> None:
    """Passages and questions get the prompts of their generation's model, searches go on, and the way back is free."""
    link_model(exported_model, stages.database.location.home)
    for name, text in DOCUMENTS.items():
        stages.write(name, text)
    stages.configure(TEXT.format(tokens=128, model="all-MiniLM-L6-v2"))
    stages.raw_files()
    stages.documents()
    build(stages, pool)
    first = stages.generation
    with KnowledgeBase(stages.database) as knowledge:  # questions are embedded by the model of each generation
        knowledge.search(GERMAN)
        stages.configure(TEXT.format(tokens=500, model=MULTILINGUAL))
        over = threading.Event()
        failures: list[str] = []
        seen: defaultdict[int, int] = defaultdict(int)

        def client() -> None:
            while not over.is_set():
                try:
                    results = knowledge.search(GERMAN, mode="vector", limit=10, min_relevance=0)
                except Exception as error:  # noqa: BLE001 - any failure is the finding
                    failures.append(repr(error))
                    return
                (generation,) = results.generations
                seen[generation] += 1
                if {hit.generation for hit in results} != {generation} or len(results) != len(DOCUMENTS):
                    failures.append(f"{len(results)} results of {generation}")
                over.wait(0.2)  # leave the cores to the build

        clients = [threading.Thread(target=client) for _ in range(4)]
        for thread in clients:
            thread.start()
        reports = build(stages, pool)
        second = stages.generation
        wait_until(lambda: seen[second.id] or failures, what="searches use the second generation")
        over.set()
        for thread in clients:
            thread.join()
        assert not failures, failures[:3]
        assert reports["embeddings"].extra["computed"] == len(DOCUMENTS)
        assert second.model.startswith(f"{MULTILINGUAL}:")
        assert (first.id, second.id) == (1, 2)
        assert seen[first.id], "searches went on during the build"

        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(find_model(MULTILINGUAL).folder), device="cpu", local_files_only=True)
        stored = vectors(stages, MULTILINGUAL)
        passages = model.encode([f"passage: {text}" for text in stored], prompt="", normalize_embeddings=True)
        for vector, expected in zip(stored.values(), passages, strict=True):
            assert float(vector @ expected) > 0.999, "passages have the prompt of passages"
        question = model.encode([f"query: {GERMAN}"], prompt="", normalize_embeddings=True)[0]
        hits = knowledge.search(GERMAN, mode="vector", limit=10, min_relevance=0)
        assert Path(hits[0].uri).name == "pegel.md", "the multilingual model understands the question"
        explanation = knowledge.search(GERMAN, explain=True).explanation
        assert explanation is not None
        assert explanation.weights["vector"] == 1.5 * explanation.weights["keyword"]
        similarity = {hit.text: hit.vector_score for hit in hits}
        for text, vector in stored.items():
            (score,) = [score for known, score in similarity.items() if text.endswith(known)]
            assert score == pytest.approx(float(vector @ question), abs=0.005), (
                "the question has the prompt of questions"
            )

        stages.configure(TEXT.format(tokens=128, model="all-MiniLM-L6-v2"))
        assert build(stages, pool)["embeddings"].extra["computed"] == 0
        assert stages.generation.id == first.id
        assert knowledge.search(GERMAN, mode="vector").generations == (first.id,)
        activate_generation(stages.database, second.id)
        with stages.connection() as connection:
            assert find_generations(connection, stages.collection).overruled is not None
        assert Path(knowledge.search(GERMAN, mode="vector")[0].uri).name == "pegel.md"
