"""Batches of the embedding service: texts of all requests that wait, in turns, and questions before passages."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from sourcebook.errors import ModelError

Vectors = NDArray[np.float32]
Counted = tuple[Vectors, list[int]]
"""Vectors of texts, and the tokens that the model read of each."""
_SHARES: Final = 4
"""Requests that a full batch has room for: a long request does not hold up the others."""


class FullQueueError(ModelError):
    """As many texts wait as the service holds."""


class StoppedError(ModelError):
    """The model's process has ended, or the service ends."""


class Computing(Protocol):
    """The process that computes."""

    @property
    def is_active(self) -> bool:
        """Whether it takes tasks."""

    def submit_counted(self, texts: Sequence[str], *, as_queries: bool) -> Future[Counted]:
        """Queue texts and return at once."""

    def close(self) -> None:
        """End it."""


@dataclass(eq=False)
class Request:
    """One request: its texts, and what has been computed of them."""

    texts: Sequence[str]
    as_queries: bool
    answer: "asyncio.Future[Counted]"
    taken: int = 0
    tokens: list[int] = field(default_factory=list)
    parts: list[Vectors] = field(default_factory=list)

    @property
    def waiting(self) -> int:
        """Texts that no batch holds yet."""
        return len(self.texts) - self.taken


class Batches:
    """Embeds what requests ask for, one batch at a time; runs in one event loop.

    Args:
        open_process: opens the process of the model; called again where the former one has ended.
        size: most texts of a batch.
        most_waiting: most texts that wait.
    """

    def __init__(self, open_process: Callable[[], Computing], size: int, most_waiting: int) -> None:
        self._open, self._process = open_process, open_process()
        self._size, self._most_waiting = size, most_waiting
        self._queries: deque[Request] = deque()
        self._passages: deque[Request] = deque()
        self._wake = asyncio.Event()
        self._has_ended = False
        self.failure: str | None = None
        """Reason why the model could not be started again; None where it works."""

    @property
    def waiting(self) -> int:
        """Texts that no batch holds yet."""
        return sum(request.waiting for request in (*self._queries, *self._passages))

    async def embed(self, texts: Sequence[str], *, as_queries: bool) -> Counted:
        """Return the vectors of texts in their order, and the tokens that were read of each.

        Raises:
            FullQueueError: too many texts wait.
            StoppedError: the process of the model has ended, or the service ends.
            ModelError: the model failed on these texts.
        """
        if self._has_ended:
            raise StoppedError("the service ends: ask again later")
        waiting = self.waiting
        if waiting and waiting + len(texts) > self._most_waiting:
            raise FullQueueError(f"{waiting} texts wait already: ask again in a moment, or give the service more cores")
        request = Request(texts, as_queries, asyncio.get_running_loop().create_future())
        queue = self._queries if as_queries else self._passages
        queue.append(request)
        self._wake.set()
        try:
            return await request.answer
        finally:  # whoever has gone away is computed no further
            if request in queue:
                queue.remove(request)

    async def run(self) -> None:
        """Compute batches until this task is cancelled; what waits then fails."""
        try:
            while True:
                await self._wake.wait()
                batch = self._take()
                if batch:
                    await self._compute(batch)
                else:
                    self._wake.clear()
        finally:
            self._has_ended = True
            for request in (*self._queries, *self._passages):
                _fail(request, StoppedError("the service ends: ask again later"))
            self._process.close()

    def _take(self) -> list[tuple[Request, int]]:
        """Take the next batch: requests with the number of their next texts, all questions or all passages."""
        queue = self._queries or self._passages
        room = self._size
        batch: list[tuple[Request, int]] = []
        share = max(self._size // _SHARES, 1)
        while queue and room:
            request = queue.popleft()
            is_alone = not queue and not batch
            count = min(request.waiting, room if is_alone else share, room)
            request.taken, room = request.taken + count, room - count
            batch.append((request, count))
            if request.waiting:
                queue.append(request)
        return batch

    async def _compute(self, batch: list[tuple[Request, int]]) -> None:
        pieces = [(request, request.texts[begin : begin + count]) for request, begin, count in _places(batch)]
        try:
            vectors, tokens = await self._ask([text for _, texts in pieces for text in texts], batch[0][0].as_queries)
        except StoppedError as error:
            for request, _ in pieces:
                self._drop(request, error)
            return
        except ModelError as error:
            if len({id(request) for request, _ in pieces}) == 1:
                self._drop(pieces[0][0], error)
                return
            for request, texts in pieces:  # one of them is to blame
                if not request.answer.done():
                    try:
                        alone, read = await self._ask(texts, request.as_queries)
                    except ModelError as own:
                        self._drop(request, own)
                    else:
                        _add(request, alone, read)
            return
        begin = 0
        for request, texts in pieces:
            end = begin + len(texts)
            _add(request, vectors[begin:end], tokens[begin:end])
            begin = end

    async def _ask(self, texts: Sequence[str], as_queries: bool) -> Counted:
        """Have the process compute; open another one first where it has ended."""
        if not self._process.is_active:
            try:
                self._process.close()
                self._process = self._open()
            except ModelError as error:
                self.failure = str(error)
                raise StoppedError(str(error)) from error
        try:
            counted = await asyncio.wrap_future(self._process.submit_counted(texts, as_queries=as_queries))
        except ModelError as error:
            if self._process.is_active:
                raise
            self.failure = str(error)
            raise StoppedError(str(error)) from error
        self.failure = None
        return counted

    def _drop(self, request: Request, error: ModelError) -> None:
        for queue in (self._queries, self._passages):
            if request in queue:
                queue.remove(request)
        _fail(request, error)


def _places(batch: list[tuple[Request, int]]) -> list[tuple[Request, int, int]]:
    """Return each piece of a batch with the position of its first text in its request."""
    first = {id(request): request.taken for request, _ in batch}
    for request, count in batch:
        first[id(request)] -= count
    places = []
    for request, count in batch:
        places.append((request, first[id(request)], count))
        first[id(request)] += count
    return places


def _add(request: Request, vectors: Vectors, tokens: list[int]) -> None:
    """Add vectors to a request, whose pieces are computed in their order; answer where it is complete."""
    request.parts.append(vectors)
    request.tokens += tokens
    if not request.answer.done() and sum(map(len, request.parts)) == len(request.texts):
        request.answer.set_result((np.concatenate(request.parts), request.tokens))


def _fail(request: Request, error: ModelError) -> None:
    if not request.answer.done():
        request.answer.set_exception(error)
