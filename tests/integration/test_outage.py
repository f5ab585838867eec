"""The database goes away and comes back: typed errors within the limit, and searches that work again by themselves."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

import psutil
import psycopg
import pytest
from numpy.typing import NDArray

from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.lock import collection_lock
from sourcebook.database.pool import StatementLimits
from sourcebook.database.postmaster import running_postmaster
from sourcebook.errors import DatabaseBusyError, DatabaseError, DatabaseUnavailableError
from sourcebook.knowledge_base import KnowledgeBase
from tests.integration.published_passages import publish_passages, unit_vectors
from tests.integration.stages import Stages

_THREADS = 8
_LIMIT = 5.0
"""Longest time until a search fails, in seconds."""
_BACK = 2.0
"""Longest time from the server's return until a search succeeds, in seconds."""


class OneVector:
    """Embeds every query as one vector."""

    def embed_query(self, text: str) -> NDArray[Any]:
        vector: NDArray[Any] = unit_vectors(1, seed=99)[0]
        return vector

    def close(self) -> None:
        """Do nothing."""


@dataclass
class Outage:
    """A server of one test's own, and a knowledge base that reaches it by its URL."""

    server: EmbeddedServer
    url: str

    @property
    def postmaster(self) -> int:
        found = running_postmaster(self.server.folder)
        assert found is not None
        return found.pid

    def signal(self, number: int) -> None:
        """Send a signal to the server and all its processes."""
        process = psutil.Process(self.postmaster)
        for one in [process, *process.children()]:
            with suppress(psutil.NoSuchProcess):
                one.send_signal(number)

    @contextmanager
    def knowledge(self, **options: Any) -> Iterator[KnowledgeBase]:
        with KnowledgeBase.connect(
            self.url, home=self.server.folder.parent, query_embedder=OneVector(), **options
        ) as it:
            it.search("tide")
            yield it


@contextmanager
def published_server(folder: Path) -> Iterator[Outage]:
    """Ten documents of three passages each in a server of their own."""
    server = EmbeddedServer(folder / "home" / "postgres")
    with Database(DatabaseLocation(folder / "home")) as database:
        nothing = cast("Any", None)
        stages = Stages(database, nothing, nothing, folder / "docs", nothing)
        stages.root.mkdir()
        stages.configure()
        publish_passages(stages, [["tide moon", "boat harbour", "sea wind"] for _ in range(10)])
        url = database.url
        with database.connection() as connection:
            connection.execute("CHECKPOINT")  # a killed server loses the last moment's commits
    yield Outage(server, url)
    server.close()


@pytest.fixture(scope="module")
def published(shared_public_folder: Path) -> Iterator[Outage]:
    """The server that the tests of this module share."""
    with published_server(shared_public_folder) as outage:
        yield outage


@pytest.fixture
def outage(published: Outage) -> Iterator[Outage]:
    """The same server, which runs whatever a test before did to it."""
    published.server.revive()
    yield published
    with suppress(AssertionError):
        published.signal(signal.SIGCONT)


@dataclass
class Searchers:
    """Threads that search all the time, and the outcome of every search."""

    knowledge: KnowledgeBase
    outcomes: list[tuple[float, float, Exception | None]] = field(default_factory=list)
    """Start, end, and error of each search."""
    _stopped: threading.Event = field(default_factory=threading.Event)

    def search(self) -> None:
        while not self._stopped.is_set():
            started, failure = time.monotonic(), None
            try:
                assert len(self.knowledge.search("tide moon")) > 0
            except Exception as error:  # noqa: BLE001 - the kind is what is tested
                failure = error
            self.outcomes.append((started, time.monotonic(), failure))
            self._stopped.wait(0.1)  # between two searches

    def __enter__(self) -> Self:
        self._threads = [threading.Thread(target=self.search) for _ in range(_THREADS)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def check(self, back: float) -> None:
        """Assert that every error is typed and in time, and that a search soon succeeded after `back`."""
        errors = [error for _, _, error in self.outcomes if error is not None]
        assert errors
        assert all(isinstance(error, DatabaseUnavailableError) for error in errors), {repr(error) for error in errors}
        assert max(ended - started for started, ended, error in self.outcomes if error is not None) <= _LIMIT
        first = min(ended for _, ended, error in self.outcomes if error is None and ended > back)
        assert first - back <= _BACK
        late = [error for started, _, error in self.outcomes if error is not None and started > back + _BACK]
        assert not late


def stop(outage: Outage) -> None:
    """Stop the server, and let it go on seven seconds later."""
    outage.signal(signal.SIGSTOP)
    try:
        time.sleep(7)  # the outage
    finally:
        outage.signal(signal.SIGCONT)


def end(outage: Outage, number: int) -> None:
    """End the server by a signal, and start it again six seconds later."""
    os.kill(outage.postmaster, number)
    time.sleep(6)  # the outage
    outage.server.revive()


def searched(outage: Outage, interrupt: Callable[[Outage], None]) -> tuple[Searchers, float]:
    """Search before, during and after an outage; return the searchers and the moment of the server's return."""
    with outage.knowledge() as knowledge, Searchers(knowledge) as searchers:
        time.sleep(0.5)  # searches before
        interrupt(outage)
        back = time.monotonic()
        time.sleep(_BACK + 1)  # searches after
    return searchers, back


@pytest.mark.alone
def test_a_server_that_ends_and_starts_again_and_one_that_stops(public_folder: Path) -> None:
    """Killed, shut down fast or at once, or stopped: errors meanwhile, and searches as soon as it runs.

    Each happens to a server of its own, all at the same time. Of a stopped one the kernel accepts connections, and
    nobody answers.
    """
    interrupts: dict[signal.Signals, Callable[[Outage], None]] = {signal.SIGSTOP: stop}
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGQUIT):
        interrupts[number] = partial(end, number=number)
    with ExitStack() as servers, ThreadPoolExecutor(len(interrupts)) as threads:
        outages = {}
        for number in interrupts:
            place = public_folder / number.name
            place.mkdir()
            place.chmod(0o755)
            outages[number] = servers.enter_context(published_server(place))
        done = [threads.submit(searched, outages[number], interrupt) for number, interrupt in interrupts.items()]
        for number, (searchers, back) in zip(interrupts, [each.result() for each in done], strict=True):
            print(number.name)
            searchers.check(back)


