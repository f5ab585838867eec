"""A crawl of a site that is made by scripts, in the browser, up to what is searched."""

from collections.abc import Iterator

import pytest

from sourcebook.model.place import address_of
from tests.integration.stages import Stages, html
from tests.integration.test_site_documents import docx, pdf
from tests.web_server import WebServer

SETS_FRAGMENT = ("location.hash = '#/'", "location.replace('#/guide?id=start')")
"""Scripts by which pages set their own fragments."""


@pytest.fixture
def site() -> Iterator[WebServer]:
    """A start page in plain HTML, and two pages that scripts make."""
    with WebServer() as server:
        links = '<a href="/tides">Tides</a> <a href="/winds">Winds</a> <a href="/alert">Alert</a>'
        server.page("/", f"<title>Start</title><main><h1>Start</h1><p>All of it is below.</p>{links}</main>")
        server.script_app("/tides", "The barnacle line marks high water.")
        server.script_app("/winds", "The anemometer stands on the mole.")
        server.dialogs("/alert")
        yield server


def configure(stages: Stages, site: WebServer, render: str) -> None:
    stages.configure(
        f"collections:\n  {stages.collection}:\n    sites:\n      - url: {site.url}/\n        render: {render}\n"
        "        politeness: {requests_per_second: unlimited}\n        request: {timeout: 15s}\n"
    )


def test_auto_renders_only_what_needs_scripts(stages: Stages, site: WebServer) -> None:
    """Pages with text come by HTTP alone; an app shell is opened in the browser, and its text is searchable."""
    configure(stages, site, "auto")
    report = stages.run()["crawled_pages"]
    assert not report.failures
    rendered = {row["url"] for row in stages.rows("SELECT url FROM crawled_page WHERE rendered")}
    assert {f"{site.url}/tides", f"{site.url}/winds"} <= rendered
    assert f"{site.url}/" not in rendered
    assert stages.found("barnacle") == {"tides"}
    assert stages.found("anemometer") == {"winds"}
    assert stages.found("below") == {site.url.removeprefix("http://")}
    stages.assert_sound()


def test_always_opens_every_page_in_the_browser(stages: Stages, site: WebServer) -> None:
    """Every page is the browser's, also one whose HTML has text."""
    configure(stages, site, "always")
    stages.run()
    assert not stages.rows("SELECT url FROM crawled_page WHERE NOT rendered")
    assert stages.found("barnacle") == {"tides"}


@pytest.mark.parametrize(
    ("render", "scripts"), [("auto", SETS_FRAGMENT), ("always", SETS_FRAGMENT[::-1])], ids=["auto", "always"]
)
def test_pages_that_set_their_own_fragment_are_read(stages: Stages, render: str, scripts: tuple[str, str]) -> None:
    """As docsify and hash routers do, also as the start of the site: the fragment leads nowhere else."""
    fill = "fetch('README.md').then(answer => answer.text()).then(text => { app.innerHTML = `<main>${text}</main>` })"
    start, other = (
        '<!doctype html><html><head><title>Handbook</title></head><body><div id="app">Please wait...</div>'
        f"<script>window.onhashchange = () => {{ {fill} }}; {script}</script></body></html>"
        for script in scripts
    )
    stages.web.page("/", start)
    stages.web.page(
        "/README.md", '<h1>Tides</h1><p>The barnacle line marks high water.</p><a href="/app/?b=1&a">App</a>'
    )
    stages.web.page("/app/", other)
    stages.web.page("/app/README.md", "<h1>Winds</h1><p>The anemometer stands on the mole.</p>")
    stages.configure_site(render=render, request={"timeout": "15s"})
    report = stages.run()["crawled_pages"]
    assert not report.failures
    assert stages.site_error() is None
    assert stages.pages() == {"/", "/app/?a&b=1"}
    assert stages.found("barnacle") == {stages.web.url.removeprefix("http://")}
    assert stages.found("anemometer") == {"?a&b=1"}
    stages.assert_sound()


@pytest.mark.parametrize("render", ["never", "always"])
def test_a_page_that_is_not_there_is_no_document_however_it_was_asked_for(stages: Stages, render: str) -> None:
    """The text of an error page is not taken for a page by a browser either; a page that goes takes its document."""
    stages.web.robots(f"Sitemap: {stages.web.url}/sitemap.xml\n")
    stages.web.sitemap("/sitemap.xml", ["/promised"])
    stages.web.page("/", html("Start", links=["/there", "/linked", "/blank"]))
    stages.web.page("/there", html("There", "The barnacle line marks high water."))
    for path in ("/promised", "/linked"):
        stages.web.page(path, html("Not found", "The limpet has left this rock."), status=404)
    stages.web.page("/blank", "", status=404)
    stages.configure_site(render=render, request={"timeout": "15s"})
    stages.run()
    kept = stages.rows("SELECT url, rendered FROM crawled_page")
    assert {row["url"]: row["rendered"] for row in kept} == dict.fromkeys(
        (stages.address("/"), stages.address("/there")), render == "always"
    )
    assert (stages.web.count("/there"), stages.web.count("/linked")) == (1, 1), "only the start is asked for both ways"
    assert (stages.found("barnacle"), stages.found("limpet")) == ({"there"}, set())
    problems = stages.problems()
    assert set(problems) == {"/promised", "/linked", "/blank"}
    assert all("the server answers 404" in problem for problem in problems.values())
    states = {path: stages.frontier(path)["state"] for path in problems}
    assert states == {"/promised": "failed", "/linked": "refused", "/blank": "refused"}

    stages.web.page("/there", html("Not found", "The limpet has left this rock."), status=404)
    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    assert stages.run()["crawled_pages"].removed == 1
    assert stages.frontier("/there")["state"] == "gone"
    assert (stages.pages(), stages.found("barnacle"), stages.found("limpet")) == ({"/"}, set(), set())
    stages.assert_sound()


