"""Settings of a site that change: what leaves, what comes, and what is asked for because of it."""

from sourcebook.admin.collections import apply
from sourcebook.admin.removal import purge
from sourcebook.config.loading import load_configuration
from tests.integration.stages import Stages, html
from tests.web_server import WebServer

LISTS = {"/robots.txt", "/llms.txt"}


def site(stages: Stages) -> None:
    stages.web.versioned("/", html("Start", links=["/docs/a", "/blog/c"]), etag='"1"')
    stages.web.versioned("/docs/a", html("A", "The gauge is green.", links=["/docs/b"]), etag='"1"')
    stages.web.versioned("/docs/b", html("B", links=["/docs/deep"]), etag='"1"')
    stages.web.versioned("/docs/deep", html("Deep"), etag='"1"')
    stages.web.versioned("/blog/c", html("C", links=["/blog/d"]), etag='"1"')
    stages.web.versioned("/blog/d", html("D"), etag='"1"')


def unconditional(stages: Stages) -> set[str]:
    return {
        arrival.path
        for arrival in stages.web.requests
        if arrival.path not in LISTS and not any(name.lower() == "if-none-match" for name in arrival.headers)
    }


def test_narrower_patterns_let_pages_leave_and_wider_ones_bring_them(stages: Stages) -> None:
    """What is known is not fetched anew for it, and what comes back is not embedded again."""
    site(stages)
    stages.configure_site()
    stages.run()
    assert len(stages.pages()) == 6
    stages.web.requests.clear()
    stages.configure_site(exclude=["/docs/**"])
    assert stages.pending().pages
    report = stages.run()["crawled_pages"]
    assert (report.removed, report.changed, stages.pages()) == (3, 0, {"/", "/blog/c", "/blog/d"})
    assert (unconditional(stages), stages.found("green")) == (set(), set())
    assert not [path for path in stages.web.paths() if path.startswith("/docs")]

    stages.web.requests.clear()
    stages.configure_site()
    reports = stages.run()
    assert (reports["crawled_pages"].added, len(stages.pages())) == (3, 6)
    assert unconditional(stages) == {"/docs/a", "/docs/b", "/docs/deep"}
    assert reports["embeddings"].extra.get("computed", 0) == 0
    assert stages.found("green") == {"a"}


def test_a_smaller_depth_and_a_larger_one(stages: Stages) -> None:
    site(stages)
    stages.configure_site()
    stages.crawl()
    stages.configure_site(max_depth=1)
    stages.crawl()
    assert stages.pages() == {"/", "/docs/a", "/blog/c"}
    stages.configure_site(max_depth=2)
    stages.crawl()
    assert stages.pages() == {"/", "/docs/a", "/docs/b", "/blog/c", "/blog/d"}


def test_links_that_are_followed_from_now_on(stages: Stages) -> None:
    site(stages)
    stages.configure_site(follow_links=False)
    stages.crawl()
    assert stages.pages() == {"/"}
    stages.configure_site(follow_links=True)
    stages.crawl()
    assert len(stages.pages()) == 6


def test_settings_that_decide_nothing_ask_for_nothing_anew(stages: Stages) -> None:
    site(stages)
    stages.configure_site()
    stages.crawl()
    stages.web.requests.clear()
    stages.configure_site(politeness={"concurrency": 2}, tags=["harbour"])
    report = stages.crawl()
    assert (report.worked, unconditional(stages)) == (False, set())


def test_the_pages_of_a_site_that_left_the_configuration_leave_the_index(stages: Stages) -> None:
    """They come back with it, and are forgotten by a purge."""
    site(stages)
    with WebServer() as other:
        other.page("/", html("Other", "The pier is long."))
        both = [{"url": "/"}, {"url": f"{other.url}/"}]
        stages.configure_sites(*both)
        stages.run()
        assert (len(stages.pages()), len(stages.found("pier"))) == (7, 1)
        stages.configure_sites(both[1])
        assert stages.pending().work
        report = stages.run()["crawled_pages"]
        assert (report.removed, len(stages.pages())) == (6, 1)
        assert (stages.found("green"), len(stages.found("pier"))) == (set(), 1)
        assert not stages.pending().work
        stages.configure_sites(*both)
        reports = stages.run()
        assert (reports["crawled_pages"].added, len(stages.pages())) == (6, 7)
        assert reports["embeddings"].extra.get("computed", 0) == 0
        assert stages.found("green") == {"a"}
        stages.configure_sites(both[1])
        stages.run()
        assert purge(stages.database).pages == 6
        assert not stages.rows("SELECT FROM frontier WHERE url LIKE %(url)s", url=f"{stages.web.url}%")
        stages.assert_sound()


def test_a_collection_may_have_files_and_sites_that_hold_the_same_words(stages: Stages) -> None:
    site(stages)
    stages.write("notes.md", "The gauge is green, as a file.")
    file = stages.root.parent / "sourcebook.yaml"
    file.write_text(
        f"collections:\n  handbook:\n    files:\n      - root: ./{stages.root.name}\n    sites:\n"
        f"      - url: {stages.web.url}/\n        render: never\n"
        "        politeness: {requests_per_second: unlimited}\n"
    )
    with stages.connection() as connection:
        apply(connection, load_configuration(file))
    stages.run()
    assert stages.found("green") == {"notes.md", "a"}
    totals = stages.status()
    assert (totals.documents, totals.failed, totals.stale) == (7, 0, 0)
    assert [source.kind for source in totals.sources] == ["files", "site"]
    stages.assert_sound()


def test_two_sites_that_overlap_share_their_pages(stages: Stages) -> None:
    """A page of both is one document, and stays while one of them has it."""
    site(stages)
    stages.configure_sites({"url": "/"}, {"url": "/docs/a", "include": ["/docs/"]})
    stages.crawl()
    assert len(stages.pages()) == 6
    assert len(stages.rows("SELECT FROM crawled_page")) == 9
    number = stages.page("/docs/a")["id"]
    stages.configure_sites({"url": "/docs/a", "include": ["/docs/"]})
    stages.crawl()
    assert stages.pages() == {"/docs/a", "/docs/b", "/docs/deep"}
    assert (stages.page("/docs/a")["id"], stages.page("/docs/a")["version"]) == (number, 1)
