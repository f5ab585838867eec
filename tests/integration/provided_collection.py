"""A collection whose vectors a provider makes: its documents, settings, runs and searches."""

from pathlib import Path
from typing import Any

from sourcebook.embedding.embedder_pool import EmbedderPool
from sourcebook.embedding.remote.access import ProviderAccess
from sourcebook.indexing.generations import ensure_generations
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.generation import Generation
from sourcebook.model.report import StageReport
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.generations import finish_generations, in_each_generation
from sourcebook.stages.index_upkeep import maintain_index
from sourcebook.stages.search_index import publish
from tests.integration.stages import Stages

DOCUMENTS = {
    "tides.md": "# Tides\n\nThe water level in the harbour is read every hour and written into the book.",
    "bread.md": "# Bread\n\nThe baker kneads flour, water and salt, and bakes the bread at dawn.",
    "train.md": "# Train\n\nThe locomotive pulls eleven waggons through the tunnel every morning.",
}


def configure(stages: Stages, url: str, **settings: Any) -> None:
    embedding = {"provider": "openai", "base_url": url, "model": "m", **settings}
    told = ", ".join(f"{name}: {value}" for name, value in embedding.items())
    stages.configure(f"collections:\n  handbook:\n    files: [{{root: ./docs}}]\n    embedding: {{{told}}}\n")


def build(stages: Stages) -> StageReport:
    """Bring the collection up to date with a pool of its own, as a run does; return what was embedded."""
    stages.raw_files()
    stages.documents()
    home = stages.database.location.home
    with EmbedderPool() as pool, stages.connection() as connection, stages.connection() as writer:
        generations = ensure_generations(connection, stages.collection)

        def embed(each: Generation) -> StageReport:
            access = ProviderAccess(stages.database.connection, each.collection)
            return embed_missing(connection, writer, each, lambda texts: pool.for_generation(each, home, texts, access))

        in_each_generation(connection, generations, lambda each: prepare_chunks(connection, each), is_first=True)
        report = in_each_generation(connection, generations, embed)
        for work in (publish, maintain_index):
            in_each_generation(connection, generations, lambda each, work=work: work(connection, each))  # type: ignore[misc]
        finish_generations(connection, stages.collection)
    return report


def search(stages: Stages, query: str) -> list[str]:
    with KnowledgeBase(stages.database) as knowledge:
        return [Path(hit.uri).name for hit in knowledge.search(query, mode="vector")]
