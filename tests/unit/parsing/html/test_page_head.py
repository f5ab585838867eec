"""What a page says of itself is read, and what it says wrongly is passed over."""

import json

import pytest

from sourcebook.model.document import JsonValue
from sourcebook.parsing.html.cleaner import CleanedPage, clean_page

URL = "https://site.example/docs/page.html"


def page(head: str = "", body: str = "<p>Text.</p>", html: str = "<html>") -> CleanedPage:
    return clean_page(f"<!doctype html>{html}<head>{head}</head><body>{body}</body></html>".encode(), url=URL)


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title> The\n page </title>", "", "The page"),
        ("<title>Page — Site</title>", "<h1>Page</h1>", "Page"),
        ("<title>Site | Page</title>", "<h1>Page<a href='#p'>¶</a></h1>", "Page"),
        (
            "<title>bisect — Array bisection — Python docs</title>",
            "<h1>bisect — Array bisection</h1>",
            "bisect — Array bisection",
        ),
        ('<title>Page - Site</title><meta property="og:site_name" content="Site">', "", "Page"),
        ('<title>Site: Page</title><meta property="og:site_name" content="Site">', "", "Site: Page"),
        ("<title>Before - After</title>", "<h1>Something else</h1>", "Before - After"),
        ('<meta property="og:title" content="Shared title">', "<h1>Heading</h1>", "Shared title"),
        ("", "<h1>Heading</h1>", "Heading"),
        ("", "<svg><title>Icon</title></svg>", None),
        ("<title></title>", "<p>x</p>", None),
        (f"<title>{'long ' * 1000}</title>", "", ("long " * 1000)[:300]),
    ],
)
def test_title(head: str, body: str, title: str | None) -> None:
    """<title> without the site's name where that is plain, else og:title, else the first heading."""
    assert page(head, body).title == title


@pytest.mark.parametrize(
    ("head", "metadata"),
    [
        (
            '<meta name="Description" content=" What it\n is. "><meta name="author" content="Ada">',
            {"description": "What it is.", "author": "Ada"},
        ),
        (
            '<meta property="article:published_time" content="2026-03-01T07:30:00+01:00">',
            {"published": "2026-03-01T07:30:00+01:00"},
        ),
        ('<meta name="date" content="2026/3/1">', {"published": "2026-03-01"}),
        (
            '<meta http-equiv="last-modified" content="Sun, 01 Mar 2026 07:30:00 GMT">',
            {"modified": "2026-03-01T07:30:00+00:00"},
        ),
        ('<meta name="date" content="someday"><meta name="author" content="https://facebook.example/ada">', {}),
        ('<meta name="description">', {}),
    ],
)
def test_metadata(head: str, metadata: dict[str, JsonValue]) -> None:
    """Description, author and dates are read from <meta>, dates in ISO 8601 or not at all."""
    assert page(head).metadata == metadata


@pytest.mark.parametrize(
    ("data", "metadata"),
    [
        (
            {"datePublished": "2026-03-01", "dateModified": "2026-03-02T10:00:00Z"},
            {"published": "2026-03-01", "modified": "2026-03-02T10:00:00+00:00"},
        ),
        ([{"author": [{"name": "Ada"}, {"name": "Ben"}]}], {"author": "Ada, Ben"}),
        ({"@graph": [{"@type": "WebSite"}, {"author": "Ada \ud800"}, 5]}, {"author": "Ada"}),
        ({"datePublished": 20260301, "author": {"name": ["x"]}, "@graph": "none"}, {}),
    ],
)
def test_linked_data(data: JsonValue, metadata: dict[str, JsonValue]) -> None:
    """JSON-LD is read at the top, in lists and in @graph."""
    assert page(f'<script type="application/ld+json">{json.dumps(data)}</script>').metadata == metadata


@pytest.mark.parametrize("data", ["{", "[" * 100_000, "", "null", '"text"'])
def test_broken_linked_data_is_passed_over(data: str) -> None:
    """What is no JSON-LD, or nested without end, says nothing."""
    assert page(f'<script type="application/ld+json">{data}</script>').metadata == {}


@pytest.mark.parametrize(
    ("body", "metadata"),
    [
        ('<article><time datetime="2026-03-01">1 March</time><p>Text</p></article>', {"published": "2026-03-01"}),
        (
            '<p class="last-updated">Updated <time datetime="2026-03-01T10:00:00Z">now</time></p>',
            {"modified": "2026-03-01T10:00:00+00:00"},
        ),
        ('<p>It begins at <time datetime="2026-03-01">the first</time>.</p>', {}),
        ("<p>Text</p><p>Last updated: 21 Nov 2026</p>", {"modified": "2026-11-21"}),
    ],
)
def test_times(body: str, metadata: dict[str, JsonValue]) -> None:
    """<time datetime> and lines that say when a page was made count; the dates a text speaks of do not."""
    assert page(body=body).metadata == metadata


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<html lang="en-US">', "en"),
        ('<html lang="DE">', "de"),
        ('<html xml:lang="fr">', "fr"),
        ("<html>", None),
        ('<html lang="">', None),
        ('<html lang="english">', None),
        ('<html lang="zh_Hans">', "zh"),
        ('<html lang="1a">', None),
    ],
)
def test_language(html: str, language: str | None) -> None:
    """The primary subtag of <html lang>, where it is a two-letter code."""
    assert page(html=html).language == language


