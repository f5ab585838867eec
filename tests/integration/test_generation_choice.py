"""A person lists, activates, deletes and searches generations; running searches see one of them, whole."""

import threading
from collections import defaultdict

import pytest

from sourcebook.contract.generations import GenerationState
from sourcebook.errors import QueryError
from sourcebook.indexing.activation import activate
from sourcebook.indexing.generation_states import activate_generation, generation_states, retire_generation
from sourcebook.indexing.generations import find_generations
from tests.integration.built_generations import PAGES, configure, days_pass, partitions
from tests.integration.stages import Stages

CLIENTS = 8
"""Clients that search at the same time."""


@pytest.fixture
def two(stages: Stages) -> Stages:
    """A collection with a generation of 64 tokens, and a whole one of 128 that waits."""
    for name, text in PAGES.items():
        stages.write(name, text)
    configure(stages)
    stages.run()
    configure(stages, 128, activate="manual")
    stages.run()
    return stages


def states(stages: Stages) -> list[GenerationState]:
    with stages.connection() as connection:
        return generation_states(connection, stages.collection)


def ids(stages: Stages) -> tuple[int, int]:
    """Return the id of the active generation and of the other one."""
    active, other = states(stages)
    return active.id, other.id


def test_the_list_has_state_settings_size_and_progress(two: Stages) -> None:
    active, waiting = states(two)
    assert (active.state, waiting.state) == ("active", "waiting")
    assert (active.chunking["tokens"], waiting.chunking["tokens"]) == (64, 128)
    assert active.passages > waiting.passages > 0
    assert active.documents == active.live_documents == waiting.documents == len(PAGES)
    assert active.bytes > 0
    assert active.model.startswith("all-MiniLM-L6-v2:")
    two.write("fog.md", "The fog horn sounds twice.")
    two.raw_files()
    two.documents()
    assert [state.documents for state in states(two)] == [3, 3]
    assert states(two)[1].state == "building"
    assert states(two)[1].progress == 0.75
    status = two.status().building
    assert status is not None
    assert status.as_dict()["progress"] == 0.75


def test_a_generation_that_lacks_documents_is_not_activated(two: Stages) -> None:
    two.write("fog.md", "The fog horn sounds twice.")
    two.raw_files()
    two.documents()
    with pytest.raises(QueryError, match="3 of 4 documents"):
        activate_generation(two.database, ids(two)[1])


def test_a_rollback_is_one_row_and_a_second_one_leads_forth_again(two: Stages) -> None:
    first, second = ids(two)
    assert activate_generation(two.database, second).state == "active"
    assert activate_generation(two.database, first).state == "active"
    assert two.search("tide").generations == (first,)
    two.run()
    assert two.finish() is None, "the settings in the file are overruled"
    assert activate_generation(two.database, second).state == "active"
    assert find_overruled(two) is None
    assert two.search("tide").generations == (second,)


def find_overruled(stages: Stages) -> object:
    with stages.connection() as connection:
        return find_generations(connection, stages.collection).overruled


def test_a_generation_in_use_is_not_deleted_and_an_earlier_one_is(two: Stages) -> None:
    first, second = ids(two)
    for number, reason in ((first, "is active"), (second, "sourcebook.yaml")):
        with pytest.raises(QueryError, match=reason):
            retire_generation(two.database, number)
    activate_generation(two.database, second)
    days_pass(two)
    assert retire_generation(two.database, first).state == "kept"
    assert partitions(two) == two.generation_tables()
    with pytest.raises(QueryError, match=f"no generation {first}"):
        retire_generation(two.database, first)


def test_a_search_names_a_generation(two: Stages) -> None:
    first, second = ids(two)
    for number in (first, second):
        results = two.search("the tide of station 3", generation=number, neighbours=1, group_by="document")
        assert results.generations == (number,)
        assert {result.generation for result in results} == {number}
    with pytest.raises(QueryError, match="there is no generation 99"):
        two.search("tide", generation=99)
    with pytest.raises(QueryError, match="two of the generations"):
        two.search("tide", generation=[first, second])
    with pytest.raises(QueryError, match="no generation"):
        two.search("tide", collections=["handbook"], generation=[99])


def test_the_next_page_may_come_from_the_generation_of_the_first_page(two: Stages) -> None:
    first, second = ids(two)
    page = two.search("station", limit=3)
    activate_generation(two.database, second)
    rest = two.search("station", limit=100, offset=3, generation=page.generations)
    whole = two.search("station", limit=100, generation=first)
    assert [(hit.uri, hit.start_char) for hit in (*page, *rest)] == [(hit.uri, hit.start_char) for hit in whole]


def test_no_search_fails_or_mixes_generations_while_they_change(two: Stages) -> None:
    """Eight clients search, group, page and read neighbours while generations change places many times."""
    spans: dict[int, set[tuple[int, int, int]]] = defaultdict(set)
    for row in two.rows("SELECT generation_id, document_id, start_char, end_char FROM chunk"):
        spans[row["generation_id"]].add((row["document_id"], row["start_char"], row["end_char"]))
    assert not spans[ids(two)[0]] & spans[ids(two)[1]], "a passage shows which generation it is of"
    two.search("warm")
    over = threading.Event()
    failures: list[str] = []
    seen: set[int] = set()

    def client(number: int) -> None:
        options = ({}, {"group_by": "document"}, {"neighbours": 1}, {"mode": "keyword"})[number % 4]
        while not over.is_set():
            try:
                results = two.search(f"the tide of station {number}", limit=20, **options)
                (generation,) = results.generations
                seen.add(generation)
                if not results:
                    failures.append("nothing found")
                for hit in results:
                    place = (hit.document_id, hit.start_char, hit.end_char)
                    parts = {(hit.document_id, part.start_char, part.end_char) for part in hit.parts}
                    if hit.generation != generation or not {place, *parts} <= spans[generation]:
                        failures.append(f"{place} is not of generation {generation}")
            except Exception as error:  # noqa: BLE001 - any failure is the finding
                failures.append(repr(error))

    clients = [threading.Thread(target=client, args=[number]) for number in range(CLIENTS)]
    for thread in clients:
        thread.start()
    with two.connection() as connection:
        for _ in range(40):
            found = find_generations(connection, two.collection)
            other = next(each for each in (*found.followed, *found.earlier) if not each.is_active)
            activate(connection, other)
            over.wait(0.05)  # some searches between two changes
    over.set()
    for thread in clients:
        thread.join()
    assert not failures, failures[:3]
    assert len(seen) == 2
