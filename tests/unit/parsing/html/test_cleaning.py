"""From bytes to Markdown: the content is whole, its headings lead back to the page, and bad HTML ends well."""

import re
import time
from collections import Counter
from pathlib import Path

import pytest

from sourcebook.parsing.html.cleaner import CLEANER, CleanedPage, clean_page
from tests.checkout import SHARED_DATA

PAGES = Path(__file__).parent / "pages"
DOCUMENTS = SHARED_DATA / "documents"
URL = "https://site.example/docs/page"
FILLER = "<p>The ferry leaves at nine and takes an hour to the island, weather permitting.</p>"


def clean(body: str) -> CleanedPage:
    return clean_page(f"<!doctype html><body>{body}</body>".encode(), url=URL, content_type="text/html; charset=utf-8")


def fixture(name: str) -> CleanedPage:
    return clean_page((PAGES / f"{name}.html").read_bytes(), url=f"https://site.example/{name}.html")


def headings(page: CleanedPage) -> list[tuple[int, str, str | None]]:
    return [(block.level, block.title, block.anchor) for block in page.blocks if block.kind == "heading"]


def assert_sound(page: CleanedPage) -> None:
    """Blocks cover the Markdown in order, only headings have anchors, and no marker is left."""
    reached = 0
    for block in page.blocks:
        assert reached <= block.start < block.end <= len(page.markdown)
        assert not page.markdown[reached : block.start].strip()
        reached = block.end
    assert not page.markdown[reached:].strip()
    assert not re.search("[\ue000-\ue002\x00]", page.markdown + "".join(block.title for block in page.blocks))
    assert all((block.anchor is not None) == (block.kind == "heading") for block in page.blocks)


@pytest.mark.parametrize(
    ("name", "title", "expected"),
    [
        (
            "docusaurus",
            "Install the agent",
            [(1, "Install the agent", ""), (2, "Steps", "steps"), (3, "The header of a request", "the-header")],
        ),
        ("mkdocs_material", "Scheduling", [(1, "Scheduling", "scheduling"), (2, "Cron expressions", "cron")]),
        ("wordpress", "Brot ohne Hefe", [(1, "Brot ohne Hefe", "post-42"), (2, "Zutaten", ""), (2, "Zubereitung", "")]),
        (
            "github_readme",
            "tarn/otter: Fast otters for everyone",
            [(1, "Otter", "user-content-otter"), (2, "Usage", "user-content-usage")],
        ),
        (
            "bare_1990s",
            "Uncle Bob's Radio Page",
            [
                (1, "Uncle Bob's Radio Page", ""),
                (2, "Introduction", "intro"),
                (2, "Tubes", "tubes"),
                (3, "Voltages", ""),
            ],
        ),
        (
            "news_with_banner",
            "Harbour bridge reopens after two years",
            [(1, "Harbour bridge reopens after two years", ""), (2, "What it cost", "")],
        ),
    ],
)
def test_pages_of_many_makers(name: str, title: str, expected: list[tuple[int, str, str]]) -> None:
    """Title, headings and anchors are those of the content, for what the common generators write."""
    page = fixture(name)
    assert page.title == title
    assert headings(page) == expected
    assert not page.needs_scripts
    assert_sound(page)


