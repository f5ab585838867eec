"""Folding of duplicates, without a database."""

import random

from sourcebook.search.ranking.duplicates import Identity, fold
from sourcebook.search.ranking.fusion import Candidate


def candidates(count: int, depth: int = 100, first: int = 0) -> list[Candidate]:
    return [Candidate(number, 1.0 - number / 1000, depth) for number in range(first, first + count)]


def shown(folded: list[Candidate]) -> list[tuple[int, list[int]]]:
    return [(each.chunk_id, [copy.chunk_id for copy in each.copies]) for each in folded]


def test_passages_with_one_text_take_the_place_of_the_best() -> None:
    identities = {0: Identity(1, ("a",), b"x"), 1: Identity(2, ("b",), None), 2: Identity(3, ("a",), b"y")}
    assert shown(fold(candidates(3), identities)) == [(0, [2]), (1, [])]


def test_passages_of_one_document_are_no_duplicates_and_copies_pair_up() -> None:
    """A document says one thing twice, and so does its copy: two results, each also in the copy."""
    identities = {number: Identity(number % 2, ("same",), None) for number in range(4)}
    assert shown(fold(candidates(4), identities)) == [(0, [1]), (2, [3])]


def test_a_candidate_that_left_the_index_stays() -> None:
    assert shown(fold(candidates(2), {0: Identity(1, ("a",), None)})) == [(0, []), (1, [])]


def test_grouped_a_copied_file_has_no_place_of_its_own() -> None:
    """At the end of a depth one of two twins may be missing: the copy of the file is no other document for that."""
    identities = {0: Identity(1, ("a",), b"x"), 1: Identity(2, ("b",), b"x"), 2: Identity(3, ("c",), b"z")}
    assert shown(fold(candidates(3), identities)) == [(0, []), (1, []), (2, [])]
    assert shown(fold(candidates(3), identities, by_document=True)) == [(0, [1]), (2, [])]


def test_a_longer_list_changes_nothing_before_its_new_part() -> None:
    """Pages are slices of one list: no result is shown twice or left out, and none changes the copies that it names."""
    draw = random.Random(7)
    for by_document in (False, True):
        for _ in range(200):
            every = candidates(30) + candidates(30, 400, 30)
            identities = {
                each.chunk_id: Identity(
                    draw.randrange(9), (draw.randrange(12),), draw.choice([None, bytes([draw.randrange(3)])])
                )
                for each in every
            }
            short = fold(every[:30], identities, by_document=by_document)
            long = fold(every, identities, by_document=by_document)
            assert long[: len(short)] == short
