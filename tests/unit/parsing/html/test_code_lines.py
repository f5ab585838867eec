"""Code of a page keeps its lines and their indentation, however the page writes lines, and loses their numbers."""

from html import escape

import pytest

from sourcebook.parsing.html.cleaner import clean_page

_CODE = "def lift(load):\n    if load < 4:\n        return hoist(load)\n    return None"
_LINES = [escape(line) for line in _CODE.split("\n")]
_NBSP = [line.replace("    ", "&nbsp;&nbsp;&nbsp;&nbsp;") for line in _LINES]
_GUTTER = "".join(f'<div class="line number{n} index{n} alt2">{n}</div>' for n in range(1, 5))


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        (
            '<table class="highlight"><tbody>',
            '<tr><td class="blob-num" data-line-number="{n}"></td><td class="blob-code js-file-line">{line}</td></tr>',
            "</tbody></table>",
        ),
        (
            "<table><tbody>",
            '<tr><td class="lines-num"><span id="{n}"></span></td><td><code>{line}\n</code></td></tr>',
            "</tbody></table>",
        ),
        (
            f"<div class=syntaxhighlighter><table><tr><td class=gutter>{_GUTTER}</td><td class=code><div>",
            '<div class="line number{n} index{n} alt2"><code class="plain">{nbsp}</code></div>',
            "</div></td></tr></table></div>",
        ),
        ("<pre><code>", '<span style="display: block">{line}</span>', "</code></pre>"),
        ("<pre><code>", '<span class="highlight-line"><span>{line}</span></span>', "</code></pre>"),
        ("<pre>", '<div class="ec-line"><div class="gutter"><div>{n}</div></div><div>{line}</div></div>', "</pre>"),
        ("<pre>", '<span class="line"><span class="ln">{n}</span>{line}\n</span>', "</pre>"),
        ("<div><div>", '<div class="cm-line">{line}</div>', "</div></div>"),
        ("<div>", '<div class="cell"><div class="react-file-line">{line}</div></div>', "</div>"),
        ("<table><tr><td><pre>1\n2\n3\n4\n</pre></td><td><pre>", "{line}\n", "</pre></td></tr></table>"),
        ("<p><code>", "{nbsp}<br>", "</code></p>"),
        ('<code style="white-space: pre">', "{line}\n", "</code>"),
        ('<div style="font-family: monospace; white-space:pre">', "{line}\n", "</div>"),
        ("<div class=highlight><ol class=linenums>", "<li><code>{line}</code></li>", "</ol></div>"),
    ],
)
def test_lines_of_code_are_lines(before: str, line: str, after: str) -> None:
    """Code is one block with its lines, whatever element a line is, and without numbers."""
    lines = (line.format(n=n, line=text, nbsp=_NBSP[n - 1]) for n, text in enumerate(_LINES, start=1))
    markup = f"{before}{''.join(lines)}{after}"
    page = f"<html><body><h1>Crane</h1><p>The code of the crane.</p>{markup}<p>After it.</p></body></html>"

    written = clean_page(page.encode(), content_type="text/html; charset=utf-8", keep="body").markdown

    assert written == f"# Crane\n\nThe code of the crane.\n\n```\n{_CODE}\n```\n\nAfter it.\n"


def test_table_of_numbers_is_no_code() -> None:
    """A table whose first column counts stays a table, and a list of lines of transport one of paragraphs."""
    page = (
        "<body><h1>Lines</h1><table><tr><th>No</th><th>Ship</th></tr><tr><td>1</td><td>Havfrue</td></tr></table>"
        "<p class=byline>By the clerk</p><p class=headline>News</p></body>"
    )

    written = clean_page(page.encode(), keep="body").markdown

    assert "| 1 | Havfrue |" in written
    assert "```" not in written


@pytest.mark.parametrize("style", ["pre-wrap", "pre-line", "break-spaces"])
def test_lines_that_a_style_keeps_are_lines(style: str) -> None:
    """Comments of trackers are written so; a text of several blocks is read by its blocks."""
    kept = f'<div style="white-space:{style}">\nThe <b>pump\nstops</b> at nine.\n\nWho looks?\n</div>'
    blocks = f'<div style="white-space: {style}">\n<p>One\nblock</p>\n<p>another</p></div>'
    other = '<p style="white-space:nowrap">no\nline</p>'
    page = f"<body><h1>Pump</h1><p>Some words.</p>{kept}{blocks}{other}</body>"
    assert clean_page(page.encode()).markdown == (
        "# Pump\n\nSome words.\n\nThe **pump  \nstops** at nine.  \n\nWho looks?\n\nOne block\n\nanother\n\nno line\n"
    )
