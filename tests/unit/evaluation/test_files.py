"""Files of queries and judgments: the usual forms are read, mistakes are named with file and line."""

import json
import resource
from pathlib import Path

import pytest

from sourcebook.errors import QueryError
from sourcebook.evaluation import EvaluationError
from sourcebook.evaluation.judged_queries import read_judged_queries, read_queries
from sourcebook.evaluation.judgments import read_judgments
from sourcebook.evaluation.lines import LONGEST_LINE

QUERY = '{"id": "q1", "text": "How long do the batteries last?"}\n'


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    return tmp_path / "queries.jsonl"


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    return tmp_path / "qrels.tsv"


def test_queries_keep_their_order(queries: Path) -> None:
    """BEIR's `_id`, numbers as ids, further keys, blank lines, Windows line ends and a byte order mark are taken."""
    queries.write_bytes(
        b'\xef\xbb\xbf{"id": "b", "text": "one"}\r\n\r\n'
        b'{"_id": "a", "text": "two", "metadata": {}}\r\n{"id": 7, "text": "drei \xc3\xbcber"}'
    )
    assert list(read_queries(queries).items()) == [("b", "one"), ("a", "two"), ("7", "drei über")]


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (QUERY + "{'id': 'q2'}\n", ["line 2", "not JSON", "a line looks like {"]),
        (QUERY + "[1, 2]\n", ["line 2", "no JSON object"]),
        ('{"text": "a"}\n', ["line 1", "key id"]),
        ('{"id": "", "text": "a"}\n', ["line 1", "key id"]),
        ('{"id": true, "text": "a"}\n', ["line 1", "key id"]),
        ('{"id": 1.5, "text": "a"}\n', ["line 1", "key id"]),
        ('{"id": "a"}\n', ["line 1", "key text"]),
        ('{"id": "a", "text": ["b"]}\n', ["line 1", "key text"]),
        ('{"id": "a", "text": "  "}\n', ["line 1", "the query is empty"]),
        (json.dumps({"id": "a", "text": "x" * 100_001}), ["line 1", "100,001 characters"]),
        (QUERY + "\n" + QUERY, ["line 3", "'q1'", "already given on line 1"]),
        ("[" * 200_000, ["line 1", "JSON"]),
        ('{"id": ' + "9" * 5_000 + "}", ["line 1", "JSON"]),
        ("", ["is empty", "docs/evaluation.md"]),
        ("\n \n", ["is empty"]),
    ],
)
def test_a_mistake_in_the_queries_is_named_with_its_line(queries: Path, content: str, parts: list[str]) -> None:
    """And with what belongs there."""
    queries.write_text(content)
    with pytest.raises(EvaluationError) as caught:
        read_queries(queries)
    for part in (str(queries), *parts):
        assert part in str(caught.value)


def test_judgments_are_read_in_three_columns_and_in_four(qrels: Path) -> None:
    """Tabs part columns where there are any, so that a document's name may hold spaces; else white space does."""
    qrels.write_text("q1\ta file.md\t1\nq1\tb\t0\n")
    assert [(each.query, each.document, each.grade) for each in read_judgments(qrels)] == [
        ("q1", "a file.md", 1), ("q1", "b", 0)
    ]  # fmt: skip
    qrels.write_text("1 0 184  2\n1 Q0 29 -1\n")
    assert [(each.document, each.grade) for each in read_judgments(qrels)] == [("184", 2), ("29", -1)]
    qrels.write_text("1\t0\td\t1\n")
    assert read_judgments(qrels)[0].document == "d"
    qrels.write_text("q d 1\n")
    assert read_judgments(qrels)[0].document == "d"


