"""A crawl of a site whose settings do something on its pages, up to what is searched."""

from tests.integration.stages import Stages, html
from tests.integration.test_site_documents import pdf

LAST_WEEK = "2020-01-01"
"""A `lastmod` that says that a page has not changed since."""
MORE = (
    "<button class=more>More</button><script>document.querySelector('.more').onclick = event => {"
    "event.target.remove(); document.querySelector('main').insertAdjacentHTML('beforeend',"
    "'<p>The limpet lives below it.</p>') }</script>"
)


def test_settings_that_change_pages_open_them_and_a_change_opens_them_again(stages: Stages) -> None:
    """Although each page has text over HTTP, and its sitemap says that it has not changed; other settings do not."""
    stages.web.page("/", html("Start", "The barnacle line marks high water.") + MORE)
    stages.web.page("/there", html("There", "The anemometer stands on the mole.") + MORE)
    stages.web.page("/paper", pdf(), content_type="application/pdf")
    stages.web.robots(f"Sitemap: {stages.web.url}/sitemap.xml\n")
    stages.web.sitemap("/sitemap.xml", [("/there", LAST_WEEK), ("/paper", LAST_WEEK)])
    stages.configure_site(render="auto", request={"timeout": "20s"})
    stages.run()
    assert not stages.rows("SELECT url FROM crawled_page WHERE rendered")
    assert stages.found("anemometer") == {"there"}

    stages.configure_site(render="auto", request={"timeout": "20s"}, browser={"clicks": ["button.more"]})
    reports = stages.run()
    assert not reports["crawled_pages"].failures
    rendered = {row["url"] for row in stages.rows("SELECT url FROM crawled_page WHERE rendered")}
    assert rendered == {stages.address("/"), stages.address("/there")}
    assert "there" in stages.found("limpet")
    assert stages.found("gribble") == {"paper"}

    stages.web.page("/there", html("There", "The cormorant stands on the mole.") + MORE)
    longer = {"clicks": ["button.more"], "page_timeout": "25s"}
    stages.configure_site(render="auto", request={"timeout": "20s"}, browser=longer)
    stages.run()
    assert stages.found("anemometer") == {"there"}, "more time alone is no reason to ask again"

    stages.configure_site(render="auto", request={"timeout": "20s"}, browser={**longer, "viewport": "800x600"})
    stages.run()
    assert stages.found("cormorant") == {"there"}
    stages.assert_sound()


def test_a_page_without_its_element_fails_and_keeps_its_document(stages: Stages) -> None:
    """What `wait_for` names does not come: the text of before stays, and the reason names setting and remedy."""
    stages.web.page("/", html("Start", "The barnacle line marks high water.", links=["/there"]))
    stages.web.page("/there", html("There", "The limpet has its own rock."))
    browser = {"wait_for": "main p", "page_timeout": "8s"}
    stages.configure_site(render="auto", request={"timeout": "20s"}, browser=browser)
    stages.run()
    assert stages.found("limpet") == {"there"}
    stages.web.page("/there", "<title>There</title><main>Please wait.</main>")
    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    stages.run()
    assert stages.found("limpet") == {"there"}
    assert "`browser.wait_for` (main p) within 8 s" in stages.problems()["/there"]
    assert stages.frontier("/there")["failure_class"] == "timeout"
    stages.assert_sound()
