"""What more than one layer of tests shares."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from sourcebook.database import embedded
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.embedding.model import find_model
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.embedding.onnx.open import find_export
from sourcebook.embedding.onnx.record import Export
from sourcebook.embedding.process import EmbeddingProcess
from sourcebook.embedding.weights import BUNDLED_NAME
from sourcebook.parsing.parser_pool import ParserPool
from tests import durations
from tests.exported import exported_home
from tests.memory_folder import memory_folder
from tests.remembering_embedder import RememberingEmbedder

if TYPE_CHECKING:
    from tests.integration.stages import Stages

os.environ.pop("COLUMNS", None)  # pytest-xdist gives its workers a terminal's width; commands print into a pipe here

TEMPLATE = "sourcebook_template"
_TEMPLATE_WITH_DAGSTER = "sourcebook_template_with_dagster"
_SETTINGS = """\
fsync = off
full_page_writes = off
autovacuum = off
"""
"""Whoever outlives the machine, or the tests, needs these: a fourth of the time to make, open and drop a database."""
_FIRST_CHANGE = 1_700_000_000
_NUMBERS = count(1)
CreateDatabase = Callable[[str], str]
"""Copy a template to a database of its own and return the URL."""


def pytest_configure(config: pytest.Config) -> None:
    """Let threads of torch that wait for each other leave the cores to the tests beside them.

    Until the tests are collected, Python looks for no garbage: a quarter of that time went into it, for none.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    _heed_signals()
    if not config.getoption("numprocesses", None):  # where there are other processes, they collect
        gc.disable()


def _heed_signals() -> None:
    """Let programs that tests start end by Ctrl-C and with their terminal, as a person's do.

    A shell lets its background jobs ignore SIGINT, and nohup SIGHUP; what is ignored stays so in a child, while a
    handler does not.
    """
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: lambda *_: None}
    for number, handler in handlers.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the longest files begin, so that processes side by side end at about the same time."""
    places = durations.places()
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], 1.0))


def pytest_collection_finish() -> None:
    """Spare Python's garbage collector what the tests have imported, a million objects that stay.

    It looks after ten thousand new objects, not after 700: that took an eighth of the processor time of unit tests.
    """
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()


@pytest.fixture(autouse=True)
def environment_of_one_test() -> Iterator[None]:
    """Give the next test the environment that this one found.

    Commands set variables for the processes that they start, as the one with Dagster's database: here they run in the
    tests' own process, and that database goes with its test. So does the stream on which they show the library's log.
    """
    before, logger = _environment(), logging.getLogger("sourcebook")
    handlers, level, propagate = list(logger.handlers), logger.level, logger.propagate
    yield
    logger.handlers, logger.propagate = handlers, propagate
    logger.setLevel(level)
    if (found := _environment()) != before:
        for name in found.keys() - before:
            del os.environ[name]
        os.environ.update(before)


def _environment() -> dict[str, str]:
    """Return the environment without the name of the test, by which it differs after each."""
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


@contextmanager
def _public_folder(parent: str | None = None) -> Iterator[Path]:
    """A folder that other users may enter: PostgreSQL is another user where these tests are root.

    Not one of pytest's own: a second pytest beside this one closes those.
    """
    folder = Path(tempfile.mkdtemp(prefix="sourcebook-test-", dir=parent)).resolve()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that other users may enter."""
    with _public_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def shared_public_folder() -> Iterator[Path]:
    """A folder that other users may enter, which the tests of one module share."""
    with _public_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    """A real PostgreSQL with pgvector, and in it a template that has the schema and no rows.

    Nothing here outlives the machine, so it waits for no disk. Whoever makes or drops a database, as each test does,
    walks through all buffers: an eighth of them takes a tenth less processor time.
    """
    with _public_folder(memory_folder()) as folder:
        with pytest.MonkeyPatch.context() as patch:
            settings = embedded.SETTINGS.replace("shared_buffers = 512MB", "shared_buffers = 64MB")
            assert settings != embedded.SETTINGS
            patch.setattr(embedded, "SETTINGS", settings + _SETTINGS)
            server = EmbeddedServer(folder / "postgres")
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(TEMPLATE)))
        Database(DatabaseLocation(folder, server.url(TEMPLATE))).close()
        yield server
        server.close()