@pytest.mark.parametrize("header", ["query-id\tcorpus-id\tscore", "query document grade", "q\td\tRelevance"])
def test_a_header_is_known_by_its_last_column(qrels: Path, header: str) -> None:
    """It is no judgment; a grade that is no number is not taken for one."""
    qrels.write_text(f"{header}\nq1\td\t1\n")
    (judgment,) = read_judgments(qrels)
    assert judgment.line == 2


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("q1\td\tyes\n", ["line 1", "'yes'", "whole number"]),
        ("q1\td\t1\nq1\te\t\n", ["line 2", "2 columns"]),
        ("q1\td\t1\nq1\te\t0.5\n", ["line 2", "'0.5'"]),
        ("q1\td\t1\nq1\te\tgrade\n", ["line 2", "'grade'"]),
        ("q1\td\t99999\n", ["line 1", "1,000"]),
        ("q1\td\t1\nq1\t\t1\n", ["line 2", "column 2 is empty"]),
        ("q1\td\t1\nq1 0 d 1\n", ["line 2", "4 columns where the first line has 3"]),
        ("q1,d,1\n", ["line 1", "1 column;", "query, document, grade"]),
        ("a b c d e\n", ["line 1", "5 columns"]),
        ("q1\td\t1\n\nq1\td\t2\n", ["line 3", "'q1'", "'d'", "line 1", "keep one"]),
        ("query-id\tcorpus-id\tscore\n", ["no judgments"]),
        ("", ["is empty"]),
    ],
)
def test_a_mistake_in_the_judgments_is_named_with_its_line(qrels: Path, content: str, parts: list[str]) -> None:
    """And with the forms that are read."""
    qrels.write_text(content)
    with pytest.raises(EvaluationError) as caught:
        read_judgments(qrels)
    for part in (str(qrels), *parts):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (QUERY.encode("utf-16"), "line 1: this is UTF-16 text: save the file as UTF-8"),
        (QUERY.encode() + '{"id": "ü"}'.encode("latin-1"), "line 2: this is not UTF-8 text"),
        (b"\x00" * 100, "line 1"),
    ],
)
def test_other_encodings_are_named(queries: Path, content: bytes, told: str) -> None:
    """With the line, and with what to do."""
    queries.write_bytes(content)
    with pytest.raises(EvaluationError, match=told):
        read_queries(queries)


def test_a_line_of_a_gigabyte_is_refused_without_reading_it(queries: Path) -> None:
    """A sparse file: its length is real, its bytes need no disk."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with queries.open("wb") as file:
        file.write(b'{"id": "')
        file.truncate(1_000_000_000)
    with pytest.raises(EvaluationError, match=f"line 1: the line has more than {LONGEST_LINE:,} bytes"):
        read_queries(queries)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A missing file and a folder; both are wrong use, which ends the command with 2."""
    with pytest.raises(EvaluationError, match=r"missing\.jsonl cannot be read: No such file"):
        read_queries(tmp_path / "missing.jsonl")
    with pytest.raises(QueryError, match="cannot be read: Is a directory"):
        read_judgments(tmp_path)


def test_what_cannot_be_measured_is_counted(queries: Path, qrels: Path) -> None:
    """Queries without judgments and such without a relevant document are not asked, and are not forgotten."""
    queries.write_text("".join(json.dumps({"id": name, "text": name}) + "\n" for name in "cabd"))
    qrels.write_text("a\tx\t1\nb\ty\t0\nc\tz\t2\nc\tx\t0\n")
    asked = read_judged_queries(queries, qrels)
    assert (list(asked.texts), asked.unjudged, asked.without_relevant) == (["c", "a"], 1, 1)
    assert asked.grades == {"c": {"z": 2, "x": 0}, "a": {"x": 1}}


def test_a_limit_takes_the_first_queries_that_can_be_measured(queries: Path, qrels: Path) -> None:
    """Not the first lines, which may all be without judgments."""
    queries.write_text("".join(json.dumps({"id": name, "text": name}) + "\n" for name in "nmab"))
    qrels.write_text("a\tx\t1\nb\ty\t1\n")
    assert list(read_judged_queries(queries, qrels, limit=1).texts) == ["a"]


def test_a_judgment_of_a_query_that_does_not_exist_is_an_error(queries: Path, qrels: Path) -> None:
    """It names the first line, says how many more there are, and shows what ids the queries have."""
    queries.write_text(QUERY)
    qrels.write_text("q1\ta\t1\nq7\ta\t1\nq8\ta\t1\nq9\ta\t1\nq7\tb\t1\n")
    with pytest.raises(EvaluationError) as caught:
        read_judged_queries(queries, qrels)
    message = str(caught.value)
    assert f"{qrels}, line 2: {queries} has no query 'q7' (2 more in this file); it has 'q1'" in message


def test_nothing_relevant_at_all_is_an_error(queries: Path, qrels: Path) -> None:
    """There would be nothing to measure."""
    queries.write_text(QUERY)
    qrels.write_text("q1\ta\t0\n")
    with pytest.raises(EvaluationError, match="grades above 0"):
        read_judged_queries(queries, qrels)