@pytest.mark.parametrize(
    ("content", "noindex", "nofollow"),
    [
        ("noindex", True, False),
        ("unavailable_after: Friday, 25-Jun-10 15:00:00 UTC, nofollow", True, True),
        ("unavailable_after: 2330-06-25T15:00:00Z", False, False),
        ("NOFOLLOW , noarchive", False, True),
        ("none", True, True),
        ("index, follow", False, False),
    ],
)
def test_robots(content: str, *, noindex: bool, nofollow: bool) -> None:
    """Meta robots is understood word by word, whatever its case."""
    cleaned = page(f'<meta name="ROBOTS" content="{content}">')
    assert (cleaned.noindex, cleaned.nofollow) == (noindex, nofollow)


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ('<link rel="canonical" href="/docs/">', "https://site.example/docs/"),
        ('<base href="https://cdn.example/v2/"><link href="x" rel="nofollow CANONICAL">', "https://cdn.example/v2/x"),
        ('<link rel="canonical" href="javascript:x">', None),
        ('<link rel="canonical">', None),
    ],
)
def test_canonical(head: str, canonical: str | None) -> None:
    """The canonical URL is absolute, and of http or https."""
    assert page(head).canonical == canonical


def test_links() -> None:
    """Every http(s) link of the whole page, once and in order, without fragments and without those marked nofollow."""
    cleaned = page(
        "<link rel=next href=/second><link rel='prev stylesheet' href=/style>"
        "<meta http-equiv=refresh content='9;URL=/third'>",
        body="""<nav><a href="/a#top">A</a><a href="?page=2">next</a></nav><a href="/a">again</a>
        <a href="#here">here</a>
        <a href="//other.example/x y">other</a><a href="mailto:a@b.example">mail</a><a href="javascript:go()">go</a>
        <a rel="external nofollow" href="/ad">ad</a><a href="http://[">broken</a><a>none</a><a href="">self</a>
        <map><area href="\n /ar\nea "></map><a href="https://">empty</a><svg><a xlink:href="/fourth">drawn</a></svg>
        <footer><a href="../up">up</a></footer>""",
    )
    assert cleaned.links == (
        "https://site.example/second",
        "https://site.example/third",
        "https://site.example/a",
        "https://site.example/docs/page.html?page=2",
        "https://other.example/x y",
        "https://site.example/docs/page.html",
        "https://site.example/area",
        "https://site.example/fourth",
        "https://site.example/up",
    )


def test_base() -> None:
    """Links are relative to <base href>, in the content too."""
    cleaned = page('<base href="/v2/">', '<p>See <a href="guide">the guide</a>.</p>')
    assert cleaned.links == ("https://site.example/v2/guide",)
    assert cleaned.markdown == "See [the guide](https://site.example/v2/guide).\n"


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/new", "https://site.example/new"),
        ("0;url=new.html#part", "https://site.example/docs/new.html#part"),
        (" 0.9 ; URL = 'a b' ", "https://site.example/docs/a b"),
        ('0,"x', "https://site.example/docs/x"),
        ("00 //other.example/", "https://other.example/"),
        ("0;https://site.example/?url=1", "https://site.example/?url=1"),
        ("0", None),
        ("0; url=", None),
        ("1; url=/new", None),
        ("10;url=/new", None),
        ("-0; url=/new", None),
        ("0; url=javascript:alert(1)", None),
        ("url=/new", None),
    ],
)
def test_a_refresh_of_no_seconds_is_a_redirect(content: str, target: str | None) -> None:
    """As browsers read it; any longer one leaves time to read the page."""
    refresh = f"<meta http-equiv=REFRESH content='{content.replace(chr(39), '&#39;')}'>"
    assert page(refresh).redirect == target
    assert page(f"<noscript>{refresh}</noscript>").redirect is None, "only without scripts"


@pytest.mark.parametrize(
    ("head", "body", "target"),
    [
        ("<noscript>{}</noscript>", "Redirecting to <a href=4.0/>4.0/</a>.", "https://site.example/docs/4.0/"),
        ("{}", "This page has moved. <a href=/docs/4.0/>Go on</a>", "https://site.example/docs/4.0/"),
        ("{}", "This page has moved.", None),
        ("{}", "Moved to <a href=4.0/>4.0</a> or <a href=3.0/>3.0</a>", None),
        ("{}", f"<a href=4.0/>Go on</a> {'and read the history of the pond. ' * 8}", None),
    ],
)
def test_a_page_that_only_leads_to_another_one_is_a_redirect(head: str, body: str, target: str | None) -> None:
    """After a second, or without scripts: versioned documentation has such a page at its root."""
    refresh = "<meta http-equiv=refresh content='1; url=4.0/'>"
    found = clean_page(f"<head>{head.format(refresh)}</head><body>{body}".encode(), url="https://site.example/docs/")
    assert found.redirect == target


def test_a_refresh_is_relative_to_the_base() -> None:
    assert page('<base href="/b/"><meta http-equiv=refresh content="0;url=x">').redirect == "https://site.example/b/x"