class Administrator:
    """Executes statements beside all databases in a session that stays: each new one takes milliseconds."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection = self._connect()

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(self._url, autocommit=True)

    def execute(self, statement: sql.Composed) -> None:
        try:
            self._connection.execute(statement)
        except psycopg.OperationalError:
            if not self._connection.closed:
                raise
            self._connection = self._connect()  # a test has ended all sessions, or the server
            self._connection.execute(statement)

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="session")
def administrator(server: EmbeddedServer) -> Iterator[Administrator]:
    with closing(Administrator(server.url("postgres"))) as administrator:
        yield administrator


@pytest.fixture
def create_database(server: EmbeddedServer, administrator: Administrator) -> Iterator[CreateDatabase]:
    """Make databases on the session's server, which go with the test."""
    made: list[sql.Identifier] = []

    def create(template: str) -> str:
        name = f"test_{next(_NUMBERS)}"
        made.append(sql.Identifier(name))
        # Copied file by file, which takes half the time of a copy through the log.
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        administrator.execute(statement.format(made[-1], sql.Identifier(template)))
        return server.url(name)

    yield create
    for identifier in made:
        administrator.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(identifier))


@pytest.fixture(scope="session")
def dagster_tables(server: EmbeddedServer, administrator: Administrator) -> str:
    """Have the database of a test that asks for this hold Dagster's tables: a copy takes a twentieth of the time."""
    from orchestration.instance import STORAGE_VARIABLE, open_instance

    template, name = sql.Identifier(TEMPLATE), sql.Identifier(_TEMPLATE_WITH_DAGSTER)
    administrator.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(name, template))
    with _public_folder() as home, pytest.MonkeyPatch.context() as patch:
        location = DatabaseLocation(home, server.url(_TEMPLATE_WITH_DAGSTER))
        patch.setenv(STORAGE_VARIABLE, location.url or "")
        patch.setenv("DAGSTER_HOME", "")
        with Database(location) as database:
            open_instance(home, database).dispose()
    return _TEMPLATE_WITH_DAGSTER


@pytest.fixture
def database(
    create_database: CreateDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Database]:
    """An empty knowledge base of this test's own, which is also the one that the environment names."""
    has_dagster = "dagster_tables" in request.fixturenames
    url = create_database(request.getfixturevalue("dagster_tables") if has_dagster else TEMPLATE)
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", url)
    for name in ("SOURCEBOOK_CONFIG", "SOURCEBOOK_DAGSTER_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with Database(DatabaseLocation(tmp_path / "home", url)) as database:
        yield database


@pytest.fixture
def untried_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare a doctor whose other findings are the matter the models and parsers, each of which it would try."""
    for check in ("check_models", "check_parsing"):
        monkeypatch.setattr(f"sourcebook.admin.doctor.{check}", lambda _: [])


@pytest.fixture(scope="session")
def exported_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with the default model's export, made once for all processes that run tests; not to be changed."""

    def export(home: Path) -> str | None:
        with EmbeddingProcess(find_model(BUNDLED_NAME)) as process:
            return process.export(home).result()

    return exported_home(tmp_path_factory, export)


@pytest.fixture(scope="session")
def embedder(exported_model: Path) -> Iterator[OnnxEmbedder]:
    """The real default model, loaded once a session from its export, which takes a fraction of torch's time.

    It computes each text once a session.
    """
    export = find_export(exported_model, find_model(BUNDLED_NAME).identity)
    assert isinstance(export, Export), export
    with closing(RememberingEmbedder(export)) as embedder:
        yield embedder


@pytest.fixture(scope="session")
def parsers() -> Iterator[ParserPool]:
    """The real parsers in a process, started once a session: there is one for each process that runs tests."""
    with ParserPool(documents=1) as pool:
        yield pool


@pytest.fixture(scope="session")
def settle() -> Callable[[Path], None]:
    """Give a file a modification time that lies in the past and differs from every other one given.

    A file that was just written counts as perhaps still being written, and is read again by the next pass.
    """
    seconds = count(_FIRST_CHANGE)

    def settle(path: Path) -> None:
        moment = next(seconds)
        assert moment < time.time() - 60
        os.utime(path, (moment, moment), follow_symlinks=False)

    return settle


@pytest.fixture(scope="session")
def speech_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state folder of speech engines: what they need of packaged weights is made once a session."""
    return tmp_path_factory.mktemp("speech")


@pytest.fixture
def stages(
    database: Database,
    embedder: OnnxEmbedder,
    parsers: ParserPool,
    tmp_path: Path,
    speech_home: Path,
    settle: Callable[[Path], None],
) -> Iterator[Stages]:
    """The stages over an empty folder `docs` and an empty knowledge base."""
    from tests.integration.stages import Stages  # imports all stages, which most processes do not need

    root = tmp_path / "docs"
    root.mkdir()
    stages = Stages(database, embedder, parsers, root, settle, speech_home)
    yield stages
    stages.close()
