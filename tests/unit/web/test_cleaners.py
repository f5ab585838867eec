"""The executor of page cleaning: a thread while pages come slowly, child processes where they come fast."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from pebble import ProcessExpired

from sourcebook.parsing.html.cleaner import clean_page
from sourcebook.web import cleaners as module
from sourcebook.web.cleaners import CROWDED, LARGE, Cleaners, PageCleaner, clean_fetched_page
from tests.waiting import wait_until, workers

PAGE = b"<title>Ducks</title><main><h1>Ducks</h1><p>Ducks swim on the pond behind the house.</p></main>"


@pytest.fixture
def cleaners() -> Iterator[Cleaners]:
    with Cleaners(processes=1) as cleaners:
        yield cleaners


def crowd(cleaners: Cleaners) -> None:
    """Let pages wait until a child process takes them, too."""
    calls = [cleaners.submit(time.sleep, 0.01) for _ in range(2 * CROWDED)]
    wait_until(lambda: cleaners.submit(os.getpid).result() != os.getpid(), what="a process cleans", seconds=60)
    for call in calls:
        call.result()


def test_pages_that_come_one_by_one_are_cleaned_in_a_thread(cleaners: Cleaners) -> None:
    before = workers()
    assert {cleaners.submit(os.getpid).result() for _ in range(4 * CROWDED)} == {os.getpid()}
    assert workers() == before


def test_pages_that_wait_are_cleaned_in_a_process(cleaners: Cleaners) -> None:
    """A page of the process is that of the thread."""
    crowd(cleaners)
    cleaned = cleaners.submit(clean_page, PAGE, url="http://example.org/ducks")
    assert cleaned.result() == clean_page(PAGE, url="http://example.org/ducks")


def test_thread_and_process_clean_side_by_side(cleaners: Cleaners) -> None:
    """More pages than a process has waiting go to the thread."""
    crowd(cleaners)
    pages: list[Future[None]] = [cleaners.submit(time.sleep, 0.2) for _ in range(4)]
    assert cleaners.submit(os.getpid).result() == os.getpid()
    for page in pages:
        page.result()


def test_a_page_that_ends_its_process_fails_alone(cleaners: Cleaners) -> None:
    crowd(cleaners)
    with pytest.raises((ProcessExpired, BrokenProcessPool)):
        cleaners.submit(os._exit, 3).result()

    def cleaned_in_a_process() -> bool:
        with suppress(BrokenProcessPool, ProcessExpired):  # the dead process takes waiting pages with it
            return bool(cleaners.submit(clean_page, PAGE).result().markdown and workers())
        return False

    wait_until(cleaned_in_a_process, what="another process cleans", seconds=60)


def test_the_end_of_a_crawl_ends_the_processes() -> None:
    before = workers()
    with Cleaners(processes=2) as cleaners:
        crowd(cleaners)
        assert len(workers() - before) == 2
    wait_until(lambda: workers() <= before, what="the processes are gone")


def test_without_a_second_core_no_process_is_started() -> None:
    before = workers()
    with Cleaners(processes=0) as cleaners:
        for call in [cleaners.submit(time.sleep, 0.002) for _ in range(4 * CROWDED)]:
            call.result()
        assert workers() == before


def test_a_process_that_cleans_loads_no_settings() -> None:
    """pydantic alone would be a quarter of the memory of a new process."""
    program = "import sys, sourcebook.web.cleaners; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(("sizes", "times"), [([100], 0), ([LARGE], 1), ([LARGE // 3] * 3, 1), ([LARGE // 3] * 6, 2)])
def test_memory_is_given_back_after_large_pages(sizes: list[int], times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large page, or many small ones."""
    given: list[None] = []
    monkeypatch.setattr(module, "return_freed_memory", lambda: given.append(None))
    with ThreadPoolExecutor(1) as thread:
        for size in sizes:
            call = thread.submit(clean_fetched_page, PAGE + b" " * size, "http://example.org/", "text/html", "main", {})
            assert call.result().title == "Ducks"
    assert len(given) == times


class Noting(Executor):
    """Notes the sizes of the pages that it is given, and cleans none before `finish`."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.futures: list[Future[Any]] = []

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        assert isinstance(function, partial)
        self.sizes.append(len(function.args[0]))
        self.futures.append(Future())
        return self.futures[-1]


def test_large_pages_are_cleaned_one_after_the_other() -> None:
    """Each takes 25 times its size; small ones go on beside one."""
    cleaners = Noting()

    async def clean_all() -> None:
        cleaner = PageCleaner(cleaners)
        sizes = (LARGE + 1, LARGE + 2, 10, LARGE)
        calls = [
            asyncio.create_task(cleaner.clean(b" " * size, "http://example.org/", "text/html", "main", {}))
            for size in sizes
        ]
        await asyncio.sleep(0)
        assert cleaners.sizes == [LARGE + 1, 10, LARGE]
        cleaners.futures[0].set_result(None)
        await calls[0]
        await asyncio.sleep(0)
        assert cleaners.sizes[3:] == [LARGE + 2]
        for future in cleaners.futures[1:]:
            future.set_result(None)
        await asyncio.gather(*calls)

    asyncio.run(clean_all())
