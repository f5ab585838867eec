"""What is there for the site goes, what is there for the reader stays."""

import pytest

from sourcebook.config.html_part import HtmlPart
from sourcebook.parsing.html.boilerplate import main_content
from sourcebook.parsing.html.cleaner import clean_page
from sourcebook.parsing.html.names import meaning_of_names
from sourcebook.parsing.html.tree import parse_page

PROSE = "<p>The ferry leaves at nine and takes an hour to the island, weather permitting.</p>"


def cleaned(body: str) -> str:
    return clean_page(f"<!doctype html><body>{body}</body>".encode(), url="https://site.example/").markdown


def body_of(body: str, part: HtmlPart) -> str:
    return clean_page(f"<!doctype html><body>{body}</body>".encode(), keep=part).markdown


def root_of(body: str) -> dict[str, str]:
    tree = parse_page(f"<body>{body}</body>")
    assert tree is not None
    return dict(main_content(next(tree.iter("body"))).items())


@pytest.mark.parametrize(
    "extra",
    [
        "<nav>EXTRA</nav>",
        "<script>EXTRA</script><style>EXTRA</style><template>EXTRA</template><noscript>EXTRA</noscript>",
        "<header>EXTRA</header>",
        "<footer>EXTRA</footer>",
        '<div role="navigation">EXTRA</div>',
        '<div role="contentinfo">EXTRA</div>',
        '<form role="search"><label>EXTRA</label><input></form>',
        "<p hidden>EXTRA</p>",
        '<p style="color: red; display:none">EXTRA</p>',
        '<span aria-hidden="true">EXTRA</span>',
        "<dialog>EXTRA</dialog><select><option>EXTRA</option></select><button>EXTRA</button>",
        '<svg><title>EXTRA</title></svg><iframe src="/x">EXTRA</iframe>',
        '<div id="cookie-banner"><p>EXTRA</p></div>',
        '<div class="cookieConsent"><p>EXTRA</p></div>',
        '<ul class="breadcrumb"><li>EXTRA</li></ul>',
        '<div class="post_pagination pagination"><a href="/2">EXTRA</a></div>',
        '<a class="skip-link" href="#x">EXTRA</a>',
        '<a href="https://github.com/x">Edit this page</a>',
        '<a href="#main">Skip to main content</a>',
        '<a href="#r1" role="doc-backlink">EXTRA</a>',
        '<div class="md-sidebar--secondary">EXTRA</div>',
        '<div class="theme-doc-toc-desktop"><a href="#a">EXTRA</a></div>',
        '<aside><a href="/a">EXTRA one</a> <a href="/b">EXTRA two</a></aside>',
        '<table class="navbox"><tr><td>EXTRA</td></tr></table>',
        '<div id="header"><h2>EXTRA</h2><h3>EXTRA</h3><div><a href="/a">EXTRA</a></div></div>',
        '<div id="s-sidebar"><div class="sidebar"><h2>EXTRA</h2><p>EXTRA</p></div></div>',
    ],
)
def test_goes(extra: str) -> None:
    """Navigation, forms, hidden things and banners leave the prose alone on the page."""
    assert cleaned(extra + PROSE * 3 + extra) == cleaned(PROSE * 3)


@pytest.mark.parametrize(
    "kept",
    [
        '<h2 class="section-header">KEPT</h2>',
        '<div class="navy"><p>KEPT</p></div>',
        '<div class="has-sidebar"><p>KEPT</p></div>',
        '<div class="toctree-wrapper"><ul><li>KEPT</li></ul></div>',
        "<article><header><h1>KEPT</h1></header></article>",
        "<article><footer><p>KEPT</p></footer></article>",
        "<blockquote>Know thyself.<footer>KEPT</footer></blockquote>",
        "<aside><p>KEPT is a note of the author's own.</p></aside>",
        '<aside class="sidebar"><p class="sidebar-title">Aside</p><p>KEPT</p></aside>',
        '<section id="pagination"><h2>Pagination</h2><p>KEPT</p></section>',
        '<div class="section" id="breadcrumbs"><h2>Breadcrumbs</h2><p>KEPT</p></div>',
        '<div class="section" id="s-a-paginator-in-a-view"><h2>A <b>Paginator</b> in a view¶</h2><p>KEPT</p></div>',
        '<div class="section" id="s-paginator-page-range"><h2>Paginator.page_range</h2><p>KEPT</p></div>',
        '<div id="header"><h1>ferry(1)</h1><h2>NAME</h2><div class="sectionbody"><p>ferry - KEPT</p></div></div>',
        '<aside class="footnote-list"><aside role="note"><a href="#i">1</a><p><a href="/">KEPT</a></p></aside></aside>',
        '<h2><a class="toc-backref" href="#id1">KEPT</a></h2>',
        "<h3><button>KEPT</button></h3>",
        '<div role="tabpanel" hidden><p>KEPT</p></div>',
        '<p hidden="until-found">KEPT</p>',
        "<details><summary>More</summary>KEPT</details>",
        "<form><h2>KEPT</h2><p>A whole page can be a form.</p><input></form>",
    ],
)
def test_stays(kept: str) -> None:
    """Names are compared word by word, and content that only looks like navigation is content."""
    assert "KEPT" in cleaned(kept + PROSE * 3)


