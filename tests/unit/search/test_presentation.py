"""What `print` and a notebook show of a result."""

from dataclasses import replace

from sourcebook.contract.search_results import SearchResult, SearchResults, as_html

RESULT = SearchResult(
    document_id=1,
    collection="handbook",
    uri="https://example.com/leave?a=1&b=2",
    title="Leave",
    heading_path=("Leave", "Sick leave"),
    anchor="sick-leave",
    page=3,
    start_seconds=None,
    end_seconds=None,
    ordinal=0,
    text="## Sick leave\n\nTell the office.",
    score=1.0,
    vector_rank=1,
    keyword_rank=None,
    version=1,
)
HOSTILE = "</div><script>alert(1)</script>\x1b[31m\u202e"


def test_print() -> None:
    """Title, place and passage; nothing obeys the terminal."""
    assert str(RESULT).splitlines() == [
        "Leave",
        "Sick leave · page 3 · https://example.com/leave?a=1&b=2 · handbook",
        "",
        "## Sick leave",
        "",
        "Tell the office.",
    ]
    shown = str(replace(RESULT, title=HOSTILE, text=HOSTILE, heading_path=(HOSTILE,)))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "Tell the office." in str(SearchResults((RESULT,), 1.0, {}))
    assert str(SearchResults((), 1.0, {})) == "No passage was found."
    refused = SearchResults((), 1.0, {}, nothing_relevant=True, withheld=5)
    assert str(refused) == "Nothing relevant was found."
    assert refused._repr_html_() == "<p>Nothing relevant was found.</p>"


def test_notebook() -> None:
    """The title leads to the place, marks stand around what they mark, and the lines of the passage stay."""
    assert RESULT._repr_html_() == (
        '<div><strong><a href="https://example.com/leave?a=1&amp;b=2#sick-leave" target="_blank" '
        'rel="noopener noreferrer">Leave</a></strong><br><small>Sick leave · page 3 · '
        "https://example.com/leave?a=1&amp;b=2 · handbook</small>"
        '<div style="white-space: pre-wrap; margin: .3em 0 1em">## Sick leave\n\nTell the office.</div></div>'
    )
    assert "<mark>&lt;b&gt;</mark> &amp;" in as_html(replace(RESULT, text="a <b> &", highlights=((2, 5),)))
    page = SearchResults((RESULT, RESULT), 1.0, {}, notes=("a < b",))._repr_html_()
    assert (page.count("<li>"), page.count("a &lt; b")) == (2, 1)


def test_nothing_of_a_document_is_markup() -> None:
    """Whatever a title, a heading, an address, a name or a text holds, it is text; no address is a script."""
    hostile = replace(
        RESULT, title=HOSTILE, text=HOSTILE, heading_path=(HOSTILE,), collection=HOSTILE, anchor='"><script>'
    )
    for uri in ("https://example.com/\"onclick='x'", "javascript:alert(1)", "data:text/html,<script>"):
        shown = replace(hostile, uri=uri)._repr_html_()
        assert "<script" not in shown
        assert "\x1b" not in shown
        assert '"onclick' not in shown
        assert ("href" in shown) == uri.startswith("https")
