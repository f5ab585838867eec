"""Pages that scripts fill are told apart from pages with little text."""

import pytest

from sourcebook.parsing.html.cleaner import CleanedPage, clean_page

FILLER = "<p>The ferry leaves at nine and takes an hour to the island, weather permitting.</p>"


def clean(body: str) -> CleanedPage:
    return clean_page(f"<!doctype html><body>{body}</body>".encode(), url="https://site.example/docs/page")


@pytest.mark.parametrize(
    "body",
    [
        "<div id=root></div><script src=/a.js></script>",
        "<noscript>You need to enable JavaScript to run this app.</noscript><app-root></app-root><script>go()</script>",
        "<div id=app>Loading…</div><script src=/a.js></script>",
        "<header><a href=/>Shop</a></header><main></main><footer>© 2026 Shop</footer><script src=/a.js></script>",
        "<p>Please enable JavaScript to continue.</p><script src=/a.js></script>",
    ],
)
def test_an_empty_application_needs_scripts(body: str) -> None:
    """Where there is no text yet but scripts that may make some, that is said."""
    assert clean(body).needs_scripts


@pytest.mark.parametrize(
    "body",
    [
        "<p>Closed today.</p><script src=https://stats.example/a.js></script>",
        "<p>OK</p><noscript><img src=pixel.gif></noscript><script>track()</script>",
        f"<div id=root>{FILLER}</div><script src=/a.js></script>",
        f"{FILLER * 4}<div id=app></div><script src=/widget.js></script>",
        "<div id=root></div>",
        '<script type="application/ld+json">{}</script>',
        "",
    ],
)
def test_a_small_page_does_not(body: str) -> None:
    """A page with text is a page, however small; without scripts there is nothing to wait for."""
    assert not clean(body).needs_scripts
