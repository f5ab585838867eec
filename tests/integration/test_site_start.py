"""The stage `crawled_pages` on a first crawl: what each way to begin takes of a site, and where it ends."""

from itertools import pairwise

import pytest

from sourcebook.web.left_out import LeftOut
from tests.integration.stages import Stages, html

LLMS = """# The harbour

> Everything on tides.

- [Gauge](docs/gauge.md): relative
- [Pier](/docs/pier)
- [Elsewhere](https://elsewhere.example/page)
- [Broken](ht!tp://no where)
- [Missing](/docs/missing)
- [Unfinished](
"""


def chain(stages: Stages, length: int, *, start: str = "/") -> None:
    """Serve a page that links to /1, which links to /2, and so on."""
    for number in range(length):
        stages.web.page(f"/{number}" if number else start, html(f"Page {number}", links=[f"/{number + 1}"]))


def test_from_a_page_its_links_are_followed_within_the_host(stages: Stages) -> None:
    links = ["/a", "b#section", "/a?utm_source=mail", "https://elsewhere.example/", "mailto:a@b.example", "/image.png"]
    stages.web.page("/docs/", html("Start", links=links))
    stages.web.page("/a", html("A"))
    stages.web.page("/docs/b", html("B", links=["/docs/"]))
    stages.configure_site("/docs/")
    report = stages.crawl()
    assert (report.added, report.failed) == (3, 0)
    assert stages.pages() == {"/docs/", "/a", "/docs/b"}
    assert sorted(stages.web.paths()) == ["/a", "/docs/", "/docs/b", "/robots.txt"], "each once"


@pytest.mark.parametrize("packed", [False, True])
def test_from_a_sitemap_index_its_pages_are_taken_and_no_links_followed(stages: Stages, packed: bool) -> None:
    stages.web.sitemap_index("/sitemap.xml", ["/one.xml", "/two.xml", "https://elsewhere.example/s.xml"], packed=packed)
    stages.web.sitemap("/one.xml", ["/a", "/b"], packed=packed)
    stages.web.sitemap("/two.xml", ["/c", "https://elsewhere.example/d", "/a"], packed=packed)
    for path in "abcz":
        stages.web.page(f"/{path}", html(path, links=["/z"]))
    stages.configure_site("/sitemap.xml")
    report = stages.crawl()
    assert (stages.pages(), report.failed) == ({"/a", "/b", "/c"}, 0)
    assert stages.web.count("/a") == 1
    assert stages.site_error() is None


def test_from_a_sitemap_links_are_followed_where_the_settings_say_so(stages: Stages) -> None:
    stages.web.sitemap("/sitemap.xml", ["/a"])
    stages.web.page("/a", html("A", links=["/b"]))
    stages.web.page("/b", html("B"))
    stages.configure_site("/sitemap.xml", follow_links=True)
    stages.crawl()
    assert stages.pages() == {"/a", "/b"}


