"""A crawl that is killed at any moment goes on where it was; two crawls never ask one host at the same time."""

import asyncio
import json
import random
import subprocess
import sys
import threading
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web

from sourcebook.database.lock import collection_lock
from sourcebook.database.queries import queries
from sourcebook.stages.crawled_pages import update_crawled_pages
from tests.integration.stages import Stages, html
from tests.waiting import wait_until

PAGES = 150
KILLS = 6
CONCURRENCY = 4

_CRAWLER = """
import sys
from pathlib import Path
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.stages.crawled_pages import update_crawled_pages
folder, url, collection = sys.argv[1:]
with Database(DatabaseLocation(Path(folder), url)) as database, database.connection() as connection:
    print("begun", flush=True)
    update_crawled_pages(connection, collection, folder=Path(folder))
"""


def crawler(stages: Stages, folder: Path, collection: str = "handbook") -> subprocess.Popen[str]:
    """Start a crawl in a process of its own; it has begun when this returns."""
    process = subprocess.Popen(
        [sys.executable, "-c", _CRAWLER, str(folder), str(stages.database.url), collection],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def kill_after(process: subprocess.Popen[str], seconds: float) -> bool:
    """Kill a crawl with SIGKILL after a while; return whether it was still running."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    with process:
        return process.wait() == -9


def wait_for_requests(stages: Stages, number: int) -> None:
    """Wait until the site was asked so many times; look often, as a page takes 10 ms."""
    wait_until(lambda: len(stages.web.requests) >= number, what=f"{number} requests", every=0.002)


def serve_slowly(stages: Stages, pages: int, links: int = 7) -> None:
    """Serve pages that link to each other; each takes 10 ms, and one of ten redirects."""

    async def page(request: web.BaseRequest) -> web.Response:
        await asyncio.sleep(0.01)  # a page takes so long
        number = int(request.path.strip("/") or 0)
        if number % 10 == 9:
            return web.Response(status=301, headers={"Location": f"/{number - 1}"})
        following = [f"/{(number * links + step) % pages}" for step in range(1, links + 1)]
        return web.Response(text=html(f"Page {number}", links=following), content_type="text/html")

    stages.web.page("/robots.txt", "", content_type="text/plain")
    stages.web.route("/*", page)


@pytest.mark.timeout(120)
def test_a_crawl_that_is_killed_goes_on_where_it_was(stages: Stages, tmp_path: Path) -> None:
    """No page is lost; only what was in the hands of a killed crawl is asked for twice."""
    serve_slowly(stages, PAGES)
    stages.configure_site("/0", politeness={"concurrency": CONCURRENCY})
    chance = random.Random(20261122)
    killed = 0
    while killed < KILLS:
        process = crawler(stages, tmp_path)
        before = len(stages.web.requests)
        requests_before_the_kill = before + chance.randrange(1, PAGES // KILLS)
        wait_for_requests(stages, requests_before_the_kill)
        if not kill_after(process, 0):
            break
        killed += 1
    assert killed == KILLS
    assert stages.rows("SELECT FROM frontier WHERE state = 'fetching'"), "it was killed in the middle"
    report = stages.crawl()
    assert report.failed == 0

    expected = {f"/{number}" for number in range(PAGES) if number % 10 != 9}
    assert stages.pages() == expected
    assert not stages.rows("SELECT FROM frontier WHERE state NOT IN ('fetched', 'redirected')")
    asked = Counter(path for path in stages.web.paths() if path != "/robots.txt")
    assert set(asked) == {f"/{number}" for number in range(PAGES)}
    assert asked.total() - PAGES <= KILLS * CONCURRENCY
    assert max(asked.values()) <= 1 + KILLS
    assert not stages.pending().pages
    stages.web.requests.clear()
    assert not stages.crawl().worked
    assert not stages.web.paths()


def test_a_killed_refresh_goes_on_too(stages: Stages, tmp_path: Path) -> None:
    """What was confirmed before is not asked for again, and nothing is taken for gone."""
    pages = 60
    serve_slowly(stages, pages)
    stages.configure_site("/0", politeness={"concurrency": CONCURRENCY})
    stages.crawl()
    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    stages.web.requests.clear()
    process = crawler(stages, tmp_path)
    wait_for_requests(stages, 25)
    assert kill_after(process, 0)
    report = stages.crawl()
    assert (report.added, report.removed, report.failed) == (0, 0, 0)
    asked = Counter(path for path in stages.web.paths() if path != "/robots.txt")
    assert len(asked) == pages
    assert asked.total() - pages <= CONCURRENCY


def test_two_collections_never_ask_one_host_at_the_same_time(stages: Stages, tmp_path: Path) -> None:
    """The second says what it waits for, and both get everything; the limit holds over both."""
    for number in range(8):
        stages.web.page(f"/{number}", html(f"Page {number}", links=[f"/{(number + 1) % 8}"]))
    site = {"url": f"{stages.web.url}/0", "politeness": {"requests_per_second": 5}, "render": "never"}
    names = ("first", "second")
    stages.configure(json.dumps({"collections": {name: {"sites": [site]} for name in names}}))
    waited: dict[str, list[str]] = {name: [] for name in names}

    def crawl(name: str) -> None:
        with stages.connection() as connection:
            update_crawled_pages(connection, name, folder=tmp_path, waiting=waited[name].append)

    threads = [threading.Thread(target=crawl, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(waited.values()) == [[], ["127.0.0.1"]]
    assert len(stages.rows("SELECT FROM crawled_page")) == 16
    paths = [path for path in stages.web.paths() if path[1:].isdigit()]
    assert paths == [f"/{number}" for number in range(8)] * 2, "one after the other"
    assert min(later - earlier for earlier, later in pairwise(stages.web.times())) > 0.15


def test_a_crawl_with_nothing_to_do_waits_for_nobody(stages: Stages) -> None:
    stages.web.page("/", html("Start"))
    stages.configure_site()
    stages.crawl()
    waited: list[str] = []
    with stages.connection() as holder, stages.connection() as connection:
        holder.execute(queries["lock_host"], {"host": "127.0.0.1"})
        update_crawled_pages(connection, stages.collection, folder=stages.root, waiting=waited.append)
    assert not waited


def test_the_lock_of_a_killed_crawl_is_free(stages: Stages, tmp_path: Path) -> None:
    serve_slowly(stages, 40)
    stages.configure_site("/0", politeness={"requests_per_second": 5})
    process = crawler(stages, tmp_path)
    wait_for_requests(stages, 3)
    assert kill_after(process, 0)
    waited: list[str] = []
    stages.configure_site("/0")
    with collection_lock(stages.database, stages.collection), stages.connection() as connection:
        update_crawled_pages(connection, stages.collection, folder=tmp_path, waiting=waited.append)
    assert len(stages.rows("SELECT FROM crawled_page")) == 36
    assert len(waited) <= 1, "PostgreSQL may take a moment to notice"
