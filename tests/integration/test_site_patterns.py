"""Which pages of a site are followed, kept and tagged by their path, and what the patterns leave out."""

from dataclasses import astuple
from typing import Any

from sourcebook.admin.crawl_reports import crawl_reports
from sourcebook.config.sites import SiteSource
from sourcebook.web.dry_run import dry_run
from sourcebook.web.left_out import LeftOut
from tests.integration.stages import Stages, html

ETAG = '"1"'


def site(stages: Stages) -> None:
    """A start, a contents page, two guides behind it, a news page, and an archive."""
    stages.web.versioned("/", html("Start", links=["/contents/", "/news/a", "/logo.png"]), etag=ETAG)
    stages.web.versioned("/contents/", html("Contents", links=["/guide/a", "/guide/b", "/news/old/x"]), etag=ETAG)
    stages.web.versioned("/guide/a", html("A", "The gauge is green.", links=["/news/b", "/guide/b"]), etag=ETAG)
    stages.web.versioned("/guide/b", html("B", "The gauge is red."), etag=ETAG)
    stages.web.versioned("/news/a", html("News", links=["/news/b"]), etag=ETAG)
    stages.web.versioned("/news/b", html("More news"), etag=ETAG)
    stages.web.versioned("/news/old/x", html("Old news"), etag=ETAG)


def left_out(stages: Stages) -> list[LeftOut]:
    (source,) = stages.status().sources
    return [LeftOut.of(entry) for entry in source.left_out or ()]


def test_pages_are_read_for_their_links_without_being_kept(stages: Stages) -> None:
    """`follow` leads through a page to those that `keep` takes, which `include` alone does not reach."""
    site(stages)
    stages.configure_site(include=["/guide/**"])
    stages.crawl()
    assert stages.pages() == set()
    stages.configure_site(follow=["/contents/**"], keep=["/guide/**"])
    stages.crawl()
    assert stages.pages() == {"/guide/a", "/guide/b"}
    assert stages.web.count("/news/a") == 0
    assert stages.problems()["/contents/"] == "only a way to other pages: the patterns do not take it"


def test_the_links_of_a_kept_page_are_followed_only_where_follow_takes_it(stages: Stages) -> None:
    site(stages)
    stages.configure_site(follow=["/contents/**"], keep=["/**"])
    stages.crawl()
    assert stages.pages() == {"/", "/contents/", "/guide/a", "/guide/b", "/news/a", "/news/old/x"}
    assert stages.web.count("/news/b") == 0


def test_a_page_that_is_kept_no_longer_leaves_though_its_server_says_that_it_is_unchanged(stages: Stages) -> None:
    """And what comes back is there again: neither rests on an answer of 304."""
    site(stages)
    stages.configure_site()
    stages.crawl()
    assert len(stages.pages()) == 7
    stages.configure_site(keep=["/guide/**"], follow=["/**"])
    stages.crawl()
    assert stages.pages() == {"/guide/a", "/guide/b"}
    stages.configure_site()
    stages.crawl()
    assert len(stages.pages()) == 7


def test_what_patterns_leave_out_is_told_by_pattern(stages: Stages) -> None:
    """By the status, in the report and in the next round, in which pages are unchanged and name no links."""
    site(stages)
    stages.configure_site(exclude=["/news/old/**"], include=["/contents/**", "/guide/**", "/news/old/**"])
    report = stages.crawl()
    address = stages.address
    expected = [
        LeftOut("include", None, 2, (address("/news/a"), address("/news/b"))),
        LeftOut("exclude", "/news/old/**", 1, (address("/news/old/x"),)),
    ]
    assert left_out(stages) == expected
    assert report.extra["left_out"] == 3
    assert [str(entry) for entry in expected] == [
        f"2 URLs are left out because no pattern of `include` takes them, such as {address('/news/a')}",
        f"1 URL is left out by `exclude: /news/old/**`, such as {address('/news/old/x')}",
    ]
    stages.refresh()
    assert {(entry.setting, entry.urls) for entry in left_out(stages)} == {("include", 2), ("exclude", 1)}
    stages.configure_site()
    stages.crawl()
    assert left_out(stages) == []


def test_the_report_and_the_status_tell_the_same(stages: Stages) -> None:
    """Also of what only a sitemap, or a page that is not stored, names; a dry run finds it, too."""
    site(stages)
    stages.web.robots(f"Sitemap: {stages.web.url}/map.xml\n")
    stages.web.sitemap("/map.xml", ["/guide/a", "/news/old/y", "/news/old/z", "/news/c"])
    hidden = html("Hidden", links=["/news/d", "/news/old/x.png"], head='<meta name="robots" content="noindex">')
    stages.web.page("/guide/b", hidden)
    settings: dict[str, Any] = {"include": ["/contents/**", "/guide/**", "/news/old/**"], "exclude": ["/news/old/**"]}
    stages.configure_site(**settings)
    stages.crawl()
    address = stages.address
    with stages.connection() as connection:
        (report,) = crawl_reports(connection, [])
    told = {(each.setting, each.pattern): each.urls for each in left_out(stages)}
    assert told == {("exclude", "/news/old/**"): 3, ("include", None): 4}
    groups = {each[:3]: each for each in map(astuple, report.left_out)}
    assert {by[1:]: number for by, (*_, number, _) in groups.items() if by[0] == "patterns"} == told
    excluded = groups["patterns", "exclude", "/news/old/**"][4]
    assert excluded == {
        address("/news/old/x"): address("/contents/"),
        address("/news/old/y"): "",
        address("/news/old/z"): "",
    }
    assert report.counts["left_out"] == sum(told.values())

    dry = dry_run(
        SiteSource.model_validate({"url": address("/"), "politeness": {"requests_per_second": None}, **settings})
    )
    assert {each[:4] for each in map(astuple, dry.left_out)} == {each[:4] for each in groups.values()}


def test_pages_have_tags_by_their_path(stages: Stages) -> None:
    """Beside the tags of the site; a change of the setting reaches every page without a request for its content."""
    site(stages)
    stages.configure_site(tags=["product"], path_tags={"/guide/**": ["howto", "product"], "**/b": ["second"]})
    stages.run()
    tags = {path: set(stages.page(path)["tags"]) for path in ("/", "/guide/a", "/guide/b", "/news/b")}
    assert tags == {
        "/": {"product"},
        "/guide/a": {"product", "howto"},
        "/guide/b": {"product", "howto", "second"},
        "/news/b": {"product", "second"},
    }
    assert {hit.uri for hit in stages.search("gauge", mode="keyword", filters={"tags": ["howto"]})} == {
        stages.address("/guide/a"),
        stages.address("/guide/b"),
    }
    stages.configure_site(tags=["product"], path_tags={"/news/**": ["news"]})
    reports = stages.run()
    assert (reports["crawled_pages"].changed, reports["embeddings"].extra["computed"]) == (0, 0)
    assert stages.page("/guide/a")["tags"] == ["product"]
    assert stages.page("/news/a")["tags"] == ["product", "news"]
