"""Fields of a result beside its passage, all of them plain JSON."""

import json
from dataclasses import replace

from sourcebook.contract.explanation import Explanation, LegExplanation
from sourcebook.contract.other_documents import OtherPassage
from sourcebook.contract.search_results import SearchResult, SearchResults
from sourcebook.contract.windows import Part

RESULT = SearchResult(
    document_id=1,
    collection="handbook",
    uri="file:///tides.md",
    title="Tides",
    heading_path=("Tides",),
    anchor="tides",
    page=None,
    start_seconds=None,
    end_seconds=None,
    ordinal=1,
    text="The tide is high.",
    score=0.5,
    vector_rank=1,
    keyword_rank=None,
    version=1,
    tags=("sea",),
    metadata={"author": {"name": "Ann"}, "pages": [1, None]},
    start_char=12,
    end_char=29,
)
EXPLANATION = Explanation(
    query="tide",
    legs=(
        LegExplanation("vector", 2.25, 100, exact=False, query="all-MiniLM-L6-v2", plan="Limit\n  ->  Index Scan"),
        LegExplanation("keyword", 1.0, 7, exact=True),
    ),
    fusion="weighted sum of normalised scores",
    weights={"vector": 1.0, "keyword": 0.5},
    depth=100,
    embedding_ms=7.5,
    reading_ms=1.25,
)


def test_everything_is_plain_json() -> None:
    """`--json` prints every field that Python sees, and reads back unchanged."""
    part = Part(0, "# Tides", False, None, 0, 7)
    hit = Part(1, RESULT.text, True, None, 9, 26)
    other = OtherPassage(4, 0.25, None, "moon", None, None)
    results = SearchResults(
        (replace(RESULT, parts=(part, hit), also=(other,)),),
        took_ms=3.5,
        dropped_legs={"keyword": "no passage holds a word of the query"},
        total_candidates=100,
        offset=10,
        next_offset=11,
        notes=("reranking timed out",),
        explanation=EXPLANATION,
    )
    told = json.loads(json.dumps(results.as_dict(), allow_nan=False))
    (result,) = told["results"]
    assert result["context_text"] == "# Tides\n\nThe tide is high."
    assert [(each["ordinal"], each["is_hit"]) for each in result["parts"]] == [(0, False), (1, True)]
    assert result["also"][0]["anchor"] == "moon"
    assert result["metadata"] == {"author": {"name": "Ann"}, "pages": [1, None]}
    assert (told["total_candidates"], told["offset"], told["next_offset"]) == (100, 10, 11)
    assert told["notes"] == ["reranking timed out"]
    assert told["explanation"]["legs"][0]["plan"] == "Limit\n  ->  Index Scan"
    assert told["explanation"]["weights"] == {"vector": 1.0, "keyword": 0.5}
    assert told["explanation"]["rerank_ms"] is None


def test_results_without_anything_special_say_so() -> None:
    """One page, no notes, no explanation; the context of a hit alone is its text, and JSON does not repeat it."""
    results = SearchResults((RESULT,), 1.0, {})
    assert (results.offset, results.next_offset, results.notes, results.explanation) == (0, None, (), None)
    assert RESULT.context_text == RESULT.text
    assert results.as_dict()["results"][0]["context_text"] is None
    assert results.as_dict()["explanation"] is None


def test_an_explanation_reads_as_lines() -> None:
    """Each part has its line, in milliseconds; a plan stands indented below its leg; what was not done is left out."""
    assert str(EXPLANATION) == (
        "query      tide\n"
        "fusion     weighted sum of normalised scores (vector 1, keyword 0.5), depth 100\n"
        "vector     100 candidates in 2.2 ms, approximate\n"
        "    all-MiniLM-L6-v2\n"
        "    Limit\n"
        "      ->  Index Scan\n"
        "keyword    7 candidates in 1.0 ms, exact\n"
        "embedding  7.5 ms\n"
        "reading    1.2 ms"
    )
