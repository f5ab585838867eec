"""The lock on a registered domain: it is free after its holder, whenever that is cancelled."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from sourcebook.database.database import Database
from sourcebook.database.queries import queries
from sourcebook.web.host_lock import host_lock

_HOST = "example.org"
_MOST_SECONDS = 60


@pytest.fixture(name="thread")
def _thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as thread:
        yield thread


def _is_free(database: Database) -> bool:
    with database.own_connection() as other:
        return other.execute(queries["lock_host"], {"host": _HOST}).fetchone() == (True,)


@pytest.mark.parametrize(("statement", "is_running"), [(1, True), (1, False), (2, True), (2, False)])
def test_a_cancellation_during_a_statement_leaves_the_lock_free(
    database: Database, thread: ThreadPoolExecutor, statement: int, is_running: bool
) -> None:
    """The task is cancelled while the statement runs in the thread, or waits there behind another one."""
    count, begun, go_on = 0, Event(), Event()

    def pause() -> bool:
        begun.set()
        return go_on.wait(_MOST_SECONDS)

    async def in_database(work: Callable[[], bool]) -> bool:
        nonlocal count
        count += 1
        loop = asyncio.get_running_loop()
        if count != statement:
            return await loop.run_in_executor(thread, work)
        if is_running:
            return await loop.run_in_executor(thread, lambda: pause() and work())
        thread.submit(pause)
        return await loop.run_in_executor(thread, work)

    async def crawl() -> None:
        async with host_lock(connection, _HOST, in_database):
            pass

    async def cancel() -> None:
        task = asyncio.create_task(crawl())
        await asyncio.to_thread(begun.wait, _MOST_SECONDS)
        task.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    with database.own_connection() as connection:
        asyncio.run(cancel())
        thread.submit(lambda: None).result(_MOST_SECONDS)  # whatever the task has left there has run
        assert _is_free(database)
