"""The upkeep of the keyword leg: weights by today's average length, blocks of entries, and nothing half done."""

from collections.abc import Iterator
from threading import Thread

import psycopg
import pytest
from psycopg import Connection

from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.queries import queries
from sourcebook.search.query_terms import query_terms
from sourcebook.search.ranking.keyword_leg import keyword_ranking
from sourcebook.search.ranking.leg import LegRanking
from sourcebook.stages import index_upkeep as upkeep
from sourcebook.stages.index_upkeep import BLOCK, maintain_index
from tests.integration.word_corpus import Oracle, WordCorpus, Written, new_corpus, word_database

RENEWING = ("renew_average_length", "delete_keyword_blocks", "delete_keyword_weights", "insert_keyword_weights")


@pytest.fixture(scope="module")
def database(server: EmbeddedServer) -> Iterator[Database]:
    with word_database(server) as database:
        yield database


def ranked(corpus: WordCorpus, query: str, depth: int = 10, *, by: Connection | None = None) -> LegRanking:
    connection = by or corpus.connection
    scope = corpus.scope()
    return keyword_ranking(connection, scope, query_terms(connection, scope, query), depth)


def assert_exact(corpus: WordCorpus, *asked: str) -> None:
    oracle = Oracle(corpus.connection, [corpus.generation.id])
    for query in asked:
        oracle.assert_ranks(ranked(corpus, query), oracle.scores(query, oracle.stored_average_lengths()), 10)


def blocks(corpus: WordCorpus) -> set[int]:
    rows = corpus.connection.execute(
        "SELECT DISTINCT block FROM keyword_block WHERE generation_id = %s", [corpus.generation.id]
    )
    return {block for (block,) in rows}


def insert_many(corpus: WordCorpus, entries: int) -> None:
    """Publish short entries of one document, all at once and without the project's help."""
    corpus.write({0: Written(("word1 common",))})
    corpus.connection.execute(
        "WITH made AS (INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, "
        "start_char, end_char, token_count, hash, embedding_hash) SELECT generation_id, document_id, number, "
        "'word' || number %% 97 || ' common' || repeat(' filler', number %% 5), '', '{}', 0, 0, 1, '', '' "
        "FROM chunk, generate_series(1, %(entries)s - 1) number WHERE generation_id = %(generation)s RETURNING *) "
        "INSERT INTO search_entry (generation_id, chunk_id, document_id, vector, lexemes) "
        "SELECT generation_id, id, document_id, '[1,0]', to_tsvector('simple', text) FROM made",
        {"generation": corpus.generation.id, "entries": entries},
    )


