"""Eight processes publish the shards of one collection at once: its statistics stay exact, and searches never wait."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from psycopg import Connection

from sourcebook.database.embedded import EmbeddedServer
from sourcebook.search.query_terms import query_terms
from sourcebook.search.ranking.keyword_leg import keyword_ranking
from sourcebook.search.ranking.leg import LegRanking
from sourcebook.search.scope import find_scope
from sourcebook.stages.index_upkeep import maintain_index
from tests.checkout import CHECKOUT
from tests.integration.word_corpus import Oracle, WordCorpus, Written, new_corpus, recount, statistics, word_database

PUBLISHERS = 8
PROGRAM = """
import os
import sys
from pathlib import Path
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.indexing.generations import active_generation
from sourcebook.model.shard import Shard
from tests.integration.test_shard_publishing import documents
from tests.integration.word_corpus import WordCorpus, uri_of

url, collection, of = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(1, of + 1):
    if os.fork() == 0:
        break
else:
    sys.exit(any([os.wait()[1] for _ in range(of)]))
shard = Shard(collection, number, of)
with Database(DatabaseLocation(Path("nowhere"), url)) as database, database.connection() as connection:
    corpus = WordCorpus(connection, active_generation(connection, collection))
    os.write(1, b"ready\\n")
    os.read(0, 1)
    for version in range(3):
        written = documents(version)
        corpus.write_beside({each: written[each] for each in written if shard.takes(uri_of(each))}, shard)
"""
"""A process for each publisher, forked from one that has imported everything."""
WORDS = ("tide", "gauge", "battery", "winter", "salt", "ice", "wells", "harbour", "keel", "mast")


def documents(version: int) -> dict[int, Written]:
    """Return documents that share most of their words, some texts, and take them in ever other orders."""
    made = {}
    for number in range(96):
        order = [WORDS[(number * 7 + version * 3 + place * 3) % len(WORDS)] for place in range(8)]
        texts = (" ".join(order), " ".join(order[::-2]), f"{order[0]} {number % 5}")
        made[number] = Written(texts[: 1 + (number + version) % 3], title=order[1], language="en")
    return made


@pytest.fixture
def corpus(server: EmbeddedServer) -> Iterator[tuple[WordCorpus, str]]:
    """An active generation with a document that no publisher writes, and the URL of its database."""
    with word_database(server) as database, database.connection() as connection:
        made = new_corpus(connection)
        connection.execute(
            "UPDATE collection SET active_generation_id = %s, settings = %s WHERE name = %s",
            [made.generation.id, '{"shards": 8}', made.collection],
        )
        made.write({1_000: Written(("tide gauge",), title="salt", language="en")})
        yield made, database.url


def test_eight_publishers_keep_the_statistics_exact(corpus: tuple[WordCorpus, str]) -> None:
    """Without a wait of any search; afterwards counts are a recount's, and the ranking is plain BM25's."""
    made, url = corpus
    connection = made.connection
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, url, made.collection, str(PUBLISHERS)],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(PUBLISHERS)] == [b"ready\n"] * PUBLISHERS
    process.stdin.write(b"." * PUBLISHERS)
    process.stdin.close()
    connection.execute("SET lock_timeout = 1")  # a search that waits for any lock fails
    searches = 0
    while process.poll() is None:
        assert len(_ranked(connection, made, "tide gauge")) > 0
        searches += 1
    connection.execute("RESET lock_timeout")
    assert process.returncode == 0
    assert searches > 0
    process.stdout.close()
    assert statistics(connection, made.generation.id) == recount(connection, made.generation.id)
    texts = connection.execute(
        "SELECT text_count, (SELECT count(DISTINCT chunk.embedding_hash) FROM search_entry entry "
        "JOIN chunk ON chunk.id = entry.chunk_id WHERE entry.generation_id = generation.id) "
        "FROM generation WHERE id = %s",
        [made.generation.id],
    ).fetchone()
    assert texts is not None
    assert texts[0] == texts[1]
    maintain_index(connection, made.generation)
    oracle = Oracle(connection, [made.generation.id])
    assert len(oracle.entries) == 1 + sum(len(written.texts) for written in documents(2).values())
    for query in ("tide", "battery salt", "keel mast winter"):
        scores = oracle.scores(query, oracle.stored_average_lengths())
        oracle.assert_ranks(_ranked(connection, made, query), scores, 10)


def _ranked(connection: Connection, made: WordCorpus, query: str) -> LegRanking:
    scope = find_scope(connection, [made.collection])
    return keyword_ranking(connection, scope, query_terms(connection, scope, query), 10, None)
