"""Matching: an id names one document by a clear rule, or the error says why not."""

import time

import pytest

from sourcebook.evaluation import EvaluationError
from sourcebook.evaluation.matching import match_documents

URIS = {
    1: "file:///srv/docs/guide/power.md",
    2: "file:///srv/docs/guide/intro.md",
    3: "file:///srv/docs/reference/intro.md",
    4: "file:///srv/docs/Levelling%20and%20spares.xlsx",
    5: "https://docs.example.com/guide/",
    6: "https://docs.example.com/faq.html?lang=de",
    7: "file:///srv/docs/4983.md",
    8: "file:///srv/docs/letter.eml/packing-list.csv",
    9: "file:///srv/docs/100%25.txt",
    10: "file:///srv/docs/gr%C3%BC%C3%9Fe.md",
}


@pytest.mark.parametrize(
    ("identity", "document"),
    [
        ("file:///srv/docs/guide/power.md", 1),
        ("guide/power.md", 1),
        ("/guide/power.md", 1),
        ("/srv/docs/guide/power.md", 1),
        ("power.md", 1),
        ("power", 1),
        ("4983", 7),
        ("guide/intro.md", 2),
        ("reference/intro.md", 3),
        ("Levelling and spares.xlsx", 4),
        ("Levelling%20and%20spares.xlsx", 4),
        ("file:///srv/docs/Levelling and spares.xlsx", 4),
        ("Levelling and spares", 4),
        ("https://docs.example.com/guide/", 5),
        ("https://docs.example.com/guide", 5),
        ("docs.example.com/guide", 5),
        ("guide", 5),
        ("faq.html?lang=de", 6),
        ("letter.eml/packing-list.csv", 8),
        ("100%.txt", 9),
        ("gru\u0308\u00dfe", 10),
    ],
)
def test_an_id_is_a_uri_or_its_end_or_a_file_name(identity: str, document: int) -> None:
    """Percent-encoding, a slash at the end and the way an umlaut is composed make no difference."""
    assert match_documents([identity], URIS).documents == {identity: document}


@pytest.mark.parametrize("identity", ["ower.md", "uide/power.md", "power.m", "", "/", "498", "Power.md", "docs/guide"])
def test_half_a_name_means_nothing(identity: str) -> None:
    """An end begins behind a slash, and letters keep their case."""
    found = match_documents([identity], URIS)
    assert (found.documents, found.unmatched) == ({}, (identity,))


@pytest.mark.parametrize("identity", ["intro.md", "intro"])
def test_an_id_that_could_mean_two_documents_is_an_error(identity: str) -> None:
    """It names both, and says what to write."""
    with pytest.raises(EvaluationError) as caught:
        match_documents(["power", identity], URIS)
    for part in (repr(identity), URIS[2], URIS[3], "write more of the path"):
        assert part in str(caught.value)


def test_the_first_rule_that_finds_something_decides() -> None:
    """A URI before an end, an end before a name without its ending."""
    uris = {1: "file:///a/notes", 2: "file:///b/notes.md", 3: "file:///c/file:///a/notes"}
    found = match_documents(["file:///a/notes", "notes.md"], uris)
    assert found.documents == {"file:///a/notes": 1, "notes.md": 2}
    assert match_documents(["notes"], {1: "file:///a/notes", 2: "file:///b/notes.md"}).documents == {"notes": 1}


def test_a_uri_as_it_stands_is_never_ambiguous() -> None:
    """Also where another one differs by the slash at its end only."""
    uris = {1: "https://a.example/x", 2: "https://a.example/x/"}
    assert match_documents([uris[2]], uris).documents == {uris[2]: 2}


def test_what_means_nothing_is_kept_in_order_and_once() -> None:
    """For the reader to see."""
    assert match_documents(["zz", "power", "aa", "zz"], URIS).unmatched == ("zz", "aa")


def test_a_large_collection_is_matched_in_seconds() -> None:
    """Names that all collections of pages share are no trouble: it takes documents plus ids, not times."""
    uris = {number: f"https://docs.example.com/{number}/index.html" for number in range(100_000)}
    started = time.perf_counter()
    found = match_documents([f"{number}/index.html" for number in range(20_000)], uris)
    assert time.perf_counter() - started < 20
    assert found.documents["19999/index.html"] == 19_999
