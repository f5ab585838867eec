"""How a person sees what a search found."""

from dataclasses import replace
from typing import Any

import pytest

from sourcebook.cli.passages import show_results
from sourcebook.cli.snippets import snippet_text
from sourcebook.contract.explanation import Explanation, LegExplanation
from sourcebook.contract.other_documents import OtherPassage
from sourcebook.contract.search_results import SearchResult, SearchResults
from sourcebook.contract.windows import Part
from sourcebook.search.page.best_part import with_snippet
from sourcebook.search.ranking.highlights import Highlight

RESULT = SearchResult(
    document_id=1,
    collection="handbook",
    uri="file:///tides.md",
    title="Tides",
    heading_path=("Tides", "Moon"),
    anchor="moon",
    page=None,
    start_seconds=None,
    end_seconds=None,
    ordinal=3,
    text="## Moon\n\nThe tide follows the moon.",
    score=0.75,
    vector_rank=1,
    keyword_rank=3,
    version=1,
    vector_score=0.625,
    keyword_score=8.5,
    relevance=0.834,
)


def shown(capsys: pytest.CaptureFixture[str], *found: SearchResult, **told: Any) -> str:
    results = tuple(with_snippet(result, ()) for result in found)
    show_results(SearchResults(results, 2.5, told.pop("dropped_legs", {}), **told))
    return capsys.readouterr().out


def test_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    """Title, headings, relevance, score with its ranks, address, and the passage without the heading above it."""
    assert shown(capsys, RESULT).splitlines() == [
        "1. Tides › Moon",
        "   relevance 0.83, score 0.7500 (vector rank 1, keyword rank 3), handbook",
        "   file:///tides.md#moon",
        "   The tide follows the moon.",
        "",
    ]


def test_only_headings_that_are_shown_above_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """A comment at the beginning of code is no heading of the passage, and a passage of a heading alone stays."""
    nested = replace(RESULT, text="# Tides\n\n## Moon\n\n# read the gauge\nread()")
    assert "\n   # read the gauge read()\n" in shown(capsys, nested)
    assert "\n   ## Moon\n" in shown(capsys, replace(RESULT, text="# Tides\n\n## Moon\n"))


def test_the_part_that_answers_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """From the middle of a passage, with signs where it goes on; the highlights are bold on a terminal."""
    text = f"{'Nothing happened. ' * 40}The ebb was low. {'Nothing happened. ' * 40}"
    place = text.index("ebb")
    result = with_snippet(replace(RESULT, text=text), [Highlight(place, place + 3, 1.0, "ebb")])
    lines = snippet_text(result)
    assert lines.plain.startswith("… The ebb was low. Nothing happened.")
    assert lines.plain.endswith("Nothing happened. …")
    assert [lines.plain[span.start : span.end] for span in lines.spans] == ["ebb"]
    assert lines.spans[0].style == "bold"


def test_documents_found_stand_below_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    """Each property on a line of its own, the most frequent values first, set off from what follows."""
    facets = {"kind": {"file": 1200, "page": 3}, "media_type": {}, "year": {str(year): 1 for year in range(2000, 2012)}}
    lines = shown(capsys, RESULT, facets=facets, next_offset=1).splitlines()
    assert lines[-5:-2] == [
        "Documents found:",
        "   kind: file 1,200, page 3",
        f"   year: {', '.join(f'{year} 1' for year in range(2000, 2010))}, 2 more",
    ]
    assert lines[-2:] == ["", "More: the same with --offset 1"]


def test_a_similar_document_has_a_similarity(capsys: pytest.CaptureFixture[str]) -> None:
    """No query was asked: there is neither a relevance nor a rank in a leg."""
    show_results(SearchResults((with_snippet(RESULT, ()),), 2.5, {}), are_similar=True)
    assert capsys.readouterr().out.splitlines()[1] == "   similarity 0.75, handbook"


@pytest.mark.parametrize("text", ["| a | b |\n|---|---|\n| 1 | 2 |", "```\nif x:\n    y()\n```"])
def test_tables_and_code_keep_their_lines(capsys: pytest.CaptureFixture[str], text: str) -> None:
    lines = [f"   {line}" for line in text.splitlines()]
    assert [line.rstrip() for line in shown(capsys, replace(RESULT, text=text)).splitlines()[3:-1]] == lines


def test_neighbours_stand_around_the_hit(capsys: pytest.CaptureFixture[str]) -> None:
    """In reading order; each hit is marked; of what stands before, the end is shown, of what follows, the beginning."""
    long = "begin " + "word " * 200 + "end"
    parts = (
        Part(2, long, False, None, 0, 1009),
        Part(3, RESULT.text, True, None, 1010, 1044),
        Part(4, "## Ebb\n\nAlso found.", True, None, 1045, 1065),
        Part(5, long, False, None, 1066, 2075),
    )
    lines = shown(capsys, replace(RESULT, parts=parts)).splitlines()
    before, hit, second, after = " ".join(lines[3:]).split(" > ")[0], *" ".join(lines[3:]).split(" > ")[1:], lines[-2]
    assert before.strip().startswith("…word")
    assert before.strip().endswith("word end")
    assert hit.strip() == "The tide follows the moon."
    assert second.strip().startswith("## Ebb Also found.")
    assert after.strip().endswith("…")
    assert not after.startswith(" > ")


