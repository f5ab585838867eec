"""Windows around hits, and the text of their parts."""

from hypothesis import given
from hypothesis import strategies as st

from sourcebook.contract.windows import Part, merged_text
from sourcebook.search.page.windows import Place, Window, windows

HITS = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 60)), min_size=1, max_size=30, unique=True)


def place(ordinal: int, document: int = 1) -> Place:
    return Place(9, document, ordinal)


def test_hits_whose_neighbourhoods_touch_are_shown_together() -> None:
    """4 and 7 with one neighbour each leave no gap; 4 and 8 leave 6 out. The better hit's place counts."""
    assert windows([place(7), place(4)], 1) == [Window(9, 1, 3, 8, (0, 1))]
    assert windows([place(8), place(4)], 1) == [Window(9, 1, 7, 9, (0,)), Window(9, 1, 3, 5, (1,))]
    assert windows([place(20), place(5), place(2, document=2), place(18)], 2) == [
        Window(9, 1, 16, 22, (0, 3)),
        Window(9, 1, 3, 7, (1,)),
        Window(9, 2, 0, 4, (2,)),
    ]


@given(HITS, st.integers(0, 20))
def test_windows_hold_every_hit_once_and_never_touch(found: list[tuple[int, int]], neighbours: int) -> None:
    """Each hit is in one window, windows of a document have a gap between them, the best is first."""
    hits = [place(ordinal, document) for document, ordinal in found]
    made = windows(hits, neighbours)
    assert sorted(rank for window in made for rank in window.hits) == list(range(len(hits)))
    assert [window.hits[0] for window in made] == sorted(min(window.hits) for window in made)
    for window in made:
        ordinals = [hits[rank].ordinal for rank in window.hits]
        assert window.first == max(0, min(ordinals) - neighbours)
        assert window.last == max(ordinals) + neighbours
        assert {hits[rank].document_id for rank in window.hits} == {window.document_id}
    for one in made:
        for other in made:
            if one is not other and one.document_id == other.document_id and one.first <= other.first:
                assert other.first > one.last + 1


def part(ordinal: int, markdown: str, start: int, end: int, lead: str = "") -> Part:
    return Part(ordinal, lead + markdown[start:end], False, None, start, end)


@given(st.text("ab \n", max_size=80), st.lists(st.tuples(st.integers(1, 12), st.integers(0, 6)), max_size=12))
def test_overlapping_passages_become_the_text_they_were_cut_from(markdown: str, cuts: list[tuple[int, int]]) -> None:
    """Passages that follow or overlap each other give back the document's text, nothing twice, nothing missing."""
    parts: list[Part] = []
    end = 0
    for length, overlap in cuts:
        start = max(end - overlap, parts[-1].start_char + 1 if parts else 0)
        reach = min(end + length, len(markdown))
        if reach > end:
            parts.append(part(len(parts), markdown, start, reach))
            end = reach
    assert merged_text(parts) == markdown[:end]


def test_what_stands_between_passages_is_a_line_break_or_an_empty_line() -> None:
    """Chunks are stored without the white space around them."""
    markdown = "# Tides\n\nHigh at noon.\nLow at six."
    parts = [part(0, markdown, 0, 7), part(1, markdown, 9, 22), part(2, markdown, 23, len(markdown))]
    assert merged_text(parts) == markdown


def test_the_header_of_a_table_stands_once() -> None:
    """Passages further down a table repeat its header: above the first row that is shown it stays, below it goes."""
    header = "| Port | Depth |\n| --- | --- |\n"
    markdown = f"{header}| Oban | 3 m |\n| Mull | 5 m |\n| Iona | 2 m |"
    rows = [markdown.index(name) - 2 for name in ("Oban", "Mull", "Iona")]
    first = part(0, markdown, 0, rows[1] - 1)
    second = part(1, markdown, rows[1], rows[2] - 1, header)
    third = part(2, markdown, rows[2], len(markdown), header)
    assert merged_text([first, second, third]) == markdown
    assert merged_text([second, third]) == f"{header}| Mull | 5 m |\n| Iona | 2 m |"


def test_a_header_stays_where_another_table_begins() -> None:
    """No text that is not yet shown is left out."""
    before = Part(0, "| A |\n| - |\n| 1 |", False, None, 0, 17)
    after = Part(1, "| B |\n| - |\n| 9 |", False, None, 80, 85)
    assert merged_text([before, after]) == "| A |\n| - |\n| 1 |\n\n| B |\n| - |\n| 9 |"
