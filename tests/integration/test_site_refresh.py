"""The stage `crawled_pages` on a later crawl: what is asked for again, what changes, and what leaves."""

from collections.abc import Mapping

import pytest

from sourcebook.model.selection import Selection
from sourcebook.web.outcome import SETTLED
from tests.integration.stages import Stages, html
from tests.integration.test_site_bad_input import BOMB

LISTS = {"/robots.txt", "/llms.txt", "/sitemap.xml"}
CONDITIONS = {"if-none-match", "if-modified-since"}


def is_conditional(headers: Mapping[str, str]) -> bool:
    return bool(CONDITIONS & {name.lower() for name in headers})


def versioned_site(stages: Stages, pages: int = 4) -> None:
    stages.web.versioned("/", html("Start", links=[f"/{number}" for number in range(pages)]), etag='"start"')
    for number in range(pages):
        validator = {"etag": f'"{number}"'} if number % 2 else {"modified": "Mon, 02 Jun 2025 10:00:00 GMT"}
        stages.web.versioned(f"/{number}", html(f"Page {number}", f"The {number}th gauge floats."), **validator)


def test_nothing_is_asked_for_while_nothing_is_due(stages: Stages) -> None:
    versioned_site(stages)
    stages.configure_site()
    stages.crawl()
    stages.web.requests.clear()
    report = stages.crawl()
    assert (stages.web.paths(), report.worked, report.unchanged) == ([], False, 5)
    assert not stages.pending().pages


def test_a_refresh_of_what_did_not_change_sends_conditional_requests_and_touches_nothing(stages: Stages) -> None:
    versioned_site(stages)
    stages.configure_site()
    first = stages.run()
    tables = "SELECT xmin, * FROM document", "SELECT xmin, * FROM chunk", "SELECT xmin, * FROM search_entry"
    before = [stages.rows(f"{table} ORDER BY id" if "entry" not in table else table) for table in tables]
    contents = stages.rows("SELECT url, sha256, changed_at FROM crawled_page ORDER BY url")
    stages.web.requests.clear()

    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    assert stages.pending().pages == 5
    reports = stages.run()
    assert not any(report.worked for report in reports.values())
    assert reports["crawled_pages"].unchanged == 5
    assert reports["crawled_pages"].version == first["crawled_pages"].version
    asked = [arrival for arrival in stages.web.requests if arrival.path not in LISTS]
    assert len(asked) == 5
    assert [arrival.path for arrival in asked if not is_conditional(arrival.headers)] == []
    assert [stages.rows(f"{table} ORDER BY id" if "entry" not in table else table) for table in tables] == before
    assert stages.rows("SELECT url, sha256, changed_at FROM crawled_page ORDER BY url") == contents


