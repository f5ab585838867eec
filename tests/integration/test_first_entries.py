"""The first entries of a generation that nobody searches: published at once, with statistics that equal a count."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest
from psycopg import Connection

from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.indexing import first_entries
from sourcebook.indexing.damage import find_damage
from sourcebook.model.generation import Generation
from sourcebook.search.query_terms import query_terms
from sourcebook.search.ranking.keyword_leg import keyword_ranking
from sourcebook.stages import index_upkeep, search_index
from sourcebook.stages.index_upkeep import maintain_index
from sourcebook.stages.search_index import publish
from tests.integration.word_corpus import Oracle, WordCorpus, Written, new_corpus, recount, statistics, word_database

DOCUMENTS = {
    0: Written(("tide gauge station", "tide tables for the harbour", "")),
    1: Written(("The batteries of the gauge", "tide gauge station"), title="Power", language="en"),
    2: Written(("Die Häuser am Pegel stehen schief",), title="Pegel", language="de", heading="Bericht"),
    3: Written(("...",)),
    4: Written(tuple(f"station {number} repeats tide tide" for number in range(5)), language="en"),
}
QUERIES = ("tide gauge", "station", "pegel häuser", "batteries")


@pytest.fixture(scope="module")
def database(server: EmbeddedServer) -> Iterator[Database]:
    with word_database(server) as database:
        yield database


@pytest.fixture
def corpus(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> WordCorpus:
    """A generation that is built beside an active one, with blocks of three entries."""
    monkeypatch.setattr(search_index, "BATCH", 1)
    monkeypatch.setattr(search_index, "FIRST_BATCH", 2)
    monkeypatch.setattr(first_entries, "KEYWORD_BLOCK", 3)
    monkeypatch.setattr(index_upkeep, "FEWEST_OF_A_BLOCK", 1)
    corpus = new_corpus(connection)
    corpus.generation = replace(corpus.generation, is_active=False)
    return corpus


def assert_exact(corpus: WordCorpus) -> None:
    """Assert that what is kept equals a count, and that rankings are those of BM25."""
    connection, generation = corpus.connection, corpus.generation.id
    assert statistics(connection, generation) == recount(connection, generation)
    counted = connection.execute(
        "SELECT text_count, (SELECT count(DISTINCT embedding_hash) FROM search_entry entry JOIN chunk "
        "ON chunk.id = entry.chunk_id WHERE entry.generation_id = %(id)s) FROM generation WHERE id = %(id)s",
        {"id": generation},
    ).fetchone()
    assert counted is not None
    assert counted[0] == counted[1]
    assert find_damage(connection, corpus.generation, deep=True).statistics == {}
    oracle = Oracle(connection, [generation])
    scope = corpus.scope()
    for query in QUERIES:
        ranking = keyword_ranking(connection, scope, query_terms(connection, scope, query), 10)
        oracle.assert_ranks(ranking, oracle.scores(query, oracle.stored_average_lengths()), 10)


def test_first_entries_have_the_statistics_that_triggers_would_have_kept(corpus: WordCorpus) -> None:
    """Vocabulary, counts, weights, blocks and sums; the average length is that of all entries."""
    with corpus.connection.transaction():
        report = corpus.write(DOCUMENTS)
        updated = corpus.connection.execute(
            "SELECT n_tup_ins > 0, n_tup_upd FROM pg_stat_xact_user_tables WHERE relname = 'lexeme'"
        ).fetchone()
    assert updated == (True, 0), "each row of the vocabulary is written once"
    assert report.added == sum(len(written.texts) for written in DOCUMENTS.values()) == 12
    assert_exact(corpus)
    oracle = Oracle(corpus.connection, [corpus.generation.id])
    assert oracle.stored_average_lengths() == pytest.approx(oracle.average_lengths(), rel=1e-6)
    found = corpus.connection.execute(
        "SELECT block, entries FROM keyword_block_size WHERE generation_id = %s ORDER BY 1", [corpus.generation.id]
    ).fetchall()
    assert found == [(1, 3), (2, 3), (3, 3)]
    upkeep = maintain_index(corpus.connection, corpus.generation)
    assert (upkeep.changed, upkeep.extra.get("blocks", 0)) == (0, 0), "nothing is left to do"
    assert_exact(corpus)


def test_what_a_block_has_needed_is_given_back(corpus: WordCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """The C library would keep it in pieces: memory grew with the number of blocks."""
    given: list[None] = []
    monkeypatch.setattr(first_entries, "return_freed_memory", lambda: given.append(None))
    corpus.write(DOCUMENTS)
    assert len(given) >= 3, "three full blocks"


def test_counting_takes_as_much_memory_for_many_entries_as_for_few(
    corpus: WordCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though each brings words of its own: the vocabulary is kept by the database."""
    peaks: list[int] = []

    def measured(connection: Connection, generation: Generation) -> None:
        tracemalloc.start()
        try:
            first_entries.count_statistics(connection, generation)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()

    monkeypatch.setattr(search_index, "count_statistics", measured)
    for passages in (12, 60):
        documents = {
            number: Written((" ".join(f"q{number}w{word}" for word in range(1_000)),)) for number in range(passages)
        }
        other = new_corpus(corpus.connection)
        other.generation = replace(other.generation, is_active=False)
        assert other.write(documents).added == passages
        lexemes = "SELECT count(*) FROM lexeme WHERE generation_id = %s"
        assert other.connection.execute(lexemes, [other.generation.id]).fetchone() == (1_000 * passages,)
    assert peaks[1] < 1.2 * peaks[0]