@pytest.mark.parametrize(
    ("name", "kept", "gone"),
    [
        (
            "docusaurus",
            [
                "```bash\ncurl -fsSL https://get.harbour.example | sh\nharbour login\n```",
                "**tip**",
                "[API](https://site.example/reference/api#tokens)",
                "enable the repository",
                "| `X-Token` | who asks |",
            ],
            ["Skip to", "Blog", "Guides", "On this page", "Copy", "Edit", "Last updated", "Introduction", "©"],
        ),
        (
            "mkdocs_material",
            [
                '```\nevery: "0 6 * * *"\nzone: UTC\n```',
                "**Warning**",
                "Because the tide",
                "**tide**\n\nThe moment a job",
            ],
            ["Search", "¶", "Table of contents", "Last update", "helpful", "Next", "Material"],
        ),
        (
            "wordpress",
            ["500 g Mehl", "  - oder Backpulver", "200 °C", "> Brot ist Geduld.", "aufgeschnittener Laib"],
            ["Menü", "Zum Inhalt", "Teilen", "Twitter", "Kategorien", "Lecker", "Apfelkuchen", "©", "Veröffentlicht"],
        ),
        (
            "github_readme",
            ["```python\nimport otter\notter.swim(", "[Build status](https://ci.example/otter)", "**Note**"],
            ["Speed up", "Issues", "About", "Features", "Copy", "©"],
        ),
        (
            "bare_1990s",
            ["| 1 | 250 |", "  plate ---/\\/\\/--- B+", "£4 & is", "Bring a - screwdriver # and a meter."],
            ["Last updated", "Copyright"],
        ),
        (
            "news_with_banner",
            ["48 million", "By Ada Quill", "built in 1931", "two years after a barge"],
            ["partners", "cookies", "Tweet", "get one free", "Barge captain", "Sign up", "minutes ago", "©"],
        ),
    ],
)
def test_content_is_whole_and_alone(name: str, kept: list[str], gone: list[str]) -> None:
    """What the author wrote is there; navigation, banners, buttons, dates and footers are not."""
    markdown = fixture(name).markdown
    assert [text for text in kept if text not in markdown] == []
    assert [text for text in gone if text in markdown] == []


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('<pre><code class="language-js">a\n\n  b</code></pre>', "```js\na\n\n  b\n```\n"),
        (
            '<div class="highlight-python3 notranslate"><div class="highlight"><pre><b>x</b> = 1\n</pre></div></div>',
            "```python3\nx = 1\n```\n",
        ),
        ('<pre class="brush: sql; gutter: false">SELECT 1</pre>', "```sql\nSELECT 1\n```\n"),
        ('<pre class="sourceCode haskell">f</pre>', "```haskell\nf\n```\n"),
        ("<pre>a<br>b</pre>", "```\na\nb\n```\n"),
        ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````\n"),
        ("<pre>&lt;b&gt; # no heading</pre>", "```\n<b> # no heading\n```\n"),
        ("<ul><li>a<pre>x\n\ny</pre></li></ul>", "- a\n\n  ```\n  x\n\n  y\n  ```\n"),
        ("<table><tr><th>A<th>B|C<tr><td>1<td><p>x</p><p>y</p></table>", "| A | B\\|C |\n| --- | --- |\n| 1 | x y |\n"),
        ('<table role="presentation"><tr><td>one<td>two</table>', "one\n\ntwo\n"),
        ("<table><tr><td><p>one</p><p>two</p></table>", "one\n\ntwo\n"),
        ("<dl><dt>term<dd>what it is</dl>", "**term**\n\nwhat it is\n"),
        ('<dl><dt class="sig">f(<em>a</em>)<dd>calls</dl>', "`f(a)`\n\ncalls\n"),
        (
            '<p>see <img src=a.png alt="a red door"> and <img src=b.png alt="b.png"><img src=c.png></p>',
            "see a red door and\n",
        ),
        ('<p><a href="javascript:x()">go</a> <a href="y z">to</a></p>', "go [to](https://site.example/docs/y%20z)\n"),
        ("<p>one\n# two\n- three\n1. four</p>", "one # two - three 1. four\n"),
        ("<p>&lt;script&gt; starts</p><h2>T</h2>", "\\<script> starts\n\n## T\n"),
        ("<p>so\u00adft&nbsp;and\u200bzero</p>", "soft andzero\n"),
        (
            '<p><math><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></math></p>',
            "$x^2$\n",
        ),
    ],
)
def test_markdown(html: str, markdown: str) -> None:
    """Code keeps its lines and its language, tables stay tables, and no text turns into structure."""
    page = clean(html)
    assert page.markdown == markdown
    assert_sound(page)


def test_what_does_not_matter_changes_nothing() -> None:
    """A new nonce, script, comment, date line, style or order of attributes gives the same page."""
    first = clean(f'<!-- 1 --><script nonce="a">1</script><h2 id="x" class="y">T</h2>{FILLER}<p>Updated 1 May 2026</p>')
    second = clean(
        f'<style>p{{}}</style><h2 class="y" id="x">T<!-- 2 --></h2>{FILLER}<p>Updated 2 May 2026</p>'
        '<script nonce="b">2</script>'
    )
    assert (first.markdown, first.blocks, first.title) == (second.markdown, second.blocks, second.title)
    body = (PAGES / "docusaurus.html").read_bytes()
    changed = (
        body.replace(b"r4nd0m", b"0th3r").replace(b"Nov 20, 2026", b"Nov 21, 2026").replace(b"main.2f1c", b"main.77aa")
    )
    assert clean_page(body, url=URL) == clean_page(changed, url=URL)
    assert clean_page(body, url=URL) == clean_page(body, url=URL)