def test_a_document_names_its_other_passages(capsys: pytest.CaptureFixture[str]) -> None:
    """Grouped by document: how many more there are, and where: page, time or heading, each place once."""
    places: list[tuple[int | None, str | None, float | None, float | None]]
    places = [(4, "x", None, None), (None, "ebb", None, None), (None, None, 750.0, 855.0), (None, "ebb", None, None)]
    also = tuple(OtherPassage(n, 0.5, *place) for n, place in enumerate(places))
    out = shown(capsys, replace(RESULT, also=also))
    assert "\n   and 4 other passages of this document: page 4, #ebb, 12:30–14:15\n" in out
    assert "and 1 other passage of this document\n" in shown(
        capsys, replace(RESULT, also=(OtherPassage(0, 0.5, None, None, None, None),))
    )
    many = tuple(OtherPassage(n, 0.5, n, None, None, None) for n in range(1, 8))
    assert ": page 1, page 2, page 3, page 4, page 5, …\n" in shown(capsys, replace(RESULT, also=many))


def test_what_stands_below(capsys: pytest.CaptureFixture[str]) -> None:
    """The next page, a leg that dropped out, and notes are told; ranks go on from the page before."""
    out = shown(
        capsys,
        RESULT,
        offset=10,
        next_offset=15,
        total_candidates=100,
        dropped_legs={"keyword": "no passage holds a word of the query"},
        notes=("one without a full stop", "Another with one."),
    )
    assert out.startswith("11. Tides")
    assert out.splitlines()[-4:] == [
        "More: the same with --offset 15",
        "Without keyword search: no passage holds a word of the query.",
        "Note: one without a full stop.",
        "Note: Another with one.",
    ]


def test_nothing_found_and_an_empty_page_differ(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing was found, the way on is named; behind the last page, the note says where that is."""
    assert shown(capsys) == "No passage was found. Show the collections: sourcebook status\n"
    note = "the page begins behind 10 passages, and the search found 3: the last page is an earlier one"
    assert shown(capsys, offset=10, total_candidates=3, notes=(note,)) == f"Note: {note}.\n"


def test_nothing_relevant(capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence comes in place of the passages, or above them where they are asked for; it names the option."""
    hidden: dict[str, Any] = {"nothing_relevant": True, "withheld": 5, "total_candidates": 90, "next_offset": 5}
    assert shown(capsys, **hidden) == "Nothing relevant was found. 5 passages left out; --all shows them.\n"
    out = shown(capsys, RESULT, nothing_relevant=True, total_candidates=90)
    assert out.splitlines()[0] == "Nothing relevant was found. These are the nearest passages."
    assert "1. Tides › Moon\n" in out


def test_less_relevant_passages_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, RESULT, withheld=1, total_candidates=90)
    assert out.endswith("\n1 less relevant passage left out; --all shows it.\n")


def test_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """`--explain` adds each leg's own score to a result, and how the search went below the results."""
    explanation = Explanation(
        "'tide'",
        (LegExplanation("keyword", 1.5, 7, exact=True, query="tide^2.10", plan="Limit\n  ->  " + "wide " * 60),),
        "weighted sum of the scores",
        {"vector": 1.0, "keyword": 1.0},
        100,
    )
    out = shown(capsys, replace(RESULT, rerank_score=-1.5), explanation=explanation)
    assert "score 0.7500 (vector rank 1 with cosine 0.625, keyword rank 3 with BM25 8.500), -1.5000 by reranking" in out
    assert str(explanation) in out, "line by line, none wrapped"
    assert out.endswith("all        2.5 ms\n")
    assert "BM25" not in shown(capsys, RESULT)


def test_a_document_does_not_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor its neighbours, the places of its other passages, the notes and the explanation."""
    bad = "\x1b[31mred\x07 [bold]text[/bold]"
    also = (OtherPassage(0, 0.5, None, bad, None, None),)
    parts = (Part(2, bad, False, None, 0, 9), Part(3, bad, True, None, 10, 19), Part(4, bad, False, None, 20, 29))
    explanation = Explanation(bad, (), bad)
    out = shown(
        capsys,
        replace(RESULT, title=bad, text=bad, also=also, parts=parts),
        dropped_legs={"keyword": bad},
        notes=(bad,),
        explanation=explanation,
    )
    assert not {"\x1b", "\x07"} & set(out)
    assert out.count("red [bold]text[/bold]") == 9