def test_what_follows_the_first_entries_is_counted_by_triggers(corpus: WordCorpus) -> None:
    """New, changed and removed documents move the numbers from true values."""
    corpus.write(DOCUMENTS)
    corpus.write({1: Written(("The mast was replaced",), title="Power", language="en"), 9: Written(("tide mill",))})
    assert_exact(corpus)
    corpus.remove(0, 4)
    assert_exact(corpus)
    corpus.write({2: replace(DOCUMENTS[2], title="Der schiefe Pegel")})
    assert_exact(corpus)


def prepare(corpus: WordCorpus) -> None:
    """Write the documents without publishing them."""
    with corpus.connection.transaction():
        for number, written in DOCUMENTS.items():
            corpus._write(number, written)


def test_a_failure_on_the_way_leaves_the_generation_as_it_was(corpus: WordCorpus) -> None:
    """Neither entries nor numbers, nor documents that say they are published; the next run publishes all."""

    def stop(done: int, total: int, failed: int = 0) -> None:
        if done > 2:
            raise KeyboardInterrupt

    prepare(corpus)
    with pytest.raises(KeyboardInterrupt):
        publish(corpus.connection, corpus.generation, stop)
    assert corpus.chunks() == []
    assert statistics(corpus.connection, corpus.generation.id) == recount(corpus.connection, corpus.generation.id)
    assert publish(corpus.connection, corpus.generation).added == 12
    assert_exact(corpus)


def test_an_active_generation_is_published_document_by_document(corpus: WordCorpus) -> None:
    """Searches find its first documents while the others are being published."""
    corpus.generation = replace(corpus.generation, is_active=True)
    seen: list[int] = []
    prepare(corpus)
    publish(corpus.connection, corpus.generation, lambda done, total, failed=0: seen.append(len(corpus.chunks())))
    assert seen == [3, 5, 6, 7, 12]
    assert_exact(corpus)


def test_a_text_counts_once_however_many_entries_one_statement_adds(corpus: WordCorpus) -> None:
    """Also where entries of an earlier statement have it: twenty copies, ten more, and one that goes."""
    corpus.generation = replace(corpus.generation, is_active=True)
    corpus.write({0: Written(("the same warning",) * 20)})
    corpus.write({1: Written((*("the same warning",) * 10, "a new one"))})
    assert_exact(corpus)
    corpus.remove(0)
    assert_exact(corpus)
    corpus.remove(1)
    assert_exact(corpus)


@pytest.mark.parametrize("table", ["generation", "collection"])
def test_the_blocks_of_a_deleted_generation_go_with_it(corpus: WordCorpus, table: str) -> None:
    """With the generation itself, and with its collection; other generations keep theirs."""
    corpus.write(DOCUMENTS)
    other = new_corpus(corpus.connection)
    other.generation = replace(other.generation, is_active=False)
    other.write(DOCUMENTS)
    key = corpus.generation.id if table == "generation" else corpus.collection
    column = "id" if table == "generation" else "name"
    corpus.connection.execute(f"DELETE FROM {table} WHERE {column} = %s".encode(), [key])
    left = corpus.connection.execute(
        "SELECT DISTINCT generation_id FROM keyword_block WHERE generation_id = ANY(%s)",
        [[corpus.generation.id, other.generation.id]],
    ).fetchall()
    assert left == [(other.generation.id,)]
