"""The statements of the search path beside the vector leg's: the indexes they must use, and the locks they take."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, LiteralString

import pytest
from psycopg import Connection, sql

from sourcebook import KnowledgeBase
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.queries import queries
from sourcebook.indexing.graphs import maintain_indexes
from sourcebook.model.generation import Generation
from sourcebook.search.query_syntax import parse_query
from sourcebook.search.query_terms import query_terms, with_stand_ins
from sourcebook.search.ranking.keyword_leg import keyword_plan, keyword_ranking
from sourcebook.search.ranking.required_terms import required_terms
from sourcebook.search.scope import EntryCondition, SearchScope, find_scope
from tests.integration.word_corpus import WordCorpus, Written, new_corpus, word_database

ENTRIES = 4_000
"""Entries of the generation whose plans are read."""
ENTRIES_OF_THE_OTHER = 400
IN_NO_BLOCK = 100


@pytest.fixture(scope="module")
def database(server: EmbeddedServer) -> Iterator[Database]:
    with word_database(server) as database:
        yield database


@pytest.fixture(scope="module")
def corpora(database: Database) -> Iterator[tuple[WordCorpus, WordCorpus]]:
    """A generation of many entries beside another, most of them in a block; indexes built and statistics fresh."""
    with database.connection() as connection:
        made = (new_corpus(connection), new_corpus(connection))
        for corpus, entries in zip(made, (ENTRIES, ENTRIES_OF_THE_OTHER), strict=True):
            corpus.write({0: Written(("word1 common",), title="Many", language="en")})
            generation = corpus.generation
            scope = {"generation": generation.id, "entries": entries, "block": 1, "size": entries - IN_NO_BLOCK}
            connection.execute(
                "WITH made AS (INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, "
                "start_char, end_char, token_count, hash, embedding_hash) SELECT generation_id, document_id, number, "
                "'word' || number || ' common', '', '{}', 0, 0, 1, '', '' FROM chunk, generate_series(1, %(entries)s) "
                "number WHERE generation_id = %(generation)s RETURNING *) "
                "INSERT INTO search_entry (generation_id, chunk_id, document_id, vector, lexemes, configuration) "
                "SELECT generation_id, id, document_id, '[1,0]', to_tsvector('english', text), 'english' FROM made",
                scope,
            )
            connection.execute(queries["enter_keyword_block"], scope)
            connection.execute(queries["build_keyword_block"], scope)
            maintain_indexes(connection, generation, entries=entries, moved=entries)
        connection.execute("VACUUM ANALYZE")
        yield made


def plan(
    connection: Connection,
    name: str,
    parameters: dict[str, Any] | None,
    condition: LiteralString = "TRUE",
    literals: dict[str, sql.Literal] | None = None,
) -> list[dict[str, Any]]:
    """Return the nodes of the plan that PostgreSQL chooses by itself."""
    statement: sql.Composable = queries[name]
    if "matching" in name or literals:
        statement = queries[name].format(condition=sql.SQL(condition), **(literals or {}))
    row = connection.execute(sql.Composed([sql.SQL("EXPLAIN (FORMAT json) "), statement]), parameters).fetchone()
    assert row is not None
    return list(_nodes(row[0][0]["Plan"]))


def plan_of_function(connection: Connection, name: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes of the plan that a session makes once for the statement of a function."""
    # SQL here: the source of a function of the schema, as the server has it.
    row = connection.execute("SELECT prosrc FROM pg_proc WHERE oid = %s::regproc", [name]).fetchone()
    assert row is not None
    source = row[0].partition("RETURN QUERY")[2].rpartition(";\nEND")[0]
    for number, parameter in enumerate(parameters, start=1):
        source = re.sub(rf"\b{parameter}\)", f"${number})", source)
    with connection.transaction(force_rollback=True):
        connection.execute("SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off")
        connection.execute(f"PREPARE statement_of_function AS {source}".encode())
        values = sql.SQL(", ").join(map(sql.Literal, parameters.values()))
        explained = sql.SQL("EXPLAIN (FORMAT json) EXECUTE statement_of_function ({})").format(values)
        row = connection.execute(explained).fetchone()
        connection.execute("DEALLOCATE statement_of_function")
    assert row is not None
    return list(_nodes(row[0][0]["Plan"]))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


