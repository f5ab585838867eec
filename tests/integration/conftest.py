"""An ingest without Dagster, for tests that begin with a configuration file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sourcebook.admin.collections import apply
from sourcebook.config.loading import load_configuration
from sourcebook.database.database import Database
from sourcebook.embedding.process import EmbeddingProcess
from sourcebook.indexing.generations import ensure_generation
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.documents.update import update_documents
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.raw_files import update_raw_files
from sourcebook.stages.search_index import publish


@pytest.fixture
def ingest(database: Database, embedder: EmbeddingProcess, parsers: ParserPool) -> Callable[[Path], int]:
    """Bring every collection of a configuration up to date, stage by stage; return how many texts were embedded."""

    def run(configuration: Path) -> int:
        computed = 0
        settings = load_configuration(configuration)
        with database.connection() as connection, database.connection() as writer:
            apply(connection, settings)
            for name in settings.collections:
                update_raw_files(connection, name)
                update_documents(connection, name, parsers=parsers)
                generation = ensure_generation(connection, name)
                prepare_chunks(connection, generation)
                report = embed_missing(connection, writer, generation, lambda _: embedder)
                computed += report.extra["computed"]
                publish(connection, generation)
        return computed

    return run