def test_from_a_page_no_links_are_followed_where_the_settings_say_so(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/b"]))
    stages.web.page("/b", html("B"))
    stages.configure_site(follow_links=False)
    stages.crawl()
    assert stages.pages() == {"/"}


def test_from_an_llms_txt_what_it_names_is_taken_and_what_is_missing_is_told(stages: Stages) -> None:
    stages.web.page("/llms.txt", LLMS, content_type="text/plain")
    stages.web.page("/docs/gauge.md", "# Gauge\n\nThe gauge floats. [Next](/docs/next)", content_type="text/markdown")
    stages.web.page("/docs/pier", html("Pier", links=["/docs/next"]))
    stages.web.page("/docs/next", html("Next"))
    stages.configure_site("/llms.txt")
    stages.crawl()
    assert stages.pages() == {"/docs/gauge.md", "/docs/pier"}
    problems = stages.problems()
    assert set(problems) == {"/docs/missing"}
    assert "404" in problems["/docs/missing"]
    assert "/llms.txt names it" in problems["/docs/missing"]


def test_from_a_bare_host_robots_sitemaps_and_the_llms_txt_are_looked_up(stages: Stages) -> None:
    stages.web.robots(f"User-agent: *\nDisallow:\nSitemap: {stages.web.url}/maps/all.xml\n")
    stages.web.sitemap("/maps/all.xml", ["/listed"])
    stages.web.page("/llms.txt", "# Site\n\n- [Named](/named)\n", content_type="text/plain")
    for path in ("listed", "named", "linked"):
        stages.web.page(f"/{path}", html(path))
    stages.web.page("/", html("Start", links=["/linked"]))
    stages.configure_site("")
    stages.crawl()
    assert stages.pages() == {"/", "/listed", "/named", "/linked"}
    assert not stages.problems()


def test_a_bare_host_without_lists_is_no_problem(stages: Stages) -> None:
    stages.web.page("/", html("Start"))
    stages.configure_site()
    assert stages.crawl().failed == 0
    assert not stages.problems()
    assert stages.site_error() is None


def test_the_patterns_decide_but_not_over_the_way_in(stages: Stages) -> None:
    """The start is asked for its links even where the patterns do not take it; it is no page then."""
    stages.web.page("/", html("Start", links=["/docs/a", "/docs/old/b", "/blog/c"]))
    for path in ("/docs/a", "/docs/old/b", "/blog/c"):
        stages.web.page(path, html(path))
    stages.configure_site(include=["/docs/**"], exclude=["/docs/old/"])
    stages.crawl()
    assert stages.pages() == {"/docs/a"}
    assert stages.web.count("/docs/old/b") == stages.web.count("/blog/c") == 0
    assert "patterns" in stages.problems()["/"]


def test_no_page_is_further_from_the_start_than_max_depth(stages: Stages) -> None:
    """And it is told how many URLs that leaves out, and which; pages of a list are no deeper than its first one."""
    rooms = ["/", "/hall", "/room", "/attic", "/chest", "/drawer"]
    for path, link in pairwise(rooms):
        stages.web.page(path, html(f"Room {path}", links=[link]))
    for number in range(1, 9):
        page = stages.address(f"/parts/page/{number + 1}")
        stages.web.page(f"/parts/page/{number}", html(f"List {number}", links=[page, f"/part/{number * 7}"]))
        stages.web.page(f"/part/{number * 7}", html(f"Part {number}"))
    older = f'<a href="{stages.address("/older-b")}">Older posts »</a>'
    stages.web.page("/older-b", html("News B", '<a href="/older-c" rel="next">on</a>'))
    stages.web.page("/older-c", html("News C"))
    stages.web.page("/attic", html("Room /attic", older, links=["/chest", "/parts/page/1"]))
    stages.configure_site(max_depth=3)
    stages.crawl()
    assert stages.pages() == {*rooms[:4], "/older-b", "/older-c"}
    (source,) = stages.status().sources
    told = [str(LeftOut.of(entry)) for entry in source.left_out or ()]
    lead = "2 URLs are left out because more than `max_depth` links lead to them, such as "
    assert told == [f"{lead}{stages.address('/chest')}"]

    stages.configure_site("/parts/page/1", max_depth=1)
    stages.crawl()
    assert stages.pages() == {f"/parts/page/{number}" for number in range(1, 9)} | {
        f"/part/{number * 7}" for number in range(1, 9)
    }


def test_max_pages_is_kept_exactly_and_what_is_beyond_is_counted_and_taken_when_it_grows(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=[f"/{number}" for number in range(30)]))
    for number in range(30):
        stages.web.page(f"/{number}", html(f"Page {number}"))
    stages.configure_site(max_pages=10, politeness={"concurrency": 8})
    report = stages.crawl()
    assert (report.added, len(stages.pages())) == (10, 10)
    assert len(stages.web.paths()) == 10 + 2, "robots.txt and llms.txt besides"
    assert stages.status().sources[0].beyond == 21
    assert stages.status().sources[0].queued == 0
    assert not stages.pending().pages

    stages.configure_site(max_pages=40, politeness={"concurrency": 8})
    report = stages.crawl()
    assert (report.added, report.changed, len(stages.pages())) == (21, 0, 31)
    assert stages.status().sources[0].beyond == 0


def test_pages_that_are_missing_or_moved_take_no_room_of_max_pages(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/missing", "/moved", "/a", "/b"]))
    stages.web.redirect("/moved", "/a")
    stages.web.page("/a", html("A"))
    stages.web.page("/b", html("B"))
    stages.configure_site(max_pages=3)
    stages.crawl()
    assert stages.pages() == {"/", "/a", "/b"}


def test_another_name_of_the_same_machine_is_another_host(stages: Stages) -> None:
    other = f"http://localhost:{stages.web.port}/other"
    stages.web.page("/", html("Start", links=[other, "/a"]))
    stages.web.page("/a", html("A", links=[other]))
    stages.web.page("/other", html("Other"))
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/", "/a"}
    assert not stages.web.count("/other")


def test_a_sitemap_that_turns_out_larger_than_max_pages_is_known_whole(stages: Stages) -> None:
    """60,000 URLs are read in a few seconds, and counted."""
    stages.web.sitemap("/sitemap.xml", [f"/{number}" for number in range(60_000)])
    stages.web.route("/*", lambda request: html("Any", f"It holds {hash(request.path)} sacks."))
    stages.configure_site("/sitemap.xml", max_pages=5)
    report = stages.crawl()
    assert report.added == 5
    assert stages.status().sources[0].beyond == 59_995
    assert report.seconds < 20
