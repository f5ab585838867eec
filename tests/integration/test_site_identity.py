"""The stage `crawled_pages`: which URLs are one page, and where a site that has no end ends."""

from itertools import count

import pytest
from aiohttp import web

from sourcebook.admin.items import find_document
from sourcebook.admin.removal import purge, remove_items, restore_items
from sourcebook.contract.documents import Document
from sourcebook.errors import UnknownDocumentError
from sourcebook.web.left_out import LeftOut
from tests.integration.stages import Stages, html
from tests.web_server import WebServer


def find(stages: Stages, path: str) -> Document:
    with stages.connection() as connection:
        return find_document(connection, stages.address(path))


def canonical(stages: Stages, path: str) -> str:
    return f'<link rel="canonical" href="{stages.address(path)}">'


def test_the_same_content_under_two_urls_is_one_document_and_both_urls_find_it(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/guide", "/copy/of/the/guide"]))
    for path in ("/guide", "/copy/of/the/guide"):
        stages.web.page(path, html("Guide", "The gauge is green."))
    stages.configure_site()
    stages.run()
    assert stages.pages() == {"/", "/guide"}
    assert len(stages.search("green", mode="keyword")) == 1
    assert stages.page("/guide")["metadata"]["also_at"] == [stages.address("/copy/of/the/guide")]
    assert find(stages, "/copy/of/the/guide").item.uri == stages.address("/guide")
    assert find(stages, "/guide?utm_source=x#part").item.uri == stages.address("/guide")
    assert len(stages.rows("SELECT FROM crawled_page")) == 3, "both are kept"

    stages.web.page("/guide", "gone", status=410)
    number = stages.page("/guide")["id"]
    stages.refresh()
    assert stages.pages() == {"/", "/copy/of/the/guide"}
    assert stages.page("/copy/of/the/guide")["id"] == number


def test_two_copies_that_differ_from_now_on_are_two_documents(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/a", "/b"]))
    for path in ("/a", "/b"):
        stages.web.page(path, html("Guide"))
    stages.configure_site()
    stages.crawl()
    stages.web.page("/b", html("Guide", "Other words."))
    stages.refresh()
    assert stages.pages() == {"/", "/a", "/b"}
    assert "also_at" not in stages.page("/a")["metadata"]


GUIDE = (
    "The gauge of the boiler is green while 12 bar hold, and a person in the yard reads it twice a day, at 7 and at 19."
)


def test_the_canonical_url_is_the_document_where_it_is_a_page_that_says_the_same(stages: Stages) -> None:
    """It may say more than the page that names it, and be linked from nowhere; it is told which pages fall to it."""
    stages.web.page("/", html("Start", links=["/print"]))
    stages.web.page("/print", html("Guide", GUIDE, head=canonical(stages, "/guide")))
    stages.web.page("/guide", html("Guide", GUIDE, "It was made in 1931.", head=canonical(stages, "/guide")))
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/", "/guide"}
    assert find(stages, "/print").item.uri == stages.address("/guide")
    (source,) = stages.status().sources
    (entry,) = source.left_out or [{}]
    assert (entry["setting"], entry["pattern"], entry["urls"]) == ("canonical", stages.address("/guide"), 1)
    assert "1 URL is no document of its own, as " in str(LeftOut.of(entry))

    stages.web.page("/guide", html("Guide", GUIDE.replace("12", "14"), head=canonical(stages, "/guide")))
    stages.web.page("/print", html("Guide", GUIDE, "", head=canonical(stages, "/guide")))
    stages.refresh()
    assert stages.pages() == {"/", "/guide", "/print"}, "a number alone makes another page"


@pytest.mark.parametrize("path", ["/", "/manual/1.4/"])
def test_a_canonical_link_to_a_page_that_says_something_else_is_no_command(stages: Stages, path: str) -> None:
    """Neither on all pages of a site, as that of its start, nor on an old version: nobody asked for the newest one."""
    home, newest = canonical(stages, "/"), canonical(stages, "/manual/latest/")
    stages.web.page("/", html("Home", links=["/gear", "/manual/1.4/"], head=home))
    stages.web.page("/gear", html("Gear", "The gear has 31 teeth, and is oiled by hand.", head=home))
    stages.web.page("/manual/1.4/", html("Manual", "It keeps 40 litres.", links=["keys"], head=newest))
    stages.web.page("/manual/1.4/keys", html("Keys", "Key 7 of copper.", head=canonical(stages, "/manual/latest/keys")))
    stages.web.page("/manual/latest/", html("Manual", "It keeps 80 litres."))
    stages.web.page("/manual/latest/keys", html("Keys", "Key 9 of copper."))
    stages.configure_site(path)
    stages.crawl()
    manual = {"/manual/1.4/", "/manual/1.4/keys"}
    assert stages.pages() - {"/manual/latest/", "/manual/latest/keys"} == (
        manual if path != "/" else manual | {"/", "/gear"}
    )
    assert path == "/" or stages.pages() == manual


def test_canonical_links_are_trusted_or_ignored_by_a_setting(stages: Stages) -> None:
    stages.web.page("/", html("Home", links=["/gear", "/print"]))
    stages.web.page("/gear", html("Gear", "The gear has 31 teeth.", head=canonical(stages, "/")))
    stages.web.page("/print", html("Guide", GUIDE, head=canonical(stages, "/guide")))
    stages.web.page("/guide", html("Guide", GUIDE, "More."))
    stages.configure_site(canonical="trust")
    stages.crawl()
    assert stages.pages() == {"/", "/guide"}
    stages.configure_site(canonical="ignore")
    stages.refresh()
    assert stages.pages() - {"/guide"} == {"/", "/gear", "/print"}


def test_a_page_with_a_text_of_its_own_is_no_redirect_whatever_its_refresh_says(stages: Stages) -> None:
    refresh = f'<meta http-equiv="refresh" content="0; url={stages.address("/")}">'
    stages.web.page("/", html("Home", links=["/news", "/moved"]))
    stages.web.page(
        "/news", html("News", *[f"The mill sold {number} sacks in that week." for number in range(12)], head=refresh)
    )
    stages.web.page("/moved", html("Moved", head=refresh))
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/", "/news"}


@pytest.mark.parametrize("status", [404, 500])
def test_a_canonical_url_that_is_not_there_loses_no_content(stages: Stages, status: int) -> None:
    stages.web.page("/", html("Start", links=["/a"], head=canonical(stages, "/index")))
    stages.web.page("/a", html("A", head=canonical(stages, "/missing")))
    for path in ("/index", "/missing"):
        stages.web.page(path, "nothing", status=status)
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/", "/a"}
    assert stages.site_error() is None


def test_canonical_urls_that_name_each_other_or_another_host_are_not_followed(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/a", "/b"], head=canonical(stages, "https://elsewhere.example/")))
    stages.web.page("/a", html("A", head=canonical(stages, "/b")))
    stages.web.page("/b", html("B", head=canonical(stages, "/a")))
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/", "/a", "/b"}


def test_redirects_are_followed_and_recorded_and_found(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/old", "/folder"]))
    stages.web.redirect_chain("/old", 3, "/new")
    stages.web.page("/new", html("New"))
    stages.web.redirect("/folder", "/folder/")
    stages.web.page("/folder/", html("Folder"))
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/", "/new", "/folder/"}
    assert stages.frontier("/folder")["redirects_to"] == stages.address("/folder/")
    assert find(stages, "/old").item.uri == stages.address("/new"), "over three hops"
    assert not stages.problems()


def test_redirects_in_a_circle_or_without_end_fail_alone(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/loop", "/self", "/chain", "/nowhere", "/a"]))
    stages.web.redirect("/loop", "/pool")
    stages.web.redirect("/pool", "/loop")
    stages.web.redirect("/self", "/self")
    stages.web.redirect_chain("/chain", 15, "/a")
    stages.web.redirect("/nowhere", "http://[broken/")
    stages.web.page("/a", html("A"))
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/", "/a"}
    problems = stages.problems()
    assert "redirects to itself" in problems["/self"]
    assert "circle" in problems.get("/loop", "") + problems.get("/pool", "")
    assert "no web address" in problems["/nowhere"]
    assert any("more than 10" in reason for reason in problems.values())
    assert max(stages.web.count(path) for path in set(stages.web.paths())) == 1


def test_a_start_that_leads_to_another_host_of_its_domain_makes_that_the_site(stages: Stages) -> None:
    """For every later crawl as well, also one that goes on in the middle: here of the same address, at another port."""
    with WebServer() as www:
        stages.web.redirect("/", f"{www.url}/")
        www.page("/", html("Start", links=["/a", "/b", "/c"]))
        for path in ("/a", "/b"):
            www.page(path, html(path))
        www.failing("/c", html("C"), times=3)
        stages.configure_site(request={"private_networks": ["127.0.0.0/8"]})
        stages.crawl()
        expected = {f"{www.url}{path}" for path in ("/", "/a", "/b")}
        assert stages.pages() == expected
        stages.due_now()
        stages.crawl()
        assert stages.pages() == expected | {f"{www.url}/c"}, "a retry by itself"
        stages.configure_site(request={"private_networks": ["127.0.0.0/8"]}, exclude=["/b"])
        stages.crawl()
        assert stages.pages() == {f"{www.url}{path}" for path in ("/", "/a", "/c")}, "other patterns"


def test_traps_end(stages: Stages) -> None:
    """A calendar, session ids in links, folders in folders, redirects: each is left after a while."""
    stages.web.calendar()
    stages.web.sessions()
    stages.web.deep()
    number = count()
    stages.web.route("/away*", lambda _: web.Response(status=302, headers={"Location": f"/away?turn={next(number)}"}))
    stages.web.page("/", html("Start", links=["/calendar/", "/shop", "/deep/", "/away", "/real"]))
    stages.web.page("/real", html("Real"))
    stages.configure_site(max_depth=1000, max_pages=5000, politeness={"concurrency": 8})
    stages.crawl()
    assert "/real" in stages.pages()
    paths = stages.web.paths()
    assert sum(path.startswith("/calendar") for path in paths) < 400
    assert sum(path.startswith("/shop") for path in paths) < 100
    assert sum(path.startswith("/deep") for path in paths) < 25
    assert sum(path.startswith("/away") for path in paths) < 25
    assert len(paths) == len(set(paths)), "none twice"


def test_a_page_that_a_person_removes_stays_away_by_whichever_of_its_urls(stages: Stages) -> None:
    """And comes back by any of them, without embedding."""
    stages.web.page("/", html("Start", links=["/guide", "/copy/of/guide", "/old"]))
    for path in ("/guide", "/copy/of/guide"):
        stages.web.page(path, html("Guide", "The gauge is green."))
    stages.web.redirect("/old", "/guide")
    stages.configure_site()
    stages.run()
    for path in ("/guide", "/copy/of/guide", "/old", "/guide#part"):
        with stages.connection() as connection:
            (removed,) = remove_items(connection, stages.address(path))
        assert removed.document_id == stages.page("/guide")["id"]
        assert stages.found("green") == set(), "at once"
        stages.refresh()
        stages.run()
        assert stages.pages() == {"/"}
        assert not stages.pending().work
        with stages.connection() as connection:
            assert len(restore_items(connection, stages.address(path))) == 1
        assert stages.run()["embeddings"].extra.get("computed", 0) == 0
        assert (stages.pages(), stages.found("green")) == ({"/", "/guide"}, {"guide"})
    stages.assert_sound()


def test_purge_forgets_what_is_gone_and_remembers_what_a_person_removed(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/a", "/b"]))
    stages.web.page("/a", html("A", "The gauge is green."))
    stages.web.page("/b", html("B", "The gauge is white."))
    stages.configure_site()
    stages.run()
    with stages.connection() as connection:
        remove_items(connection, stages.address("/a"))
    stages.web.page("/b", "gone", status=410)
    stages.refresh()
    counts = purge(stages.database)
    assert (counts.pages, counts.documents, counts.sources) == (1, 2, 0)
    stages.refresh()
    assert stages.pages() == {"/"}
    with pytest.raises(UnknownDocumentError):
        find(stages, "/b")
    with stages.connection() as connection:
        restore_items(connection, stages.address("/a"))
    stages.run()
    assert stages.found("green") == {"a"}
