"""A result says where its passage stands, in time as well."""

from dataclasses import replace

from sourcebook.contract.search_results import SearchResult, SearchResults

RESULT = SearchResult(
    document_id=1,
    collection="radio",
    uri="file:///talks/harbour.mp3",
    title="Harbour",
    heading_path=(),
    anchor=None,
    page=None,
    start_seconds=750.2,
    end_seconds=855.6,
    ordinal=3,
    text="[12:30] The tide is high.",
    score=0.5,
    vector_rank=1,
    keyword_rank=None,
    version=1,
)


def test_a_passage_of_a_recording_has_a_time_span() -> None:
    """In seconds for programs, as a clock shows it for people, in JSON too."""
    (told,) = SearchResults((RESULT,), 1.0, {}).as_dict()["results"]
    assert RESULT.time_span == told["time_span"] == "12:30–14:15"
    assert (told["start_seconds"], told["end_seconds"]) == (750.2, 855.6)


def test_what_is_no_recording_has_none() -> None:
    """The keys are there all the same."""
    page = replace(RESULT, start_seconds=None, end_seconds=None)
    assert page.time_span is None
    (told,) = SearchResults((page,), 1.0, {}).as_dict()["results"]
    assert (told["start_seconds"], told["end_seconds"], told["time_span"]) == (None, None, None)
