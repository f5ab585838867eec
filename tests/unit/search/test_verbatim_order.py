"""Which passages of one document are compared: none where no later one holds the words of the query."""

from collections.abc import Sequence

from sourcebook.search.query_terms import QueryTerm
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.passages import HeldWords
from sourcebook.search.ranking.verbatim_order import FIRST, _looked_at, compared_places, places_by_runs


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


def test_passages_with_the_dates_and_numbers_of_the_query_are_first() -> None:
    """The more of them the earlier; where the query is about something else, or has one number, all stay."""
    passages = held((1, "2024 --06-07"), (2, "2024 2024-06-07 --06-07"), None, (3, "covid-19"), (4, "1.2.3"))
    day = [term("2024", 1.0), term("2024-06-07", 5.0), term("--06-07", 4.0)]
    assert places_by_runs(day, passages) == [1, 0, 2, 3, 4]
    assert places_by_runs([term("1.2.3", 5.0)], passages)[0] == 4
    assert places_by_runs([*day, term("sick", 30.0)], passages) == [0, 1, 2, 3, 4]
    assert places_by_runs([term("covid-19", 5.0)], passages) == [0, 1, 2, 3, 4]


def test_passages_with_an_option_of_the_query_are_first() -> None:
    """Options are what a query with some is about; a name that only begins like one is none."""
    terms = [term("dump", 1.0), term("mydb", 1.5), term("fc", 1.5)]
    passages = [HeldWords(("dump", "mydb"), 1, 0), HeldWords(("dump", "fc"), 2, 0)]
    assert places_by_runs(terms, passages, "dump -Fc mydb") == [1, 0]
    assert places_by_runs(terms, passages, "dump --fcntl mydb") == [1, 0]
    assert places_by_runs(terms, passages, "dump --fullcopy mydb") == [0, 1]
    assert places_by_runs(terms, passages, "dump Fc mydb") == places_by_runs(terms, passages) == [0, 1]


def candidate(number: int, rank: int | None, score: float | None, depth: int = 100) -> Candidate:
    return Candidate(number, 1.0, depth, keyword_rank=rank, keyword_score=score)


def test_passages_behind_the_first_are_looked_at_for_their_words() -> None:
    """The best ones by words, with a fair share of the best one's score; and the same ones for every later page."""
    first = [candidate(number, number + 1, 10.0 - number / 2) for number in range(FIRST)]
    behind = [
        candidate(20, 11, 4.5),
        candidate(21, None, None),
        candidate(22, 12, 3.9),
        candidate(23, 20, 4.0),
        candidate(24, 21, 4.0),
    ]
    expected = [*range(FIRST), FIRST, FIRST + 3]
    assert _looked_at([*first, *behind]) == expected
    assert _looked_at([*first, *behind, candidate(25, 13, 9.0, depth=200)]) == expected
    assert _looked_at(first[:3]) == [0, 1, 2]
    assert _looked_at([]) == []


def test_a_passage_behind_the_first_takes_a_place_of_its_document_alone() -> None:
    """Document 1 is among the first ten and gets its section; document 3 is not."""
    passages = [*held((1, "sick leav"), *[(2, "sick")] * (FIRST - 1)), *held((1, "sick leav"), *[(3, "sick leav")] * 2)]
    assert compared_places(TERMS, passages) == [0, FIRST]


def test_successive_passages_that_hold_the_words_together_are_compared() -> None:
    """Neither does alone: half of the words may stand at the end of one, and half at the beginning of the next one."""
    fullest, end, start = HeldWords(["sick", "leav"], 1, 7), HeldWords(["sick"], 1, 3), HeldWords(["leav"], 1, 4)
    assert compared_places(TERMS, [fullest, start, end]) == [0, 1, 2]
    assert compared_places(TERMS, [fullest, HeldWords(["leav"], 1, 5), end]) == []
    assert compared_places(TERMS, [fullest, HeldWords(["leav"], 2, 4), end]) == []
    assert compared_places(TERMS, [fullest, HeldWords([], 1, 4), end]) == []