def test_a_lock_elsewhere_ends_in_a_typed_error(outage: Outage) -> None:
    """`LOCK TABLE chunk` of another session: busy within the limit, and at once after it."""
    with outage.knowledge() as knowledge, psycopg.connect(outage.url) as locking:
        locking.execute("LOCK TABLE sourcebook.chunk IN ACCESS EXCLUSIVE MODE")
        started = time.monotonic()
        with pytest.raises(DatabaseBusyError, match="another process holds a lock"):
            knowledge.search("tide moon")
        assert time.monotonic() - started <= _LIMIT
        locking.rollback()
        assert len(knowledge.search("tide moon")) > 0


def test_limits_can_be_set(outage: Outage, monkeypatch: pytest.MonkeyPatch) -> None:
    """By argument, and by the environment."""
    with outage.knowledge(lock_timeout=0.1) as knowledge, psycopg.connect(outage.url) as locking:
        locking.execute("LOCK TABLE sourcebook.chunk IN ACCESS EXCLUSIVE MODE")
        started = time.monotonic()
        with pytest.raises(DatabaseBusyError):
            knowledge.search("tide moon")
        assert time.monotonic() - started < StatementLimits().lock_timeout
    monkeypatch.setenv("SOURCEBOOK_STATEMENT_TIMEOUT", "7.5")
    assert StatementLimits.find().statement_timeout == 7.5
    assert StatementLimits.find(None, 1.5).statement_timeout == 1.5


def test_a_search_survives_the_end_of_its_connections(outage: Outage) -> None:
    """An administrator ends every session: the searches after it notice nothing."""
    with outage.knowledge() as knowledge, psycopg.connect(outage.url, autocommit=True) as admin:
        for _ in range(5):
            admin.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
            assert len(knowledge.search("tide moon")) > 0


async def _search(knowledge: AsyncKnowledgeBase) -> None:
    await knowledge.search("tide moon")


def test_the_asyncio_interface_raises_the_same(outage: Outage) -> None:
    """`AsyncKnowledgeBase` during an outage."""
    import asyncio

    async def run() -> None:
        opening = AsyncKnowledgeBase.connect(outage.url, home=outage.server.folder.parent, query_embedder=OneVector())
        async with await opening as knowledge:
            await knowledge.search("tide moon")
            os.kill(outage.postmaster, signal.SIGKILL)
            found = await asyncio.gather(*(_search(knowledge) for _ in range(_THREADS)), return_exceptions=True)
            assert all(isinstance(error, DatabaseUnavailableError) for error in found), found

    asyncio.run(run())


def test_the_embedded_server_is_started_again(outage: Outage) -> None:
    """Without a URL, the knowledge base owns the server: searches after its death succeed."""
    with (
        KnowledgeBase.connect(home=outage.server.folder.parent, query_embedder=OneVector()) as knowledge,
        ThreadPoolExecutor(_THREADS) as threads,
    ):
        knowledge.search("tide moon")
        os.kill(outage.postmaster, signal.SIGKILL)
        started = time.monotonic()
        found = list(threads.map(lambda _: knowledge.search("tide moon"), range(_THREADS)))
        assert all(len(results) > 0 for results in found)
        assert time.monotonic() - started < 30


def test_a_run_whose_lock_is_lost_ends_with_a_typed_error(outage: Outage) -> None:
    """The database is killed while a run holds the lock of its collection."""
    with Database(DatabaseLocation(outage.server.folder.parent, outage.url)) as database:

        def run() -> None:
            with collection_lock(database, "handbook"):
                os.kill(outage.postmaster, signal.SIGKILL)
                with database.connection() as connection:
                    connection.execute("SELECT pg_sleep(10)")

        with pytest.raises(DatabaseError) as caught:
            run()
        assert caught.value.is_temporary