def test_weights_follow_the_average_length(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of drift renews every weight; less waits, except in a small collection, where it costs nothing."""
    corpus = new_corpus(connection)
    corpus.write({number: Written(("tide gauge station",)) for number in range(40)})
    assert maintain_index(connection, corpus.generation).changed == 0, "nothing has moved"
    corpus.write({40: Written(("tide " * 9,))})
    assert maintain_index(connection, corpus.generation).changed == 41
    assert_exact(corpus, "tide", "gauge")
    oracle = Oracle(connection, [corpus.generation.id])
    assert oracle.stored_average_lengths() == pytest.approx(oracle.average_lengths(), rel=1e-6)

    monkeypatch.setattr(upkeep, "FEW", 0)
    corpus.write({41: Written(("tide " * 6,))})
    assert maintain_index(connection, corpus.generation).changed == 0, "2 % of drift"
    corpus.write({42: Written(("tide " * 50,))})
    assert maintain_index(connection, corpus.generation).changed == 43, "more than 10 %"
    assert_exact(corpus, "tide", "gauge")


def test_a_first_load_is_weighed_by_its_own_average(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The average length of the first documents is renewed at a drift of 2 % once there are twice as many."""
    monkeypatch.setattr(upkeep, "FEW", 0)
    corpus = new_corpus(connection)
    corpus.write({number: Written(("tide " * 50,)) for number in range(4)})
    corpus.write({number: Written(("tide " * 52,)) for number in range(4, 8)})
    assert maintain_index(connection, corpus.generation).changed == 0, "not yet more than twice as many"
    corpus.write({8: Written(("tide " * 52,))})
    assert maintain_index(connection, corpus.generation).changed == 9
    assert_exact(corpus, "tide")


def test_a_collection_whose_words_are_all_gone_takes_new_ones(connection: Connection) -> None:
    """An average length of 0 is not used: the next published documents set their own."""
    corpus = new_corpus(connection)
    assert maintain_index(connection, corpus.generation).changed == 0
    corpus.write({0: Written(("tide gauge",))})
    corpus.write({0: Written(("...",))})
    maintain_index(connection, corpus.generation)
    corpus.write({1: Written(("salt and ice",))})
    assert_exact(corpus, "salt", "ice", "tide")
    corpus.remove(0, 1)
    maintain_index(connection, corpus.generation)
    assert ranked(corpus, "salt") == []


def test_blocks_are_built_served_and_dissolved(connection: Connection) -> None:
    """8,000 loose entries make a block; the ranking stays; where a fifth of a block is gone, it goes."""
    corpus = new_corpus(connection)
    insert_many(corpus, BLOCK + 100)
    asked = ("word5 common", "word1 filler", "common", "filler word96 nothing")
    before = {query: ranked(corpus, query, 50) for query in asked}
    maintain_index(connection, corpus.generation)
    assert blocks(corpus) == {1}
    assert_exact(corpus, *asked)
    assert {query: ids(ranked(corpus, query, 50)) for query in asked} == {
        query: ids(ranking) for query, ranking in before.items()
    }
    assert maintain_index(connection, corpus.generation).extra.get("blocks", 0) == 0, "100 loose ones are few"

    connection.execute(
        "DELETE FROM search_entry WHERE generation_id = %s AND chunk_id %% 4 = 0", [corpus.generation.id]
    )
    assert_exact(corpus, *asked)
    maintain_index(connection, corpus.generation)
    assert blocks(corpus) == set()
    assert_exact(corpus, *asked)


def ids(ranking: LegRanking) -> list[int]:
    return [chunk for chunk, _ in ranking]


def test_upkeep_that_is_killed_leaves_all_or_nothing(database: Database, connection: Connection) -> None:
    """While weights are renewed and blocks built, and after the process has died, searches see the state before."""
    corpus = new_corpus(connection)
    corpus.write({number: Written(("tide gauge", "tide salt ice" * (number % 7))) for number in range(30)})
    scope = {"generation": corpus.generation.id}
    deeds: list[list[tuple[str, dict[str, int]]]] = [
        [(name, {}) for name in RENEWING],
        [("enter_keyword_block", {"block": 1, "size": 20}), ("build_keyword_block", {"block": 1})],
    ]
    for statements in deeds:
        before = ranked(corpus, "tide gauge salt", 40)
        with database.connection() as upkeeper, upkeeper.transaction(force_rollback=True):
            for name, values in statements:
                upkeeper.execute(queries[name], {**scope, **values})
                assert ranked(corpus, "tide gauge salt", 40) == before
        assert ranked(corpus, "tide gauge salt", 40) == before
        with connection.transaction():
            for name, values in statements:
                connection.execute(queries[name], {**scope, **values})
        assert_exact(corpus, "tide gauge salt", "ice")


def test_publishing_and_upkeep_take_turns(database: Database, connection: Connection) -> None:
    """A block that is built while a document is being published waits for it: no deadlock, and nothing is lost."""
    corpus = new_corpus(connection)
    corpus.write({number: Written(("tide gauge",)) for number in range(20)})
    chunks = corpus.chunks()
    failed: list[BaseException] = []

    def build() -> None:
        try:
            with database.connection() as builder:
                upkeep._build_block(builder, corpus.generation, 1)
        except psycopg.Error as error:
            failed.append(error)

    with connection.transaction():
        connection.execute("DELETE FROM search_entry WHERE chunk_id = %s", [chunks[-1]])
        thread = Thread(target=build)
        thread.start()
        thread.join(0.3)  # time in which it must not end
        assert thread.is_alive(), "it waits"
        connection.execute("DELETE FROM search_entry WHERE chunk_id = %s", [chunks[0]])
    thread.join(60)
    assert not thread.is_alive()
    assert not failed
    assert_exact(corpus, "tide", "gauge")
    assert len(ranked(corpus, "tide", 100)) == 18