def test_the_heading_outside_the_content_is_kept() -> None:
    """The page's H1 above its content comes with it, the site's name does not."""
    body = "<header><h1 id=top>{}</h1></header><div id=content>{}</div><script></script>"
    head = b"<title>Island - Ferries</title>"
    page = clean_page(head + body.format("Island", FILLER * 3).encode(), url=URL)
    assert headings(page) == [(1, "Island", "top")]
    assert headings(clean_page(head + body.format("Ferries", FILLER * 3).encode(), url=URL)) == []


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("<a href=../index.html>Ferries</a>", "Island", ["Island"]),
        ("<a href=/island>Island</a>", "Ferries", ["Island", "Ferries"]),  # a post whose title is a link to itself
        ("<a href=../index.html>Ferries</a> of 2026", "Island", ["Ferries of 2026", "Island"]),
        ("Ferries", "Island", ["Ferries", "Island"]),
        ("<a href=../index.html>Ferries</a>", "", ["Ferries"]),
    ],
)
def test_the_site_s_name_above_the_page_s_own_heading_is_left_out(first: str, second: str, expected: list[str]) -> None:
    """As in Django's documentation; a link or a name alone is no proof."""
    title = "<title>Island - Ferries</title>"
    page = clean(f"{title}<div><h1>{first}</h1><ul></ul><h1 id=own>{second}</h1>{FILLER}</div>")
    assert [text for _, text, _ in headings(page)] == expected


def test_xhtml_in_another_encoding() -> None:
    """An XML declaration names the encoding, and elements that close themselves are closed."""
    source = (
        '<?xml version="1.0" encoding="iso-8859-2"?><html xmlns="http://www.w3.org/1999/xhtml"><body>'
        '<a id="x"/><h2>Łódź</h2><div/><script src="s"/><p>po</p></body></html>'
    )
    page = clean_page(source.encode("iso-8859-2"), url=URL, content_type="application/xhtml+xml")
    assert headings(page) == [(2, "Łódź", "x")]
    assert page.markdown.endswith("po\n")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<div>" * 50_000 + "deep", "deep"),
        ("<ul><li>" * 20_000 + "deep", "deep"),
        ("<p>" + "<font size=2>" * 5_000 + "deep", "deep"),
        ("<blockquote>" * 300 + "deep" + "</blockquote>" * 300 + "<h2>after</h2>", "## after"),
        ("<table><tr><td>" * 2_000 + "deep", "deep"),
        ("<dl><dt>x" * 3_000 + "deep", "deep"),
        ("<p " + " ".join(f"a{n}=1" for n in range(60_000)) + ">deep", "deep"),
        ("<h2>a</h2>" * 3_000 + "deep", "deep"),
        ("<a href=/x></a>" * 20_000 + "<h2>b</h2>" * 1_000 + "deep", "deep"),
        ("<p>one<p>two <b>three</p></div></body><p>four <i>", "four"),
        ("<article>" * 1_500 + "deep", "deep"),
        ("<nav>" * 2_000 + "deep", "deep"),
        ("<" * 50_000 + " deep", "deep"),
        (f"<table><tr><td colspan=1000 rowspan=9>{'<b>x</b>' * 50_000}</td></tr>{'<tr><td>deep' * 9}</table>", "deep"),
        ("\0<p>de\0ep\x01 \x1b</p>&#0;&#1;&#xD800;", "deep"),
        ("<html><frameset><noframes>deep</noframes></frameset>", "deep"),
        ("deep", "deep"),
        ("<title>T</title><header>x</header><main><p>deep</main>", "deep"),
        ("<body>x</body></html>deep", "deep"),
        ("<body>x</body><body>deep", "deep"),
    ],
)
def test_bad_html_ends_well(html: str, text: str) -> None:
    """Broken and endless nesting, stray bytes and thousands of attributes lose no text and take no minutes."""
    started = time.process_time()
    page = clean_page(html.encode(), url=URL)
    assert time.process_time() - started < 10
    assert text in page.markdown
    assert_sound(page)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("<tr><form><td>one</td><td>two</td></form></tr>", "| one | two |"),
        ("<tr><p>one</p></tr>", "one"),
        ("<tr>one</tr>", "one"),
    ],
)
def test_a_row_of_any_form_keeps_its_text(row: str, expected: str) -> None:
    """A form around the cells of a row, or text outside of cells, is not taken for an empty row."""
    html = f"<table>{row}<tr><td>three</td><td>four</td></tr></table>"
    page = clean_page(html.encode(), url=URL, keep="everything")
    assert expected in page.markdown
    assert "| three | four |" in page.markdown


