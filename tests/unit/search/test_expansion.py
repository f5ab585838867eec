"""Expansions of a query: what the vector leg reads, what a passage then holds, and what is never told."""

from sourcebook.model.abbreviation import USUAL, joins_letters
from sourcebook.search.expansion import _usual, _without_redacted, _written
from sourcebook.search.query_terms import Expanded, Expansion, QueryTerm, expanded_text, with_expanded
from sourcebook.search.scope import SearchScope

LONG = Expansion("HSB", "Harbour Safety Board", 1.0, "handbook", 1)


def test_the_vector_leg_reads_long_forms_that_are_sure() -> None:
    """Neither one of several meanings nor an abbreviation behind its words."""
    assert expanded_text("HSB fines", [LONG]) == "HSB fines (Harbour Safety Board)"
    doubtful = Expansion("HSB", "Home Savings Bank", 0.5, "handbook", 2)
    back = Expansion("Harbour Safety Board", "HSB", 1.0, "handbook", 1)
    assert expanded_text("HSB fines", [doubtful, back]) == "HSB fines"


def test_a_passage_holds_a_word_that_it_spells_out() -> None:
    """Where it has all of the words that stand for it."""
    expanded = Expanded(frozenset({"hsb"}), frozenset({"harbour", "safeti", "board"}))
    terms = [QueryTerm("hsb", 1, {1: 1}, 2.0), QueryTerm("board", 3, {1: 2}, 0.3, stands_for="hsb", expands=expanded)]
    assert "hsb" in with_expanded(["harbour", "safeti", "board"], terms)
    assert "hsb" not in with_expanded(["harbour", "board"], terms)
    assert with_expanded(["board"], terms[:1]) == ["board"]


def test_what_a_collection_redacts_expands_nothing() -> None:
    """The pair of a person's address is left out; that of another collection, which redacts nothing, is kept."""
    scope = SearchScope((), redactions={"handbook": {"categories": ["email"]}})
    address = Expansion("ZK", "zoe.keeper@harbour.example.org", 1.0, "handbook", 1)
    other = Expansion("ZK", "zoe.keeper@harbour.example.org", 1.0, "notes", 3)
    assert _without_redacted(scope, [LONG, address, other]) == [LONG, other]


def test_usual_abbreviations_expand_what_nothing_else_explains() -> None:
    """In capitals or not, in the plural, and the other way round."""

    def expanded(text: str, *known: str) -> list[tuple[str, str]]:
        return [(each.words, each.by) for each in _usual(_written(text), text, known)]

    assert expanded("our T&Cs") == [("T&C", "terms and conditions")]
    assert expanded("what is q&a") == [("q&a", "questions and answers")]
    assert expanded("Profit and loss of May") == [("profit and loss", "P&L")]
    assert expanded("who is in R&D?", "r&d") == []
    assert expanded("plan R and plan D") == expanded("TCP/IP and AT&T") == []
    assert all(short.casefold() not in long.casefold() for short, long in USUAL.items())
    assert joins_letters("R&D")
    assert not any(map(joins_letters, ("AT&T", "24/7", "P/E", "GDPR", "1&1")))
