"""Faulty HTML is read as browsers read it, in bounded time and memory, and never loses text."""

import resource
import time

import pytest

from sourcebook.parsing.html.cleaner import clean_page, readable_body
from sourcebook.parsing.html.tree import Element, plain_text


def markdown(body: str) -> str:
    return clean_page(f"<!doctype html><body>{body}</body>".encode(), url="https://site.example/").markdown


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h2>A</h1><div>x</div><h2>B</h2><div>y</div>", "## A\n\nx\n\n## B\n\ny\n"),
        ("<h1>A</h3>x <b>y</b><ul><li>z</ul>", "# A\n\nx **y**\n\n- z\n"),
        ("<h2>A<h3>B</h3><p>x</p>", "## A\n\n### B\n\nx\n"),
        ("<h2>A</h2><p>x</h2><p>y", "## A\n\nx\n\ny\n"),
        ("<h1>A</h1><p><b>x<p>y</b> z</p>", "# A\n\n**x**\n\n**y** z\n"),
        ("<h1>A</h1><p><a href=/x><i><a href=/y>y</a></i></a></p>", "# A\n\n*[y](https://site.example/y)*\n"),
        ("<h1>A</h1><ul><li><div>x</li><li>y</li></ul>z", "# A\n\n- x\n\n- y\n\nz\n"),
        ("<h1>A</h1><table><p>x</p><tr><td>1</td><td>2</td></tr></table>", "# A\n\nx\n\n| 1 | 2 |\n| --- | --- |\n"),
        ("<h1>A</h1><blockquote><p>x</p></p><p>y</p></blockquote>", "# A\n> x\n>\n> y\n"),
    ],
)
def test_faulty_html_is_read_as_browsers_read_it(body: str, expected: str) -> None:
    assert markdown(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "<h2>A</h1><p>x<script/><p>The rest.</p>",
        "<h2>A</h1><p>x<textarea><p>The rest.</p>",
        "<h2>A</h1><p>x<title/><p>The rest.</p>",
        "<h2>A</h1><p>x<iframe src='/a' /><p>The rest.</p>",
    ],
)
def test_what_browsers_would_hide_of_a_faulty_page_is_kept(body: str) -> None:
    """A page whose script, form control or frame never ends is read as far as it can be."""
    long = "The ferry leaves at nine and takes an hour to the island. " * 5
    assert ("The rest." in markdown(body + long)) == ("textarea" not in body)


def test_a_chapter_in_xhtml_is_no_html() -> None:
    """In XML, `<title/>` and `<i/>` are whole elements."""
    chapter = "<html><head><title/></head><body><h2>A</h2><h2>B<h3>C</h3></h2><p><i/>x</p></body></html>"
    bodies: list[Element | None] = [readable_body(f'<?xml version="1.0"?>{chapter}'), readable_body(chapter, xml=True)]
    assert [body is not None and "x" in plain_text(body) for body in bodies] == [True, True]


_N = 10_000
_HOSTILE = {
    "unclosed formatting": "<p>" + "".join(f"<b id={number}>" for number in range(_N // 20)) + "<p>x" * _N,
    "all formatting": f"<p>{'<b><i><u><s><em><tt><big><code><font><small><strong><strike><nobr>' * 3}{'<p>x' * _N}",
    "quoted formatting": "<p>" + "".join(f"<b title='\">{number}'>" for number in range(_N // 20)) + "<p>x" * _N,
    "formatting in comments": f"<p><!-- {'</b>' * _N} -->{'<b x=1><b x=2><b x=3>' * 50}{'<p>x' * _N}",
    "headings": "<h1>a</h2>" * _N,
    "headings in headings": "<h1><h2>" * _N,
    "lists": "<h2>a</h1><ul><li>" * _N,
    "links": "<a href=/x><div>" * _N,
    "tables": "<h2>a</h1><table><b>x" * _N,
    "end tags": "<span>" * 200 + "</b>" * _N,
    "crossed": "<b><p>x</b>" * _N,
}


@pytest.mark.parametrize("kind", _HOSTILE)
def test_hostile_html_ends_soon(kind: str) -> None:
    """In seconds and without much memory: browsers open unclosed formatting again in every paragraph."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    markdown(_HOSTILE[kind])
    assert time.process_time() - begin < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 600_000, "KB"
