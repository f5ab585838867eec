"""Fixtures of many modules: stages, knowledge bases, an ingest without Dagster, and an instance of Dagster."""

from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest
from psycopg import Connection

from orchestration.instance import STORAGE_VARIABLE, open_instance
from resources.partition import COLLECTIONS
from sourcebook.admin.collections import apply
from sourcebook.config.loading import load_configuration
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.indexing.generations import ensure_generation
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.documents.update import update_documents
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.raw_files import update_raw_files
from sourcebook.stages.search_index import publish
from tests.git_repository import GitRepository
from tests.integration.cli.command import end_started
from tests.integration.git_stages import GitStages
from tests.integration.stages import Stages
from tests.integration.word_corpus import word_database


@pytest.fixture(autouse=True)
def no_command_outlives_its_test() -> Iterator[None]:
    """End the commands that a test has started, where it failed before their end."""
    yield
    end_started()


@pytest.fixture
def instance(
    dagster_tables: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dg.DagsterInstance]:
    """Dagster's instance as `sourcebook ingest` opens it, whose tables lie in this test's database."""
    monkeypatch.setenv(STORAGE_VARIABLE, database.url)
    monkeypatch.setenv("DAGSTER_HOME", "")
    instance = open_instance(tmp_path / "home", database)
    instance.add_dynamic_partitions(COLLECTIONS, ["handbook"])
    yield instance
    instance.dispose()


@pytest.fixture
def ingest(database: Database, embedder: OnnxEmbedder, parsers: ParserPool) -> Callable[[Path], int]:
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


@pytest.fixture
def connection(database: Database) -> Iterator[Connection]:
    with database.connection() as connection:
        yield connection


@pytest.fixture
def knowledge(base: Stages) -> KnowledgeBase:
    """The knowledge base of the collections that a module's fixture `base` makes."""
    return base.knowledge


@pytest.fixture(scope="module")
def shared_stages(
    server: EmbeddedServer,
    embedder: OnnxEmbedder,
    parsers: ParserPool,
    settle: Callable[[Path], None],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stages]:
    """Stages over a database of the tests of a module."""
    root = tmp_path_factory.mktemp("shared") / "docs"
    root.mkdir()
    with word_database(server) as database:
        stages = Stages(database, embedder, parsers, root, settle)
        yield stages
        stages.close()


@pytest.fixture
def git(stages: Stages, tmp_path: Path) -> GitStages:
    """A collection over a repository with two files."""
    repository = GitRepository.create(tmp_path / "origin")
    repository.commit(tides="# Tides\n\nThe barnacle line marks high water.\n", knots="# Knots\n\nA bowline holds.\n")
    return GitStages(stages, repository, tmp_path / "home")