@pytest.mark.parametrize("text", ["January 1, 2020", "Last updated: 2020-01-01"])
def test_a_page_of_a_date_alone_is_not_empty(text: str) -> None:
    """A line that holds only a date leaves the text, except where no other text is left."""
    assert clean_page(f"<p>{text}</p>".encode(), url=URL).markdown == f"{text}\n"


@pytest.mark.parametrize("body", [b"", b" \n", b"\0", b"<!doctype html>", b"<!-- only -->", b"<title></title>"])
def test_nothing_is_an_empty_page(body: bytes) -> None:
    """Where there is nothing to read the Markdown is empty."""
    page = clean_page(body, url=URL)
    assert (page.markdown, page.blocks, page.title, page.links) == ("", (), None, ())


@pytest.mark.parametrize(
    "body", [bytes(range(256)) * 8, b"\xff\xfe<p", b"%PDF-1.7\n\x80\x81", b"\x89PNG\r\n\x1a\n\0\0"]
)
def test_what_is_no_html_does_not_fail(body: bytes) -> None:
    """Bytes of any kind come out as some text that can be stored."""
    assert_sound(clean_page(body, url=URL))


def test_the_cleaner_has_a_name() -> None:
    """The identity names the version of the converter, with which the result may change."""
    assert re.fullmatch(r"cleaner/\d+\+html-to-markdown-[\d.]+", CLEANER)


@pytest.mark.skipif(not DOCUMENTS.is_dir(), reason=f"the shared data is not at {DOCUMENTS}")
def test_a_real_encyclopedia_article() -> None:
    """The article is there with its headings and their ids; the site's menus are not."""
    page = clean_page((DOCUMENTS / "html" / "wiki_duck.html").read_bytes(), url="https://en.wikipedia.org/wiki/Duck")
    assert headings(page)[:3] == [
        (1, "Duck", "firstHeading"),
        (2, "Etymology", "Etymology"),
        (2, "Taxonomy", "Taxonomy"),
    ]
    assert (page.title, page.language, page.canonical) == ("Duck", "en", "https://en.wikipedia.org/wiki/Duck")
    expected = (DOCUMENTS / "html" / "wiki_duck.expected.md").read_text(encoding="utf-8")
    prose = [line for line in expected.splitlines() if len(line) > 200 and not line.startswith(("-", "|", "["))]
    wanted = Counter(re.findall(r"\w+", re.sub(r"\]\(\S+\)", "]", " ".join(prose))))
    found = Counter(re.findall(r"\w+", page.markdown))
    assert wanted.total() > 1000
    assert (wanted & found).total() / wanted.total() > 0.97
    assert not any(text in page.markdown for text in ("Donate", "Create account", "move to sidebar", "Privacy policy"))
    assert_sound(page)


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("The method __add__", "The method __add__"),
        ("<code>__add__</code> and *args", "__add__ and *args"),
        ("get_value<div>since_2</div>", "get_value since_2"),
        ("A &lt;b&gt; tag [here]", "A <b> tag [here]"),
        ("One<br>two", "One two"),
        ('<a href="/x">The <em>linked</em> one</a>', "The linked one"),
    ],
)
def test_a_title_of_a_section_is_what_its_heading_says(heading: str, title: str) -> None:
    """Signs of Markdown in it are text of the page."""
    page = clean_page(f"<h2>{heading}</h2><p>Text.</p>".encode(), url=URL)
    assert [block.title for block in page.blocks if block.kind == "heading"] == [title]
