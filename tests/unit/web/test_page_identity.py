"""The identity of a page's content: links to its own sections count the same under every URL of the page."""

from urllib.parse import urljoin

import pytest

from sourcebook.model.document import content_hash
from sourcebook.parsing.html.cleaner import clean_page
from sourcebook.web.http_types import Response
from sourcebook.web.outcome import PageContent
from sourcebook.web.page_content import page_of

HOST = "https://docs.example"
TEXT = '<h1 id="top">Guide</h1><p>Before.</p>{}<h2 id="rest">Rest</h2><p>After it all, <b>the end</b>.</p>'
CONTENTS = '<ul><li><a href="#top">Top</a></li><li><a href="#rest">The rest</a></li></ul>'


def stored(url: str, inside: str = CONTENTS, head: str = "") -> PageContent:
    html = f"<head>{head}</head><body><main>{TEXT.format(inside)}</main></body>"
    response = Response(url, 200, {"content-type": "text/html"}, html.encode())
    return page_of(response, "text/html", clean_page(response.body, url=url))


@pytest.mark.parametrize(
    ("one", "other"), [("/", "/index.html"), ("/p?sid=1", "/p?sid=22222222"), ("/p/?a=(1)", "/p/?a='%C3%A4'|")]
)
@pytest.mark.parametrize(
    "inside",
    [
        CONTENTS,
        '<p>See <a href="">this page</a> and <a href="#">its top</a>, <a href="#a b">here</a>, <a href="#é">é</a></p>',
        '<table><tr><th><a href="#x">X</a></th></tr><tr><td>1</td></tr></table>',
    ],
)
def test_a_page_is_the_same_under_two_urls(one: str, other: str, inside: str) -> None:
    """Its Markdown names each URL, as readers need it; its identity does not."""
    first, second = stored(HOST + one, inside), stored(HOST + other, inside)
    assert first.markdown != second.markdown
    assert first.sha256 == second.sha256


def test_a_session_id_that_the_server_writes_into_every_link_is_no_content() -> None:
    def link(number: int) -> str:
        return f'<a href="/p?sid={number}#rest">Rest</a>'

    assert stored(f"{HOST}/p?sid=1", link(1)).sha256 == stored(f"{HOST}/p?sid=2", link(2)).sha256
    assert stored(f"{HOST}/p?sid=1", link(7)).sha256 != stored(f"{HOST}/p?sid=1", link(1)).sha256


def test_a_link_that_names_the_page_is_the_same_under_each_of_its_urls() -> None:
    """As DocBook writes them: `index.html#rest` on `index.html`."""
    link = '<a href="index.html#rest">Rest</a>'
    assert stored(f"{HOST}/", link).sha256 == stored(f"{HOST}/index.html", link).sha256


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('<a href="#top">x</a>', '<a href="#rest">x</a>'),
        ('<a href="#top">x</a>', '<a href="/other#top">x</a>'),
        ('<a href="#top">x</a>', "x"),
    ],
)
def test_links_that_differ_make_pages_that_differ(one: str, other: str) -> None:
    assert stored(f"{HOST}/", one).sha256 != stored(f"{HOST}/", other).sha256


def test_two_sites_never_share_a_text_with_the_links_of_one() -> None:
    assert stored(f"{HOST}/").sha256 != stored("https://mirror.example/").sha256


def test_a_page_with_another_base_has_no_links_to_itself() -> None:
    """There `#top` leads to the base, which is another page."""
    base = '<base href="/app/">'
    pages = [stored(HOST + path, head=base) for path in ("/", "/index.html")]
    assert [f"]({HOST}/app/#top)" in (page.markdown or "") for page in pages] == [True, True]
    assert pages[0].sha256 == pages[1].sha256


def test_links_to_own_sections_stay_absolute_in_the_text() -> None:
    """As before, so that an update embeds nothing again; a page without them keeps its identity, too."""
    page = stored(f"{HOST}/a/b?c=1", '<p><a href="#rest">Rest</a></p>')
    assert f"[Rest]({urljoin(HOST, '/a/b?c=1')}#rest)" in (page.markdown or "")
    plain = stored(f"{HOST}/", "<p>Plain.</p>")
    assert plain.sha256 == content_hash(plain.markdown or "", plain.blocks or (), plain.title)
