from benchmarks.harness.latency import Latency, ask_at_once, ask_each
from benchmarks.peers.sql_rankings import any_of
from sourcebook.search.query_terms import QueryTerm


def test_each_question_is_measured_once_after_a_warm_up() -> None:
    """What was asked to warm up is forgotten before it counts."""
    asked: list[str] = []
    latency = ask_each(asked.append, ["a", "b", "c", "d", "e"], after=asked.clear)
    assert asked == ["a", "b", "c", "d", "e"]
    assert len(latency.times) == 5


def test_percentiles_are_of_the_times() -> None:
    """The 95th leaves one of twenty above it."""
    latency = Latency([float(number) for number in range(21)])
    assert latency.p50 == 10
    assert latency.p95 == 19


def test_a_rate_counts_every_question() -> None:
    """None is lost among the threads."""
    asked: list[str] = []
    assert ask_at_once(asked.append, [str(number) for number in range(40)]) > 0
    assert len(asked) == 40


def test_words_become_a_tsquery_whatever_stands_in_them() -> None:
    """Quotes and backslashes are text; words that no entry holds are left out."""
    terms = [QueryTerm("o'neil", 1, {1: 1}, 1.0), QueryTerm("a\\b", 1, {1: 2}, 1.0), QueryTerm("none", 0, {}, 1.0)]
    assert any_of(terms) == "'o''neil' | 'a\\\\b'"
