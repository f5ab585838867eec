"""Citations of a passage, and what a page says in words."""

from datetime import UTC, datetime

import pytest

from sourcebook.contract.search_results import SearchResult
from sourcebook.server.page.citing import citations_of
from sourcebook.server.page.found_on_page import relevance_words
from sourcebook.server.page.rendering import moment

SERVER = "https://kb.example/"


def hit(title: str, **metadata: object) -> SearchResult:
    return SearchResult(
        7,
        "c",
        "file:///a%20b.md",
        title,
        (),
        None,
        3,
        None,
        None,
        2,
        "x",
        1.0,
        1,
        1,
        1,
        metadata=metadata,
        start_char=40,
    )


def test_a_link_leads_to_the_source_on_the_web_and_else_to_the_passage_on_this_server() -> None:
    own = citations_of(hit("Power"), ["page 3"], None, SERVER)
    assert own["Link"] == "https://kb.example/cited?document=7&at=40"
    assert own["Text"] == "“Power”, page 3, /a b.md"
    assert own["Markdown"] == "[Power](https://kb.example/cited?document=7&at=40), page 3"
    web = citations_of(hit("Power"), ["page 3"], "https://a.example/b#page=3", SERVER)
    assert (web["Link"], web["Text"]) == ("https://a.example/b#page=3", "“Power”, page 3, https://a.example/b#page=3")


def test_signs_of_markdown_and_bibtex_in_titles_are_texts() -> None:
    """A title can neither end a field nor become a link, a picture or an element."""
    made = citations_of(hit("a](javascript:x) ![b](c) <i> \\ {d}% $e_f^g~#&", author=["A & B", "C"]), [], None, SERVER)
    assert made["Markdown"].startswith(r"[a\](javascript:x) \!\[b\](c) \<i\> \\ {d}% $e\_f^g~\#&](https://kb.example/")
    title = r"a](javascript:x) ![b](c) <i> \textbackslash{} \{d\}\% \$e\_f\textasciicircum{}g\textasciitilde{}\#\&"
    assert f"  title = {{{{{title}}}}}," in made["BibTeX"]
    assert r"  author = {A \& B and C}," in made["BibTeX"]


def test_a_year_comes_from_the_date_of_the_document() -> None:
    assert "  year = {2021}," in citations_of(hit("t", date="4 March 2021"), [], None, SERVER)["BibTeX"]
    assert "year" not in citations_of(hit("t", date="soon"), [], None, SERVER)["BibTeX"]


@pytest.mark.parametrize(
    ("relevance", "words"),
    [
        (1.0, "very relevant"),
        (0.75, "very relevant"),
        (0.5, "relevant"),
        (0.2, "partly relevant"),
        (0.0, "hardly relevant"),
    ],
)
def test_relevance_in_words(relevance: float, words: str) -> None:
    assert relevance_words(relevance) == words


def test_a_time_is_one_of_utc_that_a_script_can_read() -> None:
    assert moment(datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)) == (
        '<time datetime="2026-05-04T03:02Z" title="2026-05-04 03:02 UTC">2026-05-04 03:02 UTC</time>'
    )
    assert moment(None) == "never"
