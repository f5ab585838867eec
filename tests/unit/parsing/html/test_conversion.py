"""Conversion of trees: the tree of a large page is freed before, and its Markdown is the same."""

import html_to_markdown
import pytest
from html_to_markdown import convert

from sourcebook.parsing.html import conversion
from sourcebook.parsing.html.conversion import convert_tree
from sourcebook.parsing.html.tree import Element, body_of, parse_page


def _body(text: str) -> Element:
    tree = parse_page(f"<body>{text}</body>")
    assert tree is not None
    return body_of(tree)


def test_the_tree_of_a_large_page_is_freed_before_conversion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tree and conversion together would be the peak memory of a crawl."""
    text = "<h2 id=pond>Ponds</h2><p>Ducks swim on the <a href='/pond'>pond</a>.</p>" * 400
    usual = _body(text)
    markdown = convert_tree(usual, base_url="http://example.org/")
    monkeypatch.setattr(conversion, "_LARGE", 1_000)
    freed = _body(text)
    assert convert_tree(freed, base_url="http://example.org/") == markdown
    assert (len(usual), len(freed)) == (800, 0)


def test_the_tree_of_an_empty_shell_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its mount points say that scripts make the text."""
    monkeypatch.setattr(conversion, "_LARGE", 1_000)
    shell = _body(f"<div id=root></div>{'<p><b></b></p>' * 400}Loading")
    convert_tree(shell)
    assert len(shell) == 401


def test_a_large_page_is_converted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The conversion takes 20 times what it is given, so that a page as a whole would be the peak memory of a crawl."""
    page = _body("<h2>Pond</h2><p>Ducks swim on the pond.</p>" * 10_000)
    sizes: list[int] = []

    def measured(html: str, options: html_to_markdown.ConversionOptions) -> html_to_markdown.ConversionResult:
        sizes.append(len(html))
        return convert(html, options)

    monkeypatch.setattr(html_to_markdown, "convert", measured)
    assert convert_tree(page).count("## Pond\n\nDucks") == 10_000
    assert max(sizes) < 110_000