def relations(nodes: list[dict[str, Any]]) -> set[str]:
    return {node["Relation Name"] for node in nodes if "Relation Name" in node}


def indexes(nodes: list[dict[str, Any]]) -> set[str]:
    return {node["Index Name"] for node in nodes if "Index Name" in node}


def scanned(nodes: list[dict[str, Any]]) -> set[str]:
    """Return the tables that are read from end to end."""
    return {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"}


def of(generation: Generation, **values: Any) -> dict[str, Any]:
    return {"generations": [generation.id], "generation": generation.id, "depth": 10, **values}


def test_words_are_looked_up_in_the_vocabulary_by_key(
    connection: Connection, corpora: tuple[WordCorpus, WordCorpus]
) -> None:
    """How rare a word is costs a look at the index of lexemes, however many entries there are."""
    generation = corpora[0].generation
    words = {"content": "the common word17 elsewhere", "generations": [generation.id]}
    for nodes in (
        plan_of_function(connection, "query_words", words),
        plan(connection, "lexemes_named", of(generation, tokens=["word17", "common"])),
    ):
        assert "lexeme_pkey" in indexes(nodes)
        assert "lexeme" not in scanned(nodes)
        assert not {table for table in relations(nodes) if "entry" in table}


def test_the_nearest_words_come_from_both_ends_of_the_vocabulary(
    connection: Connection, corpora: tuple[WordCorpus, WordCorpus]
) -> None:
    parameters = of(corpora[0].generation, beginning="word12", ending="rd123", other="", shortest=5, longest=9)
    nodes = plan(connection, "lexemes_beginning_or_ending", parameters)
    assert indexes(nodes) == {"lexeme_pkey", "lexeme_reversed"}
    assert scanned(nodes) == set()


def test_required_terms_are_read_without_entries(
    connection: Connection, corpora: tuple[WordCorpus, WordCorpus]
) -> None:
    nodes = plan(connection, "required_terms", of(corpora[0].generation, texts=["a phrase"], labels=[""]))
    assert relations(nodes) == {"text_configuration"}


def test_the_best_entries_are_looked_up_in_their_own_partition(
    connection: Connection, corpora: tuple[WordCorpus, WordCorpus]
) -> None:
    """Entries in blocks are read by key where they are candidates; entries in no block through their own index."""
    corpus = corpora[0]
    scope = corpus.scope()
    terms = query_terms(connection, scope, "common word17")
    found = keyword_plan(connection, scope, terms, 10)
    number = corpus.generation.id
    assert f"keyword_entry_{number}_pkey" in found
    assert f"keyword_entry_{number}_generation_id_chunk_id_idx" in found
    assert "Seq Scan" not in found
    assert f"keyword_entry_{corpora[1].generation.id}" not in found
    assert "search_entry" not in found
    assert len(keyword_ranking(connection, scope, terms, 10)) == 10


def test_of_a_block_only_the_candidates_are_read(
    connection: Connection, corpora: tuple[WordCorpus, WordCorpus]
) -> None:
    """Candidates are looked up by their slots, whatever the planner expects: it has no way to join whole blocks."""
    corpus = corpora[0]
    number = corpus.generation.id
    terms = query_terms(connection, corpus.scope(), "word17 word18")
    # SQL here: what only a test looks at.
    candidates = "SELECT count(*) FROM block_candidates(%s, %s, %s::real[], 10)"
    reading = "SELECT idx_scan, coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_all_tables WHERE relname = %s"
    read = []
    with connection.transaction():
        connection.execute("SET LOCAL enable_nestloop = off; DISCARD PLANS")
        for _ in range(2):
            row = connection.execute(reading, [f"keyword_entry_{number}"]).fetchone()
            read.append(row or (0, 0))
            given = [number, [term.ids[number] for term in terms], [term.weight for term in terms]]
            assert connection.execute(candidates, given).fetchone() == (2,)
    connection.execute("DISCARD PLANS")
    assert read[1][0] - read[0][0] == 2  # look-ups, by the index alone where its pages are known to be visible
    assert read[1][1] - read[0][1] in (0, 2)
    with connection.transaction(force_rollback=True):
        # SQL here: what only a test looks at.
        first = "(SELECT min(chunk_id) FROM block_candidates(%s, %s, %s::real[], 10))"
        connection.execute(f"UPDATE keyword_entry SET count_id = 17 WHERE chunk_id = {first}", given)
        seen = candidates.replace("10)", "10, 10, %s)")
        for counts, number_of_them in (("{0}", 1), ("{17}", 1), ("{0,17}", 2), ("{9}", 0)):
            assert connection.execute(seen, [*given, counts]).fetchone() == (number_of_them,)


def test_candidates_are_held_against_a_condition_by_key(
    connection: Connection, corpora: tuple[WordCorpus, WordCorpus]
) -> None:
    scope, number = corpora[0].scope(), corpora[0].generation.id
    terms = query_terms(connection, scope, "common word17")
    seen = keyword_plan(connection, scope, terms, 10, EntryCondition(sql.SQL("TRUE"), counts="{0}"))
    assert f"keyword_entry_{number}_pkey" in seen
    assert "Seq Scan" not in seen
    assert "search_entry" not in seen
    for condition, index in (
        ("entry.document_id <> 0", "Index Only Scan using search_entry_{}_chunk_id_generation_id_document_id_idx"),
        ("entry.lexemes @@ 'word17'", "search_entry_{}_"),
    ):
        found = keyword_plan(connection, scope, terms, 10, EntryCondition(sql.SQL(condition)))
        assert index.format(number) in found
        assert "Seq Scan" not in found
        assert f"search_entry_{corpora[1].generation.id}" not in found


def test_entries_that_fulfil_a_selective_condition_come_from_the_index_of_lexemes(
    connection: Connection, corpora: tuple[WordCorpus, WordCorpus]
) -> None:
    generation = corpora[0].generation
    parameters = of(generation, query="{1:1}/1000000000")
    nodes = plan(connection, "best_matching_keyword_entries", parameters, "entry.lexemes @@ 'word17'::tsquery")
    assert {f"search_entry_{generation.id}_lexemes", f"keyword_entry_{generation.id}_pkey"} <= indexes(nodes)
    assert scanned(nodes) == set()
    assert not {table for table in relations(nodes) if table.endswith(f"_{corpora[1].generation.id}")}
    seen = "entry.document_id IN (SELECT id FROM document WHERE audience_id = ANY('{3}') AND collection = ANY('{x}'))"
    nodes = plan(connection, "best_matching_keyword_entries", parameters, seen)
    by_document = f"search_entry_{generation.id}_generation_id_document_id_chunk_id_idx"
    assert indexes(nodes) == {by_document, f"keyword_entry_{generation.id}_pkey"}
    assert {node["Node Type"] for node in nodes if node.get("Index Name") == by_document} == {"Index Only Scan"}


def test_passages_are_read_by_key(connection: Connection, corpora: tuple[WordCorpus, WordCorpus]) -> None:
    generation, chunks = corpora[0].generation, corpora[0].chunks()[:5]
    for nodes in (
        plan(connection, "passages", of(generation, chunks=chunks)),
        plan(
            connection,
            "first_passages",
            of(generation, chunks=chunks, shown=chunks[:2], tokens=["common"], least=16, head=60),
        ),
    ):
        assert not {table for table in scanned(nodes) if "entry" in table}
        assert f"search_entry_{corpora[1].generation.id}" not in relations(nodes)
    nodes = plan_of_function(connection, "passages_of", {"chunks": chunks})
    assert "chunk_pkey" in indexes(nodes)
    assert scanned(nodes) <= {"source"}, "a row a source, of which there are few"


def test_the_words_that_passages_hold_are_read_by_key(
    connection: Connection, corpora: tuple[WordCorpus, WordCorpus]
) -> None:
    """The relevance of a page costs a look at its entries, however many others there are."""
    generation = corpora[0].generation
    chunks = corpora[0].chunks()[:5]
    for statement in ("matched_words", "holders_of_words"):
        nodes = plan(connection, statement, of(generation, chunks=chunks, tokens=["word17", "common"]))
        assert f"search_entry_{generation.id}_chunk_id_generation_id_document_id_idx" in indexes(nodes)
        assert scanned(nodes) == set()


def test_the_scope_is_read_without_touching_entries(
    connection: Connection, corpora: tuple[WordCorpus, WordCorpus]
) -> None:
    asked = {"collections": sql.Literal([corpora[0].collection]), "chosen": sql.Literal(None)}
    nodes = plan(connection, "search_scope", None, literals=asked)
    read = {"collection", "generation", "indexed_document", "text_configuration", "pg_index", "pg_class"}
    read |= {"document_abbreviation", "curated_collection"}  # whether there is any
    assert relations(nodes) == read


def test_runs_of_words_are_planned_as_the_few_that_they_are(connection: Connection) -> None:
    """Planned for millions, their table took most of the time, and a server that compiles plans compiled this one."""
    wanted: dict[str, object] = {"collections": ["any"], "words": ["gdpr"], "configurations": ["english", "german"]}
    wanted |= {"text": "what does the GDPR say of fines", "most": 64, "further": list(range(8))}
    nodes = plan(connection, "explained_abbreviations", wanted)
    assert nodes[0]["Total Cost"] < 10_000
    assert connection.execute("SHOW jit").fetchone() == ("off",)


def whole_leg(connection: Connection, scope: SearchScope, query: str) -> list[int]:
    """Everything that the keyword leg asks of the database."""
    parsed = parse_query(query)
    conditions, _ = required_terms(connection, scope, parsed)
    terms = with_stand_ins(connection, scope, query_terms(connection, scope, parsed.text), typos=True)
    condition = EntryCondition.all_of(conditions)
    return [chunk for chunk, _ in keyword_ranking(connection, scope, terms, 10, condition)]


def test_a_search_takes_no_lock_that_anything_waits_for(
    connection: Connection, corpora: tuple[WordCorpus, WordCorpus]
) -> None:
    """AccessShare is all that a reader holds."""
    with connection.transaction():
        scope = find_scope(connection, [each.collection for each in corpora])
        assert whole_leg(connection, scope, 'common wrod17 title:many -word9 "common"')
        locks = connection.execute(
            "SELECT DISTINCT mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation IS NOT NULL"
        ).fetchall()
    assert locks == [("AccessShareLock",)]


def test_publishing_and_searching_do_not_wait_for_each_other(
    database: Database, connection: Connection, corpora: tuple[WordCorpus, WordCorpus]
) -> None:
    """A transaction that has published and is still open hides its entries; one that has searched blocks no other."""
    corpus = corpora[1]
    knowledge = KnowledgeBase(database)

    def found() -> list[str]:
        hits = knowledge.search("word17 freshly", corpus.collection, mode="keyword", limit=3, explain=True)
        return [hit.text for hit in hits]

    with ThreadPoolExecutor(1) as other, connection.transaction(force_rollback=True):
        connection.execute(
            "UPDATE search_entry SET lexemes = 'freshly:1' WHERE generation_id = %s AND lexemes @@ 'word17'",
            [corpus.generation.id],
        )
        assert other.submit(found).result(timeout=60) == ["word17 common"]
    with database.connection() as reader, reader.transaction():
        whole_leg(reader, corpus.scope(), "common word17")
        corpus.connection.execute("SET lock_timeout = '5s'")
        corpus.write({1: Written(("freshly published",), language="en")})
        corpus.connection.execute("RESET lock_timeout")
    assert found() == ["word17 common", "freshly published"]
    knowledge.release()
