"""An ingest without Dagster, for tests that begin with a configuration file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sourcebook.catalog import apply
from sourcebook.chunking.preparation import prepare_chunks, tokenizer_of
from sourcebook.config import load_configuration
from sourcebook.database.database import Database
from sourcebook.embedding.process import EmbeddingProcess
from sourcebook.embedding.vectors import embed_missing
from sourcebook.files.inventory import update_inventory
from sourcebook.indexing.generation import ensure_generation
from sourcebook.indexing.publication import publish
from sourcebook.parsing.documents import update_documents
from sourcebook.parsing.isolation import ParserPool


@pytest.fixture
def ingest(database: Database, embedder: EmbeddingProcess, parsers: ParserPool) -> Callable[[Path], int]:
    """Bring every collection of a configuration up to date, stage by stage; return how many texts were embedded."""

    def run(configuration: Path) -> int:
        computed = 0
        settings = load_configuration(configuration)
        with database.connection() as connection, database.connection() as writer:
            apply(connection, settings)
            for name in settings.collections:
                update_inventory(connection, name)
                update_documents(connection, name, parsers=parsers)
                generation = ensure_generation(connection, name)
                prepare_chunks(connection, generation, tokenizer_of(generation))
                report = embed_missing(connection, writer, generation, lambda _: embedder)
                computed += report.extra["computed"]
                publish(connection, generation)
        return computed

    return run