@pytest.mark.parametrize("name", ['class="sidebar"', 'id="cookie-banner"', 'aria-hidden="true"', 'role="dialog"'])
def test_a_rule_that_takes_the_page_away_is_doubted(name: str) -> None:
    """What holds most of the prose is the content, whatever it is called."""
    assert "ferry" in cleaned(f"<div {name}>{PROSE * 3}</div><p>Short.</p>")


def test_a_page_of_contents_keeps_them() -> None:
    """A table of contents goes beside a text, and is the content where there is hardly anything else."""
    contents = (
        '<div class="toc"><ul>' + "".join(f'<li><a href="/{n}">Chapter {n}</a></li>' for n in range(20)) + "</ul></div>"
    )
    assert "Chapter 7" in cleaned(f"<h1>The book</h1>{contents}")
    assert "Chapter 7" not in cleaned(f"<h1>The book</h1>{contents}{PROSE * 10}")


def test_a_page_of_navigation_is_still_a_page() -> None:
    """Where nothing would be left, everything readable is kept."""
    assert cleaned('<nav><a href="/a">Alpha</a></nav>') == "[Alpha](https://site.example/a)\n"


@pytest.mark.parametrize(
    "around", ["{}", "<header><a href=/>Ferries</a></header>{}<footer>Imprint</footer>", "<main>{}</main>"]
)
def test_a_page_of_navigation_below_its_title_keeps_it(around: str) -> None:
    """Where nothing but the title would be left, the body is kept, still without the site's menu and footer."""
    listed = "<h1>Site map</h1><nav><ul><li><a href=/a>Alpha</a></li><li><a href=/b>Beta</a></li></ul></nav>"
    links = "- [Alpha](https://site.example/a)\n- [Beta](https://site.example/b)\n"
    assert cleaned(around.format(listed)) == f"# Site map\n\n{links}"


def test_a_title_below_navigation_comes_with_it() -> None:
    """A page that is its menu, title and footer is kept whole; a page of one title alone stays that."""
    frame = "<nav><a href='/a'>Alpha</a></nav>{}<footer>Imprint</footer>"
    assert cleaned(frame.format("<h1>Site map</h1>")).splitlines()[::2] == [
        "[Alpha](https://site.example/a)",
        "# Site map",
        "Imprint",
    ]
    assert cleaned("<h1>Site map</h1>") == "# Site map\n"
    assert cleaned(frame.format("<h1>Hours</h1><p>Closed.</p>")) == "# Hours\n\nClosed.\n"


LICENCE = "The harbour office is a corporation that makes no profit. Its pages are under the licence of the harbour."


@pytest.mark.parametrize(
    "footer",
    [
        "<footer>{}</footer>",
        "<div class='footer'>{}<br><a href=/licence>More</a></div>",
        "<div id='footer'><p>{}</p></div>",
        "<div role='contentinfo'><p>{}</p><div class='site-footer'>{}</div></div>",
    ],
)
@pytest.mark.parametrize("container", ["<main>{}</main>", "<div role='main'>{}</div>"])
def test_a_long_footer_does_not_outweigh_an_index_of_links(container: str, footer: str) -> None:
    """The main part of an index has hardly a word outside links, and is the page all the same."""
    index = "<h1>Index</h1><p><a href='#a'>A</a> | <a href='#b'>B</a></p>"
    text = "# Index\n\n[A](https://site.example/#a) | [B](https://site.example/#b)\n"
    assert cleaned(container.format(index) + footer.replace("{}", LICENCE)) == text


