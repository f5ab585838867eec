"""`sourcebook crawl`: a site goes into the configuration and into the knowledge base, also through kills."""

import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from sourcebook.config.loading import load_configuration
from tests.acceptance.workplace import Workplace, rows
from tests.waiting import wait_until
from tests.web_server import WebServer

pytestmark = pytest.mark.usefixtures("model_was_exported")
PAGES = 60
CONCURRENCY = 4
KILLS = 3


@pytest.fixture
def site() -> Iterator[WebServer]:
    """A site of sixty pages in rows of ten, each linked from the one before and from the start."""
    with WebServer() as server:
        links = "".join(f'<li><a href="/page/{number}">Page {number}</a></li>' for number in range(0, PAGES, 10))
        server.page(
            "/", f"<title>Start</title><main><h1>Start</h1><p>Where the tables begin.</p><ul>{links}</ul></main>"
        )
        for number in range(PAGES):
            following = f'<a href="/page/{number + 1}">the next one</a>' if number % 10 < 9 else "the last"
            server.page(
                f"/page/{number}",
                f"<title>Page {number}</title><main><h1 id=top-{number}>Table {number}</h1>"
                f"<p>Harbour number{number} has its high water late. Then comes {following}.</p></main>",
            )
        yield server


def test_a_site_is_added_crawled_and_found(workplace: Workplace, site: WebServer) -> None:
    """One command writes the configuration, takes the site in, and says what it did; a second one asks again."""
    told = workplace.json("crawl", f"{site.url}/", "-c", "tables", "--requests-per-second", "unlimited")
    assert told["collections"]["tables"]["crawled_pages"]["added"] == PAGES + 1
    assert told["failed_items"] == 0
    (settings,) = load_configuration(workplace.configuration).collections["tables"].sites
    assert (settings.url, settings.politeness.requests_per_second) == (f"{site.url}/", None)

    (hit, *_) = workplace.json("search", "number42", "-c", "tables", "--mode", "keyword")["results"]
    assert (hit["uri"], hit["anchor"]) == (f"{site.url}/page/42", "top-42")

    asked = len(site.requests)
    assert workplace.ingest()["tables"]["documents"]["unchanged"] == PAGES + 1
    assert len(site.requests) == asked, "nothing is due before the refresh interval has passed"

    site.page("/page/7", "<title>Page 7</title><main><h1>Table 7</h1><p>The harbour was closed.</p></main>")
    told = workplace.json("crawl", f"{site.url}/", "-c", "tables", "--max-pages", "100")["collections"]["tables"]
    assert (told["crawled_pages"]["changed"], told["documents"]["changed"]) == (1, 1)
    (settings,) = load_configuration(workplace.configuration).collections["tables"].sites
    assert (settings.max_pages, settings.politeness.requests_per_second) == (100, None)


def test_a_page_that_fails_is_told_and_the_rest_is_taken(workplace: Workplace, site: WebServer) -> None:
    """Exit code 3, and the page with its reason in `status` and `documents --failed`."""
    site.page("/page/20", "it hurts", status=500)
    told = workplace.json(
        "crawl", f"{site.url}/", "-c", "tables", "--requests-per-second", "unlimited", code=3
    )  # fmt: skip
    assert told["collections"]["tables"]["crawled_pages"]["added"] == PAGES + 1 - 10
    (collection,) = workplace.json("status")["collections"]
    (problem,) = collection["problems"]
    assert problem["uri"] == f"{site.url}/page/20"
    assert "500" in problem["error"]
    assert problem["next_retry_at"]
    (source,) = collection["sources"]
    assert (source["kind"], source["pages"]) == ("site", PAGES + 1 - 10)
    assert f"{site.url}/page/20" in workplace.run("documents", "--failed")


def test_a_wrong_url_changes_nothing(workplace: Workplace) -> None:
    """Exit code 2, a sentence, and no configuration where none was."""
    said = workplace.run("crawl", "ftp://example.com/", "-c", "tables", code=2)
    assert "http" in said
    assert not workplace.configuration.exists()