def test_always_fetches_what_a_browser_makes_no_page_of(stages: Stages) -> None:
    """A PDF, a download, a plain text: no ending tells that of their URLs, the browser does, and they are documents."""
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    attachment = {"Content-Disposition": 'attachment; filename="report.docx"'}
    stages.web.page("/", html("Start", links=["/paper", "/report?id=7", "/notes", "/log.docx"]))
    stages.web.page("/paper", pdf(), content_type="application/pdf")
    stages.web.page("/report*", docx("The lantern is lit at dusk."), content_type=word, headers=attachment)
    stages.web.page("/notes", "The cormorant dries its wings on the mole.", content_type="text/plain")
    stages.web.page("/log.docx", docx("The sextant is wiped dry."), content_type=word)
    stages.configure_site(render="always", request={"timeout": "15s"})
    reports = stages.run()
    assert not reports["crawled_pages"].failures
    rows = stages.rows("SELECT url, media_type, rendered FROM crawled_page")
    assert {row["url"].removeprefix(stages.web.url): (row["media_type"], row["rendered"]) for row in rows} == {
        "/": ("text/html", True),
        "/paper": ("application/pdf", False),
        "/report?id=7": (word, False),
        "/notes": ("text/plain", False),
        "/log.docx": (word, False),
    }
    assert stages.web.count("/log.docx") == 1, "its ending tells"
    assert stages.pages() == {"/", "/paper", "/report?id=7", "/notes", "/log.docx"}
    found = [stages.found(word) for word in ("gribble", "lantern", "cormorant", "sextant")]
    assert found == [{"paper"}, {"report?id=7"}, {"notes"}, {"log.docx"}]
    stages.assert_sound()


def test_a_rendered_page_is_rendered_again_at_a_refresh(stages: Stages, site: WebServer) -> None:
    """That the shell is as it was says nothing of what its scripts fetch."""
    configure(stages, site, "auto")
    stages.run()
    site.script_app("/tides", "The limpet line marks high water.")
    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    reports = stages.run()
    assert reports["crawled_pages"].changed == 1
    assert reports["embeddings"].extra["computed"] == 1
    assert stages.found("limpet") == {"tides"}


@pytest.mark.parametrize(("render", "remedy"), [("never", "render: never"), ("auto", "SOURCEBOOK_CHROMIUM")])
def test_without_a_browser_the_failure_says_what_to_do(
    stages: Stages, site: WebServer, monkeypatch: pytest.MonkeyPatch, render: str, remedy: str
) -> None:
    """The page that needs scripts fails with the remedy; the others are taken."""
    monkeypatch.setenv("SOURCEBOOK_CHROMIUM", "/nowhere/chromium")
    configure(stages, site, render)
    stages.run()
    assert stages.found("below") == {site.url.removeprefix("http://")}
    (item,) = stages.rows("SELECT state, error FROM item WHERE uri = %(uri)s", uri=f"{site.url}/tides")
    assert item["state"] == "failed"
    assert remedy in item["error"]


ROUTER = """<!doctype html><title>Kiln</title><nav id=menu></nav><main id=app></main><script>
const show = () => {
  const route = location.hash.replace(/^#\\/?/, "").split("?")[0];
  const number = Number(route.replace(/\\D/g, "") || 0);
  const name = number ? `Room ${number}` : "Kiln";
  document.title = name;
  app.innerHTML = `<h1 id="top">${name}</h1><p>The kiln of ${route || "home"} holds ${number * 7 + 5} plates.</p>`
    + `<h2 id="heat"><a href="#/${route}?id=heat">Heat</a></h2><p>It takes ${number + 3} hours to heat.</p>`;
};
menu.innerHTML = [...Array(30).keys()].map((n) => `<a href="#/room/${n + 1}">${n + 1}</a>`).join(" ");
addEventListener("hashchange", show); show();
</script>"""


def test_each_route_of_a_page_is_a_page_of_its_own(stages: Stages, site: WebServer) -> None:
    """With its address, and the anchors of its headings; without a browser, the shell has none of them."""
    site.page("/", ROUTER)
    configure(stages, site, "auto")
    report = stages.run()["crawled_pages"]
    assert not report.failures
    assert report.added == 31
    (hit, *_) = stages.search("How many hours does room 17 take to heat?", limit=3)
    assert hit.uri == f"{site.url}/#/room/17"
    assert address_of(hit.uri, hit) == f"{site.url}/#/room/17?id=top"
    stages.assert_sound()