def test_only_a_page_whose_content_changed_is_embedded_again(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/a", "/b"]))
    stages.web.page("/a", html("A", "The gauge is green."))
    stages.web.page("/b", html("B", "The pier is long."))
    stages.configure_site()
    assert stages.run()["embeddings"].extra["computed"] == 3
    stages.web.page("/a", html("A", "The gauge is white."))
    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    reports = stages.run()
    assert (reports["crawled_pages"].changed, reports["crawled_pages"].unchanged) == (1, 2)
    assert reports["embeddings"].extra["computed"] == 1
    assert (stages.found("white"), stages.found("green"), stages.found("pier")) == ({"a"}, set(), {"b"})
    assert stages.page("/a")["version"] == 2
    assert stages.page("/b")["version"] == 1
    stages.assert_sound()


def test_a_changed_nonce_script_or_token_is_no_change(stages: Stages) -> None:
    def page(secret: str) -> str:
        script = f'<script nonce="{secret}">var build = "{secret}";</script><meta name="csrf-token" content="{secret}">'
        hidden = f'<input type="hidden" name="token" value="{secret}"><!-- rendered {secret} -->'
        return html("Start", "The gauge floats in the harbour basin.", head=script).replace("<ul>", f"{hidden}<ul>")

    stages.web.page("/", page("f00d"))
    stages.configure_site()
    stages.run()
    stages.web.page("/", page("cafe"))
    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    reports = stages.run()
    assert not any(report.worked for report in reports.values())
    assert stages.page("/")["version"] == 1


def test_metadata_that_changes_alone_is_recorded_and_touches_no_chunk(stages: Stages) -> None:
    def page(description: str, modified: str) -> str:
        head = f'<meta name="description" content="{description}">'
        return html("Start", head=head + f'<meta property="article:modified_time" content="{modified}">')

    stages.web.page("/", page("Old words.", "2025-01-01T00:00:00Z"))
    stages.configure_site()
    stages.run()
    assert stages.page("/")["metadata"]["description"] == "Old words."
    chunks = stages.rows("SELECT xmin, * FROM chunk")
    stages.web.page("/", page("New words.", "2025-02-02T00:00:00Z"))
    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    stages.run()
    document = stages.page("/")
    assert document["metadata"]["description"] == "New words."
    assert document["metadata"]["modified"].startswith("2025-02-02")
    assert document["version"] == 1
    assert stages.rows("SELECT xmin, * FROM chunk") == chunks
    assert not stages.pending().work


def test_what_the_sitemap_says_is_unchanged_is_not_asked_for(stages: Stages) -> None:
    stages.web.sitemap("/sitemap.xml", [("/old", "2024-05-01"), ("/edited", "2024-05-01T10:00:00+00:00"), "/undated"])
    for name in ("old", "edited", "undated"):
        stages.web.page(f"/{name}", html(name))
    stages.configure_site("/sitemap.xml")
    assert stages.crawl().added == 3
    stages.web.sitemap("/sitemap.xml", [("/old", "2024-05-01"), ("/edited", "2024-06-01T10:00:00+00:00"), "/undated"])
    stages.web.page("/edited", html("edited", "Other words."))
    stages.web.requests.clear()
    report = stages.refresh()
    assert sorted(set(stages.web.paths()) - LISTS) == ["/edited", "/undated"]
    assert (report.changed, report.unchanged) == (1, 2)
    stages.web.requests.clear()
    stages.refresh(Selection(force=True))
    assert stages.web.count("/old") == 1, "force asks for everything"


def test_a_date_of_today_may_hide_a_second_change_on_the_same_day(stages: Stages) -> None:
    today = str(stages.rows("SELECT (now() AT TIME ZONE 'UTC')::date AS day")[0]["day"])
    stages.web.sitemap("/sitemap.xml", [("/news", today)])
    stages.web.page("/news", html("news"))
    stages.configure_site("/sitemap.xml")
    stages.crawl()
    stages.web.page("/news", html("news", "Later the same day."))
    assert stages.refresh().changed == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [(500, ""), (404, ""), (200, html("We are back soon")), (200, BOMB)],
    ids=["trouble", "gone", "maintenance", "unreadable"],
)
def test_dates_of_a_sitemap_that_fails_are_not_trusted(stages: Stages, status: int, body: str) -> None:
    """What it said in earlier rounds spares no request; nothing is removed, and a change is found."""

    def serve_sitemap() -> None:
        stages.web.sitemap("/sitemap.xml", [("/a", "2024-05-01"), ("/b", "2024-05-01")])

    def asked() -> list[str]:
        return sorted(path for path in stages.web.paths() if path not in LISTS)

    stages.web.robots(f"Sitemap: {stages.web.url}/sitemap.xml\n")
    serve_sitemap()
    stages.web.versioned("/", html("Start"), etag='"start"')
    stages.web.versioned("/a", html("A"), etag='"a"')
    stages.web.versioned("/b", html("B", "The gauge is green."), etag='"b"')
    stages.configure_site()
    assert stages.crawl().added == 3
    stages.web.requests.clear()
    stages.refresh()
    assert asked() == ["/"], "while it is there, its dates are trusted"

    stages.web.page("/sitemap.xml", body, status=status)
    stages.web.versioned("/b", html("B", "The gauge is white."), etag='"b2"')
    stages.web.requests.clear()
    report = stages.refresh()
    assert asked() == ["/", "/a", "/b"]
    assert all(is_conditional(arrival.headers) for arrival in stages.web.requests if arrival.path not in LISTS)
    assert (report.added, report.changed, report.removed, report.unchanged) == (0, 1, 0, 2)
    assert (stages.pages(), stages.site_error()) == ({"/", "/a", "/b"}, None)

    serve_sitemap()
    assert (stages.refresh().removed, stages.refresh().removed, stages.problems()) == (0, 0, {})
    stages.web.requests.clear()
    stages.refresh()
    assert asked() == ["/"], "it is trusted again"
    assert stages.pages() == {"/", "/a", "/b"}


def test_a_site_whose_sitemap_is_its_start_asks_for_nothing_while_that_fails(stages: Stages) -> None:
    """Nothing is removed, `status` says why, and what was changed meanwhile is found when it is back."""
    stages.web.sitemap("/sitemap.xml", [("/a", "2024-05-01"), ("/b", "2024-05-01")])
    stages.web.page("/a", html("A"))
    stages.web.page("/b", html("B", "The gauge is green."))
    stages.configure_site("/sitemap.xml")
    assert stages.crawl().added == 2
    stages.web.page("/b", html("B", "The gauge is white."))
    stages.web.page("/sitemap.xml", "gone", status=404)
    stages.web.requests.clear()
    report = stages.refresh()
    assert set(stages.web.paths()) <= LISTS
    assert (report.removed, report.failed, stages.pages()) == (0, 1, {"/a", "/b"})
    assert "404" in (stages.site_error() or "")
    stages.web.sitemap("/sitemap.xml", [("/a", "2024-05-01"), ("/b", "2024-06-01")])
    stages.web.requests.clear()
    report = stages.refresh()
    assert sorted(set(stages.web.paths()) - LISTS) == ["/b"]
    assert (report.changed, report.removed, stages.site_error()) == (1, 0, None)


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_is_gone_leaves_the_index_in_the_same_run_and_comes_back_without_embedding(
    stages: Stages, status: int
) -> None:
    stages.web.page("/", html("Start", links=["/a"]))
    stages.web.page("/a", html("A", "The gauge is green."))
    stages.configure_site()
    stages.run()
    number = stages.page("/a")["id"]
    stages.web.page("/a", "gone", status=status)
    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    reports = stages.run()
    assert (reports["crawled_pages"].removed, reports["crawled_pages"].failed) == (1, 0)
    assert (stages.found("green"), stages.pages()) == (set(), {"/"})
    assert not stages.problems(), "that a page is gone is no problem"
    stages.web.page("/a", html("A", "The gauge is green."))
    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    reports = stages.run()
    assert reports["crawled_pages"].added == 1
    assert reports["embeddings"].extra.get("computed", 0) == 0
    assert (stages.found("green"), stages.page("/a")["id"], stages.page("/a")["version"]) == ({"a"}, number, 1)
    stages.assert_sound()


