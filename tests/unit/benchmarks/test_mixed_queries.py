"""The 200 mixed queries: made again they are the committed ones, and each answer is a document."""

from collections import Counter

from benchmarks.corpora.mixed_documents import make_library
from benchmarks.corpora.mixed_library import COUNTS, make_queries, read_queries


def test_the_committed_queries_are_those_that_are_made() -> None:
    """The same documents and queries come of the same seeds; half of each kind is kept apart."""
    library = make_library()
    queries = read_queries()
    assert list(make_queries(library)) == queries
    halves = Counter((query.kind, query.part) for query in queries)
    assert halves == {(kind, part): count // 2 for kind, count in COUNTS.items() for part in ("work", "report")}
    assert len({query.text for query in queries}) == len(queries) == 200
    for query in queries:
        assert query.relevant.keys() <= library.documents.keys(), query
        assert 2 in query.relevant.values(), query


def test_a_document_that_holds_the_whole_code_is_relevant() -> None:
    """And none that holds a part of it, or a longer one."""
    library = make_library()
    (query,) = [query for query in read_queries() if query.text == "HV-4407-13C"]
    assert {path for path in query.relevant if "HV-4407-13C" not in library.documents[path]} == set()
    assert all("HV-4407-13C" not in text for path, text in library.documents.items() if path not in query.relevant)