@pytest.mark.parametrize("where", ["<footer><h2>Ferries</h2>{}</footer>", "<div class='aside'>{}</div>"])
def test_an_empty_main_part_beside_the_text_is_not_the_page(where: str) -> None:
    """Only a footer without a heading weighs nothing."""
    assert LICENCE in cleaned("<main><p>None.</p></main>" + where.format(LICENCE * 3))


@pytest.mark.parametrize("part", ["body", "everything"])
def test_the_frame_of_a_site_is_what_stands_above_and_below(part: HtmlPart) -> None:
    """Menus above the first heading and footers are no body; what holds a heading or most of the text is."""
    frame = "<header><a href=/>Ferries</a></header>", "<footer>Imprint</footer>"
    kept = (
        f"<p>Intro.</p><nav><h2>Contents</h2><a href=/a>Alpha</a></nav>{PROSE}<article>{PROSE}<footer>Note</footer>"
        "</article><nav><a href=/b>Beta</a></nav><footer><h2>Contact</h2>Quay 1</footer>"
    )
    assert body_of(frame[0] + kept + frame[1], "body") == body_of(kept, "everything")
    assert body_of(f"<header>{PROSE * 3}</header><h1>Title</h1>Text", part).startswith("The ferry")
    assert body_of("<nav><a href=/a>Alpha</a></nav><p>Text</p>", part).startswith("[Alpha]")


@pytest.mark.parametrize(
    ("body", "attribute", "value"),
    [
        (f"<p>menu</p><main id=m>{PROSE}</main>", "id", "m"),
        (f"<div role=main id=m>{PROSE}</div>", "id", "m"),
        (f"<main></main><div id=x>{PROSE}</div>", "id", None),
        (f"<main hidden>{PROSE}</main><main id=shown>{PROSE}</main>", "id", "shown"),
        (f"<ul><li>menu</ul><article id=a>{PROSE}</article>", "id", "a"),
        (f"<article>{PROSE}</article><article>{PROSE}</article><article>{PROSE}</article>", "id", None),
        (
            f"<main><a href=x>{'link ' * 50}</a><div class='x markdown-body'>{PROSE}</div></main>",
            "class",
            "x markdown-body",
        ),
        (f"<div id=content>{PROSE}</div><div>a menu</div>", "id", "content"),
        (f"<div class=markdown-body>{PROSE}</div><div class=markdown-body>{PROSE}</div>", "class", None),
    ],
)
def test_the_main_content_is_found(body: str, attribute: str, value: str | None) -> None:
    """<main>, the one <article> and well-known containers are taken where they hold the text, else <body>."""
    assert root_of(body).get(attribute) == value


@pytest.mark.parametrize(
    ("names", "what"),
    [
        ("cookieBanner_x7Yz", "boilerplate"),
        ("md-sidebar md-sidebar--primary", "boilerplate"),
        ("nav", "boilerplate"),
        ("no-sidebar", None),
        ("navy", None),
        ("canvas", None),
        ("shareholder", None),
        ("header", "page header"),
        ("card-header", None),
        ("tocCollapsible_ETCw", "contents"),
        ("stock", None),
        ("admonition-title", "label"),
        ("", None),
    ],
)
def test_names(names: str, what: str | None) -> None:
    """Words are told apart by hyphens, underscores and capitals."""
    assert meaning_of_names(names) == what


def test_headers_of_sections_are_content() -> None:
    """Bootstrap's class for the header of a section, of which a page has several, is no header of the page."""
    sections = "".join(
        f'<div class="page-header"><h2 id="s{n}">Chapter {n}</h2></div>{PROSE}<p>End of {n}.</p>' for n in (1, 2, 3)
    )
    found = cleaned(sections)
    assert [line for line in found.splitlines() if line.startswith("#")] == [f"## Chapter {n}" for n in (1, 2, 3)]
    assert "Menu" not in cleaned(f'<div class="page-header"><a href="/">Menu</a></div>{PROSE * 3}')
