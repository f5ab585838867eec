"""The form of a query decides how it is searched, and says why."""

import pytest

from sourcebook.contract.fusion import Fusion
from sourcebook.contract.search import SearchRequest
from sourcebook.errors import QueryError
from sourcebook.search.query_syntax import parse_query
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.strategy import WORDS_FIRST, is_code, parts_of, strategy_of


@pytest.mark.parametrize(
    "word",
    [
        "E117",
        "HV-4402-17B",
        "ISO/9001:v2",
        "440217",
        "10.2.4",
        "set_limit",
        "MAX_SIZE",
        "FlowController",
        "telemetry.export",
        "Flow::reset",
        "reset()",
        "/etc/hosts",
        "docs/guide/start",
        "--strict",
        "$HOME",
        "ann@example.org",
    ],
)
def test_codes(word: str) -> None:
    assert is_code(word)


@pytest.mark.parametrize(
    "word",
    ["pump", "well-known", "U.S", "1999", "19th", "1990s", "3.5", "don't", "NASA", "e.g", "Überlingen", "and/or"],
)
def test_words_of_a_language(word: str) -> None:
    assert not is_code(word)


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("HV-4402-17B", "code"),
        ("what does E117 mean on the Nordal 40?", "code"),
        ("how do I use set_limit()", "code"),
        ("reset() returns", "code"),
        ("(E117)", "code"),
        ("where is stock_2024-03_bergen.csv", "file name"),
        ("open handbook.pdf", "file name"),
        ('"power cut" winter', "quoted"),
        ("title:handbook leave", "quoted"),
        ("How long do the batteries last, and who may sign a contract?", "several parts"),
        ("How long do the batteries last?", "question"),
        ("tide gauge", "question"),
        ("Who won the first and who lost the second of them?", "question"),
    ],
)
def test_kinds(query: str, kind: str) -> None:
    strategy = strategy_of(parse_query(query))
    assert strategy.kind == kind
    named = kind in {"code", "file name", "quoted"}
    assert strategy.vector == (WORDS_FIRST if named else 1)
    assert bool(strategy.parts) == (kind == "several parts")
    assert strategy.changes_search == (kind != "question")
    assert str(strategy).startswith(f"{kind}: ")


def test_prose_that_mentions_a_code_is_a_question() -> None:
    """Six words beside the code are the border."""
    assert strategy_of(parse_query("why does error E117 come back")).kind == "code"
    assert strategy_of(parse_query("why does error E117 come back every night at two")).kind == "question"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("How old is it? Who wrote the book?", ()),
        ("What is the price of salt; where is salt kept?", ("What is the price of salt", "where is salt kept")),
        ("When do trains leave? And where do they stop?", ()),
        ("When do trains leave? And where do trains stop?", ("When do trains leave", "where do trains stop")),
        (
            "Wie lange hält die Batterie und wer darf Verträge zeichnen?",
            ("Wie lange hält die Batterie", "wer darf Verträge zeichnen"),
        ),
        ("salt and pepper; how much", ()),
        ("Who are you? What? Where is the key?", ()),
    ],
)
def test_parts(text: str, parts: tuple[str, ...]) -> None:
    """A part has three words or more, and speaks of nothing that another has named."""
    assert parts_of(text) == parts


def test_weights_are_those_of_the_request_times_the_strategys() -> None:
    assert strategy_of(parse_query("E117")).weighted(Fusion("rrf", vector=2)) == Fusion("rrf", vector=2 * WORDS_FIRST)
    assert strategy_of(parse_query("tide")).weighted(Fusion(vector=2)) == Fusion(vector=2)


def test_a_model_reads_close_first_results_alone() -> None:
    """The reason is part of the explanation."""
    strategy = strategy_of(parse_query("tide"))
    close = strategy.with_reranking([Candidate(1, 1.00, 100), Candidate(2, 0.95, 100)])
    clear = strategy.with_reranking([Candidate(1, 1.00, 100), Candidate(2, 0.50, 100)])
    assert (close.reranks, clear.reranks, strategy.with_reranking([]).reranks) == (True, False, False)
    assert str(close).endswith("; reranked: the second result is 5% behind the first")
    assert str(clear).endswith("; not reranked: the second result is 50% behind the first, more than 30%")


def test_the_strategy_is_one_of_two() -> None:
    assert SearchRequest.checked("tide").strategy == "fixed"
    assert SearchRequest.checked("tide", strategy="auto").strategy == "auto"
    with pytest.raises(QueryError, match="the strategy is 'best'; it must be one of fixed, auto"):
        SearchRequest.checked("tide", strategy="best")  # type: ignore[arg-type]
