"""The stage `crawled_pages`: sites without an end, and pages that break what reads them."""

import pytest
from aiohttp import web

from sourcebook.web import visit
from tests.integration.stages import Stages, html


@pytest.mark.parametrize("what", ["noindex", "empty"])
def test_pages_that_are_no_documents_lead_on_only_so_often(stages: Stages, what: str) -> None:
    """Ten times for each of `max_pages`: a site that makes up such pages for ever is left."""

    def page(request: web.BaseRequest) -> str:
        links = [f"{request.path.rstrip('/')}/{name}" for name in "abcde"]
        if what == "noindex":
            return html("Way", links=links, head='<meta name="robots" content="noindex">')
        return "".join(f'<a href="{link}"><img src="x.png"></a>' for link in links)

    stages.web.page("/", html("Start", links=["/ways"]))
    stages.web.route("/ways*", page)
    stages.configure_site(max_pages=3)
    stages.crawl()
    assert stages.pages() == {"/"}
    asked = [path for path in stages.web.paths() if path.startswith("/ways")]
    assert 30 <= len(asked) <= 1 + 30 * 5
    assert stages.rows("SELECT count(*) AS rows FROM frontier WHERE state = 'queued'") == [{"rows": 0}]


def test_a_page_that_breaks_its_reader_fails_alone(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries may raise anything; the other pages are read, and so are the other sites."""

    def broken(*_: object, **__: object) -> None:
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.setattr(visit, "media_type_of", broken)
    stages.web.page("/", html("Start", links=["/a"]))
    stages.configure_site()
    stages.crawl()
    assert "it cannot be read (RecursionError)" in (stages.site_error() or "")
    monkeypatch.undo()
    stages.refresh()
    assert stages.pages() == {"/"}
