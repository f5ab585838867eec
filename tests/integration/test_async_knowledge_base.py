"""The asyncio face: searches side by side, cancelled, and closed."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from sourcebook import AsyncKnowledgeBase, KnowledgeBase
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.errors import QueryError
from tests.integration.word_corpus import Written, new_corpus, word_database


@pytest.fixture(scope="module")
def url(server: EmbeddedServer) -> Iterator[str]:
    with word_database(server) as database, database.connection() as connection:
        new_corpus(connection).write({n: Written((f"tide number{n}",), language="en") for n in range(20)})
        yield database.url


def opened(url: str, run: "Callable[[AsyncKnowledgeBase], object]") -> object:
    async def within() -> object:
        async with await AsyncKnowledgeBase.connect(url, max_connections=3, searches_at_once=4) as knowledge:
            return await run(knowledge)  # type: ignore[misc]

    return asyncio.run(within())


def test_searches_run_side_by_side(url: str) -> None:
    """Each await gets its own answer, and the event loop goes on meanwhile."""

    async def run(knowledge: AsyncKnowledgeBase) -> None:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0)

        heart = asyncio.create_task(beat())
        asked = [knowledge.search(f"tide number{n % 20}", limit=1, mode="keyword") for n in range(60)]
        found = await asyncio.gather(*asked)
        heart.cancel()
        assert [hits[0].text for hits in found] == [f"tide number{n % 20}" for n in range(60)]
        assert beats > 10

    opened(url, run)


def test_errors_come_to_who_awaits(url: str) -> None:
    async def run(knowledge: AsyncKnowledgeBase) -> None:
        with pytest.raises(QueryError, match="the limit is 0"):
            await knowledge.search("tide", limit=0)
        with pytest.raises(QueryError, match="no collection 'nothing'"):
            await knowledge.search("tide", "nothing", mode="keyword")
        assert len(await knowledge.search("tide", mode="keyword", limit=3)) == 3

    opened(url, run)


def test_a_cancelled_search_leaves_the_others_alone(url: str) -> None:
    """A cancelled search returns at once; later searches give their results, and closing does not hang."""

    async def run(knowledge: AsyncKnowledgeBase) -> None:
        tasks = [asyncio.create_task(knowledge.search("tide", mode="keyword")) for _ in range(30)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended[::2])
        assert all(len(each) == 5 for each in ended[1::2] if not isinstance(each, BaseException))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(knowledge.search("tide", mode="keyword"), timeout=0)
        assert len(await knowledge.search("tide", mode="keyword")) == 5

    opened(url, run)


def test_closing_waits_for_searches_that_run(url: str) -> None:
    """And a closed one refuses further searches."""

    async def run() -> None:
        knowledge = AsyncKnowledgeBase(KnowledgeBase.connect(url))
        running = [asyncio.create_task(knowledge.search("tide", mode="keyword")) for _ in range(12)]
        await asyncio.sleep(0)  # each has begun
        await knowledge.close()
        assert [len(hits) for hits in await asyncio.gather(*running)] == [5] * 12
        with pytest.raises(RuntimeError):
            await knowledge.search("tide", mode="keyword")

    asyncio.run(run())


def test_judgments_and_logged_queries_are_awaited(url: str) -> None:
    """What is judged is recorded; the log of a collection that keeps none is empty."""

    async def run(knowledge: AsyncKnowledgeBase) -> None:
        (hit,) = await knowledge.search("number7", limit=1, mode="keyword")
        await knowledge.judge("which tide?", hit.uri, 2)
        (judged,) = await knowledge.judgments()
        assert (judged.query, judged.grade) == ("which tide?", 2)
        await knowledge.judge("which tide?", hit.uri, None)
        assert await knowledge.judgments() == []
        assert await knowledge.queries(without_results=True) == []
        assert await knowledge.forget_logged_queries() == 0

    opened(url, run)
