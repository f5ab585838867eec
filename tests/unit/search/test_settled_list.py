"""Which passages of one document are compared: none where no later one holds the words of the query."""

from collections.abc import Sequence

from sourcebook.search.query_terms import QueryTerm
from sourcebook.search.relevant_page import HeldWords
from sourcebook.search.settled_list import compared_places


def term(token: str, weight: float, *, stands_for: str | None = None, known: bool = True) -> QueryTerm:
    return QueryTerm(token, 1, {1: 1} if known else {}, weight, stands_for=stands_for)


def held(*passages: tuple[int, str] | None) -> Sequence[HeldWords | None]:
    """Return (document, words) of each passage; None for one that has left the index."""
    return [each and HeldWords(each[1].split(), each[0]) for each in passages]


TERMS = [term("sick", 3.0), term("leav", 2.0)]


def test_a_later_passage_with_the_words_is_compared_with_the_first() -> None:
    passages = held((1, "leav"), (2, "sick leav"), (1, "sick leav"), (1, ""), None, (3, "sick leav"))
    assert compared_places(TERMS, passages) == [0, 2]


def test_nothing_is_read_without_need() -> None:
    """Documents with one passage, later passages with few of the words, questions with words that no passage holds."""
    assert compared_places(TERMS, held((1, "sick leav"), (2, "sick leav"), (2, "leav"))) == []
    assert compared_places([*TERMS, term("holiday", 9.0)], held((1, "sick leav"), (1, "sick leav"))) == []
    unknown = term("hidden", 9.0, known=False)
    assert compared_places([*TERMS, unknown], held((1, "sick leav"), (1, "sick leav"))) == []
    assert compared_places([], held((1, ""), (1, ""))) == []


def test_each_language_has_its_lexeme_of_a_word() -> None:
    """A passage in English holds `leav` alone, and says the query as fully."""
    several = [*TERMS, term("leave", 2.0), term("sickly", 1.0, stands_for="sicky"), term("sicky", 9.0, known=False)]
    assert compared_places(several, held((1, "sick leav"), (1, "sick leav"))) == [0, 1]
