"""The keyword leg is BM25: compared with a plain-Python one over random collections and what happens to them."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection, sql

from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.queries import queries
from sourcebook.model.generation import Generation
from sourcebook.search.query_terms import query_terms
from sourcebook.search.ranking.keyword_leg import keyword_ranking
from sourcebook.search.ranking.leg import LegRanking
from sourcebook.search.scope import EntryCondition, find_scope
from sourcebook.stages.index_upkeep import maintain_index
from tests.integration.word_corpus import Oracle, WordCorpus, Written, new_corpus, recount, statistics, word_database

WORDS = (
    "tide",
    "gauge",
    "the",
    "battery",
    "batteries",
    "winter",
    "of",
    "Häuser",
    "étude",
    "知識庫",
    "salt",
    "ice",
    "wells",
)
LIGHT = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))

texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
documents = st.builds(
    Written,
    st.lists(texts, min_size=1, max_size=4).map(tuple),
    st.none() | texts,
    st.sampled_from([None, "en", "en", "de", "zh"]),
    st.just("") | texts,
)
batches = st.dictionaries(st.integers(0, 5), documents, min_size=1, max_size=4)
steps = st.one_of(
    st.tuples(st.just("write"), batches),
    st.tuples(st.just("remove"), st.sets(st.integers(0, 5), min_size=1, max_size=3)),
    st.tuples(st.sampled_from(["delete entry", "delete chunk", "delete document", "other words"]), st.integers(0, 20)),
    st.tuples(st.just("upkeep"), st.none()),
)
questions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


@pytest.fixture(scope="module")
def connection(server: EmbeddedServer) -> Iterator[Connection]:
    with word_database(server) as database, database.connection() as connection:
        yield connection


def ranked(corpora: list[WordCorpus], query: str, depth: int, condition: EntryCondition | None = None) -> LegRanking:
    connection = corpora[0].connection
    scope = find_scope(connection, [corpus.collection for corpus in corpora])
    return keyword_ranking(connection, scope, query_terms(connection, scope, query), depth, condition)


def do(corpus: WordCorpus, step: tuple[str, object]) -> None:
    """Do one step of a collection's life; what removes rows does it behind the project's back."""
    deeds = {
        "delete entry": "DELETE FROM search_entry WHERE generation_id = %(generation)s AND chunk_id = %(chunk)s",
        "delete chunk": "DELETE FROM chunk WHERE id = %(chunk)s",
        "delete document": "DELETE FROM document WHERE id = (SELECT document_id FROM chunk WHERE id = %(chunk)s)",
        "other words": "UPDATE search_entry SET configuration = 'german', "
        "lexemes = entry_lexemes('german', 'salt', '{}', 'tide the wells') "
        "WHERE generation_id = %(generation)s AND chunk_id = %(chunk)s",
    }
    deed, what = step
    if deed == "write":
        corpus.write(what)  # type: ignore[arg-type]
    elif deed == "remove":
        corpus.remove(*what)  # type: ignore[misc]
    elif deed == "upkeep":
        maintain_index(corpus.connection, corpus.generation)
    elif chunks := corpus.chunks():
        chunk = chunks[what % len(chunks)]  # type: ignore[operator]
        corpus.connection.execute(deeds[deed].encode(), {"generation": corpus.generation.id, "chunk": chunk})


@LIGHT
@given(batches, st.lists(steps, max_size=6), st.lists(questions, min_size=1, max_size=4))
def test_scores_and_order_are_those_of_bm25_whatever_happened(
    connection: Connection, first: dict[int, Written], life: list[tuple[str, object]], asked: list[str]
) -> None:
    """After every publishing, removal and cascade the statistics are a recount's, and the ranking is the oracle's."""
    corpus = new_corpus(connection)
    corpus.write(first)
    for step in life:
        do(corpus, step)
        assert statistics(connection, corpus.generation.id) == recount(connection, corpus.generation.id)
    for average_of_today in (False, True):
        if average_of_today:
            maintain_index(connection, corpus.generation)
        oracle = Oracle(connection, [corpus.generation.id])
        averages = oracle.stored_average_lengths()
        if average_of_today and any(words for _, _, words in oracle.entries.values()):
            assert averages == pytest.approx(oracle.average_lengths(), rel=2e-3)
        for query in asked:
            oracle.assert_ranks(ranked([corpus], query, 10), oracle.scores(query, averages), 10)


@LIGHT
@given(st.lists(batches, min_size=2, max_size=3), st.lists(questions, min_size=1, max_size=3))
def test_several_collections_are_one_for_the_idf(
    connection: Connection, given_batches: list[dict[int, Written]], asked: list[str]
) -> None:
    """A word is as rare as it is in everything that is searched; each generation keeps its own average length."""
    corpora = [new_corpus(connection) for _ in given_batches]
    for corpus, batch in zip(corpora, given_batches, strict=True):
        corpus.write(batch)
    oracle = Oracle(connection, [corpus.generation.id for corpus in corpora])
    for query in asked:
        oracle.assert_ranks(ranked(corpora, query, 10), oracle.scores(query, oracle.stored_average_lengths()), 10)


def put_in_blocks(connection: Connection, generation: Generation, sizes: list[int]) -> None:
    """Gather loose entries in blocks that are smaller than the project makes them."""
    for block, size in enumerate(sizes, start=1):
        scope = {"generation": generation.id, "block": block, "size": size}
        connection.execute(queries["enter_keyword_block"], scope)
        connection.execute(queries["build_keyword_block"], scope)


large = st.dictionaries(st.integers(0, 60), documents, min_size=20, max_size=40)


@settings(LIGHT, max_examples=8)
@given(
    st.lists(large, min_size=1, max_size=2),
    st.lists(st.integers(1, 25), min_size=1, max_size=4),
    st.lists(st.tuples(st.just("write"), batches) | steps.filter(lambda step: step[0] != "upkeep"), max_size=3),
    st.lists(questions, min_size=1, max_size=4),
    st.sampled_from([1, 3, 10, 40, 1_000]),
)
def test_blocks_change_no_ranking(
    connection: Connection,
    contents: list[dict[int, Written]],
    sizes: list[int],
    life: list[tuple[str, object]],
    asked: list[str],
    depth: int,
) -> None:
    """Entries in blocks, loose ones, and slots of entries that are gone or changed: the ranking is the oracle's.

    So it is among the entries that fulfil a condition.
    """
    corpora = [new_corpus(connection) for _ in contents]
    for corpus, content in zip(corpora, contents, strict=True):
        corpus.write(content)
        put_in_blocks(connection, corpus.generation, sizes)
        for step in life:
            do(corpus, step)
    oracle = Oracle(connection, [corpus.generation.id for corpus in corpora])
    averages = oracle.stored_average_lengths()
    third = EntryCondition(sql.SQL("entry.chunk_id %% 3 = 0"))
    salty = EntryCondition(sql.SQL("entry.lexemes @@ {}::tsquery").format(sql.Placeholder("word")), {"word": "'salt'"})
    for query in asked:
        scores = oracle.scores(query, averages)
        oracle.assert_ranks(ranked(corpora, query, depth), scores, depth)
        some = {chunk: score for chunk, score in scores.items() if chunk % 3 == 0}
        oracle.assert_ranks(ranked(corpora, query, depth, third), some, depth)
        some = {chunk: score for chunk, score in scores.items() if "salt" in oracle.entries[chunk][2]}
        oracle.assert_ranks(ranked(corpora, query, depth, salty), some, depth)


def test_many_equals_at_the_cut_are_told_apart_by_their_ids(connection: Connection) -> None:
    """Blocks or not: of entries with one score, those with the smallest ids come first."""
    corpus = new_corpus(connection)
    corpus.write({number: Written(("tide gauge",)) for number in range(90)} | {90: Written(("tide tide gauge",))})
    expected = ranked([corpus], "tide gauge", 7)
    put_in_blocks(connection, corpus.generation, [40, 30])
    assert ranked([corpus], "tide gauge", 7) == expected
    connection.execute("DELETE FROM search_entry WHERE chunk_id = ANY(%s)", [[chunk for chunk, _ in expected[1:5]]])
    left = ranked([corpus], "tide gauge", 7)
    oracle = Oracle(connection, [corpus.generation.id])
    oracle.assert_ranks(left, oracle.scores("tide gauge", oracle.stored_average_lengths()), 7)
    assert len(left) == 7


def test_where_the_best_of_a_block_are_gone_the_next_ones_are_found(connection: Connection) -> None:
    """The slots of entries that are gone still score in their block: it is looked at deeper."""
    corpus = new_corpus(connection)
    corpus.write({number: Written(("tide " + "salt " * number,)) for number in range(120)})
    put_in_blocks(connection, corpus.generation, [80, 40])
    best = ranked([corpus], "tide", 100)
    connection.execute("DELETE FROM search_entry WHERE chunk_id = ANY(%s)", [[chunk for chunk, _ in best]])
    oracle = Oracle(connection, [corpus.generation.id])
    for depth in (1, 5, 30):
        scores = oracle.scores("tide", oracle.stored_average_lengths())
        oracle.assert_ranks(ranked([corpus], "tide", depth), scores, depth)


def test_many_blocks_of_which_some_are_looked_at_first_change_no_ranking(connection: Connection) -> None:
    """Every eighth block tells about where the cut is; where those are unlike the others, the ranking is the same."""
    corpus = new_corpus(connection)
    corpus.write({number: Written(("tide " * (number % 8 + 1) + "salt " * (number // 8),)) for number in range(120)})
    put_in_blocks(connection, corpus.generation, [3] * 38)
    gone = [chunk for chunk, _ in ranked([corpus], "salt", 20)]
    for _ in range(2):
        oracle = Oracle(connection, [corpus.generation.id])
        for depth in (1, 7, 60):
            for query in ("tide", "salt tide"):
                scores = oracle.scores(query, oracle.stored_average_lengths())
                oracle.assert_ranks(ranked([corpus], query, depth), scores, depth)
        connection.execute("DELETE FROM search_entry WHERE chunk_id = ANY(%s)", [gone])
