"""HTML in parts: their Markdown together is that of the whole tree, and no part is much larger than asked."""

import pytest
from html_to_markdown import convert

from sourcebook.parsing.html.parts import html_in_parts, html_of
from sourcebook.parsing.html.tree import Element, body_of, parse_page

_SECTION = """
<section id="s{0}" class="wide"><h2>Pond &lt;{0}&gt;</h2>
 <p>Ducks swim on pond {0}.</p>
 <blockquote><p>Quack.</p></blockquote>
 <section><h3>Reeds</h3> <ul><li>tall</li><li>short</li></ul> <p>End of {0}.</p></section>
</section>
"""


def _body(text: str) -> Element:
    tree = parse_page(f"<body>{text}</body>")
    assert tree is not None
    return body_of(tree)


def _markdown(html: str) -> str:
    return (convert(html).content or "").strip("\n")


def test_the_parts_of_a_page_together_have_its_markdown() -> None:
    """Each is a container with the attributes of the one that it is a part of."""
    page = _body(f"<div title='a &quot;b&quot;'><p>Before.</p>{''.join(map(_SECTION.format, range(40)))}</div>")
    parts = html_in_parts(page, size=600)
    assert len(parts) == 20
    assert max(map(len, parts)) < 800
    assert all(part.startswith("<body><div title=") for part in parts)
    assert "\n\n".join(map(_markdown, parts)) == _markdown(html_of(page))


def test_parts_begin_with_headings() -> None:
    parts = html_in_parts(_body("<h2>Pond</h2><p>Ducks.</p><p>Geese.</p>" * 40), size=200)
    assert all(part.startswith("<body><h2>") for part in parts)


def test_a_list_of_definitions_is_cut_before_its_terms() -> None:
    page = _body(f"<h2>Ponds</h2><dl>{'<dt>Pond</dt><dt>Pool</dt> <dd><p>Ducks.</p></dd>' * 40}</dl>")
    parts = html_in_parts(page, size=300)
    assert all(part.startswith("<body><dl><dt>Pond</dt><dt>Pool</dt>") for part in parts[1:])
    assert "\n\n".join(map(_markdown, parts)) == _markdown(html_of(page))


@pytest.mark.parametrize(
    "text",
    [
        "<p>Ducks swim on the pond.</p>" * 40,
        "Loose <h2>Pond</h2><p>Ducks.</p>" * 40,
        f"<table><tr><td>{'<h2>Pond</h2>' * 40}</td></tr></table>",
    ],
    ids=["no heading", "loose text", "a table"],
)
def test_a_page_that_nothing_cuts_stays_whole(text: str) -> None:
    page = _body(text)
    assert html_in_parts(page, size=200) == [html_of(page)]


def test_a_small_page_stays_whole() -> None:
    page = _body(_SECTION.format(1))
    assert html_in_parts(page) == [html_of(page)]