def test_a_dry_run_keeps_nothing_and_a_report_says_what_became_of_each_url(
    workplace: Workplace, site: WebServer
) -> None:
    """The same report before and after the crawl; dead links come with the page that links to them."""
    links = '<a href="/page/51">the next one</a> and <a href="/nowhere">this</a>'
    site.page("/page/50", f"<title>Fifty</title><main><h1>Fifty</h1><p>See {links}.</p></main>")
    options = ("--requests-per-second", "unlimited", "--exclude", "/page/3?")
    shutil.rmtree(workplace.home / "postgres")  # it makes no database, either
    before = sorted(workplace.folder.rglob("*"))
    (dry,) = workplace.json("crawl", f"{site.url}/", "--dry-run", *options)["sites"]
    assert not workplace.configuration.exists()
    assert sorted(workplace.folder.rglob("*")) == before
    assert (dry["counts"]["fetched"], dry["collection"]) == (PAGES + 1 - 10, None)
    assert [link["url"] for link in dry["dead"]] == [f"{site.url}/nowhere"]

    with workplace.start("crawl", f"{site.url}/", "-c", "tables", *options) as process:
        _, said = process.communicate(timeout=240)
    assert process.returncode == 0
    assert "1 dead link:" in said
    assert f"{site.url}/nowhere, linked from {site.url}/page/50" in said
    site.requests.clear()
    (report,) = workplace.json("crawl", "--report", "-c", "tables")["sites"]
    assert not site.requests
    for part in ("counts", "dead", "left_out", "refused", "redirected", "duplicates"):
        assert report[part] == dry[part]
    shown = workplace.run("crawl", "--report", f"{site.url}/")
    assert "left out: patterns" in shown
    assert f"{site.url}/page/30" in shown
    assert "--report" in workplace.run("crawl", "--report", "--max-pages", "3", code=2)
    assert "URL" in workplace.run("crawl", "-c", "tables", code=2)
    workplace.run("crawl", f"{site.url}/")
    assert len(workplace.json("status")["collections"]) == 1, "the site's own collection is found without its name"


@pytest.mark.timeout(400)
def test_a_crawl_that_is_killed_goes_on_where_it_was(workplace: Workplace, site: WebServer) -> None:
    """Through kills at any moment no page is lost, and only what was on its way is asked for twice."""
    chance = random.Random(20_261_122)
    command = [
        "crawl",
        f"{site.url}/",
        "-c",
        "tables",
        "--concurrency",
        str(CONCURRENCY),
        "--requests-per-second",
        "25",
    ]
    for number in range(KILLS):
        before = len(site.requests)
        with workplace.start(*command) as process:
            wait_until(
                lambda before=before: len(site.requests) > before + 3,  # type: ignore[misc]
                seconds=60,
                what=f"the crawl after kill {number} asks for pages",
            )
            time.sleep(chance.uniform(0.05, 0.5))  # it is killed at any moment
            process.kill()
            process.communicate(timeout=60)
        with workplace.database() as database:
            kept = {row["url"] for row in rows(database, "SELECT url FROM crawled_page")}
        asked = len(site.requests)
        assert len(kept) < PAGES + 1, "the kill came in the middle"
    workplace.json(*command)
    later = {site.url + arrival.path for arrival in site.requests[asked:]} - {
        f"{site.url}/llms.txt",
        f"{site.url}/robots.txt",
    }
    assert not later & kept, "what was written is not asked for again"
    with workplace.database() as database:
        assert len(rows(database, "SELECT FROM crawled_page WHERE removed_at IS NULL")) == PAGES + 1
        assert len(rows(database, "SELECT FROM document WHERE removed_at IS NULL")) == PAGES + 1
    times = Counter(path for path in site.paths() if re.fullmatch(r"/page/\d+", path))
    assert set(times) == {f"/page/{number}" for number in range(PAGES)}
    assert sum(times.values()) <= PAGES + KILLS * CONCURRENCY
