import pytest

from benchmarks.corpora.reference_page import Selector, letters, read_page, words

PAGE = b"""<!DOCTYPE html><html><head><title>Head</title></head><body>
<div class="menu"><div><a href="/">Home</a></div> Menu</div>
<div class="wide body" id="main">
<h1 id="top">Join<code>ed</code> words</h1><p>One<br>two &amp; three</p>
<div><h2>Without an id</h2>text</div>
<section id="part"><a name="old"></a><h2>Part</h2><script>var x = "<p>script</p>";</script><p>body</p></section>
<h3><span id="deep">Deep</span></h1><button>Hide</button>
<div class="menu">More menu</div>
</div>
<footer>Foot</footer></body></html>"""


def test_the_text_is_that_inside_the_container_alone() -> None:
    """Elements within the text join words, blocks part them; scripts, buttons and what is left out are no text."""
    page = read_page(PAGE, inside="div.body", without=("div.menu",))
    assert " ".join(words(page.text)) == "joined words one two three without an id text part body deep"
    assert "Menu" in read_page(PAGE, inside="body").text
    assert read_page(PAGE, inside="div#main").text == read_page(PAGE, inside="div.wide").text
    assert read_page(PAGE, inside="main").text == ""


def test_a_section_reaches_to_the_next_heading_with_an_id() -> None:
    """Headings get their ids from the element around them, from an anchor before them or within; some have none."""
    page = read_page(PAGE, inside="div.body", without=("div.menu",))
    part, deep = (page.letters.index(name) for name in ("partbody", "deep"))
    assert page.anchored == (0, part, deep)
    assert page.section("top") == page.section(None) == (0, part)
    assert page.section("part") == page.section("old") == (part, deep)
    assert page.section("deep") == (deep, len(page.letters) + 1)
    assert page.section("main") == (0, part)
    assert page.section("nowhere") is None


def test_an_id_outside_the_container_is_none_of_its_places() -> None:
    """A link to the menu leads to no passage."""
    assert read_page(b'<div id="menu">m</div><main id="here">x</main>', inside="main").ids == {"here": 0}


def test_an_id_of_a_menu_is_none_of_the_heading_after_it() -> None:
    """The last entry of a menu may be without text, so that it is where the first heading begins."""
    menu = b"<body>Top<div class=menu>Home<input id=search></div><h1>Title</h1><h2 id=part>Part</h2></body>"
    plain, marginal = read_page(menu, inside="body"), read_page(menu, inside="body", marginal=("div.menu",))
    assert (plain.anchored, marginal.anchored) == ((7, 12), (12,))
    assert plain.text == marginal.text
    assert marginal.section("search") is None
    assert (plain.section(None), plain.section("search")) == ((0, 12), (7, 12))


def test_the_title_of_a_note_begins_no_section() -> None:
    """What follows a note belongs to the section around it, wherever there is an id before the note's title."""
    content = b"<body><h2 id=a>A</h2>x<div class=note><a id=term></a><h3>Note</h3>n</div>y<h2 id=b>B</h2></body>"
    assert read_page(content, inside="body").section("a") == (0, 2)
    assert read_page(content, inside="body", notes=("div.note",)).section("a") == (0, 8)


def test_text_after_the_body_is_text_of_it() -> None:
    """Browsers add it to the body."""
    assert words(read_page(b"<html><body>in</body></html><p>after</p>", inside="body").text) == ["in", "after"]


def test_an_anchor_is_written_as_in_a_url() -> None:
    """An id with a space is found by its fragment."""
    page = read_page(b"<body>ab<h2 id='two words'>T</h2></body>", inside="body")
    assert page.section("two%20words") == page.section("two words") == (2, 4)


def test_places_count_letters_and_digits() -> None:
    """White space, punctuation and case differ between a page and its Markdown; places do not."""
    assert letters("A–b_1 İ.\n") == "ab1i"
    page = read_page("<p>Ä, b!</p><p id=x>c".encode(), inside="p")
    assert (page.letters, page.ids) == ("äbc", {"x": 2})


def test_words_hold_no_invisible_letters() -> None:
    """A soft hyphen or a zero-width space in a page does not make two words of one."""
    assert words("Soft\u00adhyphen, zero\u200bwidth under_score") == ["softhyphen", "zerowidth", "under_score"]


def test_a_selector_that_is_none_is_refused() -> None:
    """A typo would select nothing, and every page would have full recall."""
    with pytest.raises(ValueError, match="no selector"):
        Selector.of("div.body p")


def test_letters_before_items_are_text_that_a_crawl_may_leave_out() -> None:
    """A browser shows them, and Markdown can hold them; numbers are marks of Markdown, too, and no text."""
    lists = b"<main><ol type=a><li>one<ul><li>dot</ul><li>two</ol><ol class='lowerroman'><li>x<li>y</ol><ol><li>n</ol>"
    page = read_page(lists, inside="main")
    assert words(page.text) == ["a", "one", "dot", "b", "two", "i", "x", "ii", "y", "n"]
    assert words(page.optional) == ["a", "b", "i", "ii"]
