"""Batches of the embedding service, over a process that computes when it is told to."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future

import numpy as np
import pytest

from sourcebook.errors import ModelError
from sourcebook.server.embedding_service.batching import Batches, Counted, FullQueueError, StoppedError


class _Process:
    """Keeps what it is asked for until `answer`; a text `bad` fails, and `deadly` ends it."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], bool, Future[Counted]]] = []
        self.is_active = True
        self.is_closed = False

    def submit_counted(self, texts: Sequence[str], *, as_queries: bool) -> Future[Counted]:
        future: Future[Counted] = Future()
        self.asked.append((list(texts), as_queries, future))
        return future

    def close(self) -> None:
        self.is_closed = True

    def answer(self) -> list[str]:
        texts, _, future = self.asked.pop(0)
        if "deadly" in texts:
            self.is_active = False
        if "bad" in texts or "deadly" in texts:
            future.set_exception(ModelError("it failed"))
        else:
            future.set_result((np.array([[float(text)] for text in texts], np.float32), [len(text) for text in texts]))
        return texts


async def _turn() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


class _Running:
    """Batches of four texts whose loop runs."""

    def __init__(self, most_waiting: int = 100) -> None:
        self.opened: list[_Process] = []
        self.batches = Batches(self._open, 4, most_waiting)
        self.running = asyncio.create_task(self.batches.run())

    def _open(self) -> _Process:
        self.opened.append(_Process())
        return self.opened[-1]

    def ask(self, *texts: str, as_queries: bool = False) -> "asyncio.Task[Counted]":
        return asyncio.create_task(self.batches.embed(texts, as_queries=as_queries))

    async def answer(self) -> list[str]:
        await _turn()
        texts = self.opened[-1].answer()
        await _turn()
        return texts

    async def end(self) -> None:
        self.running.cancel()
        await asyncio.wait([self.running])


def test_requests_that_wait_share_a_batch_and_a_long_one_holds_up_nobody() -> None:
    """Each request gets its own vectors and tokens, in its order."""

    async def drill() -> None:
        service = _Running()
        first = service.ask("1")
        await _turn()
        long, short = service.ask(*map(str, range(10, 18))), service.ask("2")
        assert await service.answer() == ["1"]
        assert await service.answer() == ["10", "2", "11", "12"]
        assert (await short)[1] == [1]
        assert await service.answer() == ["13", "14", "15", "16"]
        assert await service.answer() == ["17"]
        vectors, tokens = await long
        assert vectors[:, 0].tolist() == [float(number) for number in range(10, 18)]
        assert tokens == [2] * 8
        assert (await first)[0].tolist() == [[1.0]]
        await service.end()
        assert service.opened[0].is_closed

    asyncio.run(drill())


def test_questions_come_before_passages() -> None:
    """Somebody waits for a question's vector."""

    async def drill() -> None:
        service = _Running()
        service.ask("1", "2", "3", "4", "5")
        await _turn()
        question = service.ask("6", as_queries=True)
        assert await service.answer() == ["1", "2", "3", "4"]
        assert await service.answer() == ["6"]
        await question
        assert await service.answer() == ["5"]
        await service.end()

    asyncio.run(drill())


def test_a_request_that_fails_leaves_its_neighbours_their_vectors() -> None:
    """Where a shared batch fails, each of its requests is computed alone."""

    async def drill() -> None:
        service = _Running()
        service.ask("1")
        await _turn()
        bad, good = service.ask("bad"), service.ask("2")
        for _ in range(4):
            await service.answer()
        with pytest.raises(ModelError, match="it failed"):
            await bad
        assert (await good)[0].tolist() == [[2.0]]
        await service.end()

    asyncio.run(drill())


def test_a_process_that_ends_is_opened_again() -> None:
    """Its requests are told so, and the next ones are answered."""

    async def drill() -> None:
        service = _Running()
        deadly = service.ask("deadly")
        await service.answer()
        with pytest.raises(StoppedError):
            await deadly
        assert "it failed" in str(service.batches.failure)
        next_one = service.ask("3")
        await service.answer()
        assert (await next_one)[0].tolist() == [[3.0]]
        assert (len(service.opened), service.batches.failure) == (2, None)
        await service.end()

    asyncio.run(drill())


def test_what_is_no_longer_wanted_is_not_computed_and_the_queue_has_an_end() -> None:
    """A caller that has gone away leaves the queue; more texts than it holds are refused; the end fails the rest."""

    async def drill() -> None:
        service = _Running(most_waiting=3)
        service.ask("1")
        await _turn()
        gone, waiting = service.ask("2", "3"), service.ask("4")
        await _turn()
        with pytest.raises(FullQueueError, match="3 texts wait already"):
            await service.batches.embed(["5"], as_queries=False)
        gone.cancel()
        await service.answer()
        assert await service.answer() == ["4"]
        await waiting
        last = service.ask("6", "7", "8", "9", "10")
        await _turn()
        await service.end()
        with pytest.raises(StoppedError):
            await last
        with pytest.raises(StoppedError):
            await service.batches.embed(["5"], as_queries=False)

    asyncio.run(drill())
