"""Fixtures of many modules: stages, knowledge bases, an ingest without Dagster, and an instance of Dagster."""

from collections.abc import Callable, Iterator
from dataclasses import replace
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
from sourcebook.database.location import DatabaseLocation
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.indexing.generations import ensure_generation
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.documents.update import update_documents
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.raw_files import update_raw_files
from sourcebook.stages.search_index import publish
from tests.chat_server import ChatServer
from tests.conftest import CreateDatabase
from tests.git_repository import GitRepository
from tests.integration.cli.command import end_started
from tests.integration.git_stages import GitStages
from tests.integration.record_stages import RecordStages
from tests.integration.stages import Stages
from tests.integration.word_corpus import word_database


@pytest.fixture(scope="module")
def chat() -> Iterator[ChatServer]:
    """A server of a language model, which quotes its sources until a test says otherwise."""
    with ChatServer() as chat:
        yield chat


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


@pytest.fixture(scope="module")
def original(request: pytest.FixtureRequest, shared_stages: Stages) -> Stages:
    """Stages that the module's function `fill` has filled, to be copied; nothing is connected to their database."""
    request.module.fill(shared_stages)
    shared_stages.close()
    shared_stages.database.close()
    return shared_stages


@pytest.fixture
def filled(
    request: pytest.FixtureRequest, create_database: CreateDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stages]:
    """What the module's function `fill` makes, in a database of this test's own, copied in a twentieth of the time.

    The files are those of all tests of the module: one that changes some has the mark `changes_files`.
    To the library the copy is a restored database, which the next run proves: tests of that, and of whether work is
    pending, use `stages`.
    """
    if request.node.get_closest_marker("changes_files"):
        stages: Stages = request.getfixturevalue("stages")
        request.module.fill(stages)
        yield stages
        return
    original: Stages = request.getfixturevalue("original")
    url = create_database(original.database.url.rpartition("?")[0].rpartition("/")[2])
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", url)
    for name in ("SOURCEBOOK_CONFIG", "SOURCEBOOK_DAGSTER_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    before = _state_of(original.root)
    with Database(DatabaseLocation(tmp_path / "home", url)) as database:
        stages = replace(original, database=database, _knowledge=None)
        yield stages
        stages.close()
    assert _state_of(original.root) == before, "the next test would find other files"


def _state_of(root: Path) -> dict[Path, tuple[int, int]]:
    """Return inode and time of the last change of each file below a folder."""
    return {path: (path.lstat().st_ino, path.lstat().st_ctime_ns) for path in root.rglob("*") if not path.is_dir()}


@pytest.fixture
def git(stages: Stages, tmp_path: Path) -> GitStages:
    """A collection over a repository with two files."""
    repository = GitRepository.create(tmp_path / "origin")
    repository.commit(tides="# Tides\n\nThe barnacle line marks high water.\n", knots="# Knots\n\nA bowline holds.\n")
    return GitStages(stages, repository, tmp_path / "home")


@pytest.fixture
def records(stages: Stages) -> Iterator[RecordStages]:
    """A collection over an empty table of notes."""
    found = RecordStages(stages, stages.root.parent)
    yield found
    found.database.close()
