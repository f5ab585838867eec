"""The stage `crawled_pages`: a page under `//` is the page under `/`, unless the server tells them apart."""

from tests.integration.stages import Stages, html


def test_a_page_with_repeated_slashes_is_not_taken_twice(stages: Stages) -> None:
    """One document, although the bytes of each response differ; a link beside it is followed once."""
    for number, path in enumerate(("/src/page.html", "/src//page.html")):
        head = f'<meta name="csp-nonce" content="{number}">'
        stages.web.page(path, html("Page", 'See <a href="other.html">the other</a>.', head=head))
    stages.web.page("/src/other.html", html("Other"))
    stages.web.page("/src//other.html", html("Other"))
    stages.web.page("/", html("Start", links=["/src//page.html", "/src/page.html"]))
    stages.configure_site("/")
    stages.crawl()
    assert stages.pages() == {"/", "/src/page.html", "/src/other.html"}
    assert stages.frontier("/src//page.html")["redirects_to"] == stages.address("/src/page.html")
    assert len(stages.rows("SELECT FROM crawled_page WHERE removed_at IS NULL")) == 3


def test_a_server_that_tells_slashes_apart_keeps_its_pages(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/a//b", "/a/b", "/c//d"]))
    stages.web.page("/a//b", html("Two slashes"))
    stages.web.page("/a/b", html("One slash"))
    stages.web.page("/c//d", html("Only two slashes"))
    stages.configure_site("/")
    stages.crawl()
    assert stages.pages() == {"/", "/a//b", "/a/b", "/c//d"}
