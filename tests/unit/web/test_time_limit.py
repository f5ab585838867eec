"""Waiting for what does not end."""

import asyncio
import time
from contextlib import suppress

import pytest

from sourcebook.web.browser.chromium import within


async def answer() -> int:
    await asyncio.sleep(0)
    return 7


async def fail() -> int:
    await asyncio.sleep(0)
    raise LookupError("nothing is there")


def test_what_ends_in_time() -> None:
    """What a coroutine returns or raises is passed on."""
    assert asyncio.run(within(30, answer())) == 7
    with pytest.raises(LookupError, match="nothing is there"):
        asyncio.run(within(30, fail()))


def test_what_does_not_let_itself_be_cancelled() -> None:
    """A coroutine that goes on although it was cancelled is not waited for."""
    release = asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            with suppress(asyncio.CancelledError):
                await release.wait()

    async def wait() -> float:
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            await within(0.2, stubborn())
        seconds = time.monotonic() - begun
        release.set()
        return seconds

    assert 0.2 <= asyncio.run(wait()) < 30


def test_the_waiting_is_cancelled() -> None:
    """Who is cancelled while waiting waits no longer, and what was waited for is cancelled as well."""
    ended = []
    begun = asyncio.Event()

    async def long() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def wait() -> None:
        waiting = asyncio.create_task(within(3600, long()))
        await begun.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.sleep(0)

    asyncio.run(wait())
    assert ended