def down(stages: Stages) -> None:
    stages.web.down = True


def every_page_has_trouble(stages: Stages) -> None:
    for path in ("/", "/a", "/b"):
        stages.web.page(path, "trouble", status=503)


def every_page_is_missing(stages: Stages) -> None:
    for path in ("/", "/a", "/b"):
        stages.web.page(path, "missing", status=404)


def every_page_is_locked(stages: Stages) -> None:
    for path in ("/", "/a", "/b"):
        stages.web.page(path, "who are you", status=403)


def every_page_leads_away(stages: Stages) -> None:
    for path in ("/", "/a", "/b"):
        stages.web.redirect(path, "https://parked.example/")


TROUBLES = [down, every_page_has_trouble, every_page_is_missing, every_page_is_locked, every_page_leads_away]


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_site_that_is_down_loses_nothing_and_says_so(stages: Stages, trouble: object) -> None:
    """However often it is looked at meanwhile; when it is back, nothing is lost and nothing is said."""
    assert callable(trouble)

    def serve() -> None:
        stages.web.down = False
        stages.web.page("/", html("Start", links=["/a", "/b"]))
        stages.web.page("/a", html("A"))
        stages.web.page("/b", html("B"))

    serve()
    stages.configure_site()
    stages.crawl()
    trouble(stages)
    for _ in range(2):
        report = stages.refresh()
        stages.due_now()
        assert (report.removed, report.failed >= 1, len(stages.pages())) == (0, True, 3)
        assert stages.site_error() is not None
        assert stages.status().sources[0].listing_error == stages.site_error()
    serve()
    report = stages.refresh()
    assert (report.added, report.removed, report.failed, len(stages.pages())) == (0, 0, 0, 3)
    assert stages.site_error() is None
    assert not stages.problems()
    assert not stages.pending().pages


def test_a_start_that_leads_to_another_page_each_year_is_not_down_when_the_old_one_goes(stages: Stages) -> None:
    stages.web.redirect("/", "/v1/")
    stages.web.page("/v1/", html("Version 1", links=["/about"]))
    stages.web.page("/about", html("About"))
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/v1/", "/about"}
    stages.web.redirect("/", "/v2/")
    stages.web.page("/v1/", "gone", status=404)
    stages.web.page("/v2/", html("Version 2", links=["/about"]))
    report = stages.refresh()
    assert (report.failed, stages.pages()) == (0, {"/v2/", "/about"})
    assert stages.site_error() is None


def test_a_page_that_moved_keeps_its_document(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/old"]))
    stages.web.page("/old", html("Page", "The gauge is green."))
    stages.configure_site()
    stages.run()
    number = stages.page("/old")["id"]
    stages.web.redirect("/old", "/new", status=301)
    stages.web.page("/new", html("Page", "The gauge is green."))
    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    reports = stages.run()
    assert stages.pages() == {"/", "/new"}
    assert stages.page("/new")["id"] == number
    assert reports["embeddings"].extra.get("computed", 0) == 0
    assert stages.found("green") == {"new"}
    stages.assert_sound()


def test_a_site_in_maintenance_keeps_its_pages_and_a_lasting_redirect_is_a_move(stages: Stages) -> None:
    """A redirect for now is told and waited out; after some tries the page counts as moved."""
    stages.web.page("/", html("Start", links=["/a", "/maintenance"]))
    stages.web.page("/a", html("A", "The barnacle line marks high water."))
    stages.web.page("/maintenance", html("Soon", "We are back soon."))
    stages.configure_site()
    stages.run()
    stages.web.redirect("/a", "/maintenance", status=302)
    stages.refresh()
    assert stages.found("barnacle") == {"a"}
    assert "redirects for now (status 302)" in stages.problems()["/a"]

    for _ in range(SETTLED):
        stages.run(Selection(only_failed=True))
    assert stages.found("barnacle") == set()
    assert stages.frontier("/a")["state"] == "redirected"
