"""The files of schema/ are the truth, and migrations lead the databases of every release to it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from sourcebook import KnowledgeBase
from sourcebook.admin.access_keys import find_key
from sourcebook.admin.items import list_items
from sourcebook.contract.listing import DocumentsRequest
from sourcebook.database import schema
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import DatabaseError
from sourcebook.transfer.importing import import_collections
from tests.conftest import TEMPLATE, CreateDatabase
from tests.integration.releases.databases import KEPT, RELEASES, build_checkout, build_release
from tests.integration.word_corpus import recount, statistics

CATALOGS = {
    "relations": """
        SELECT relname, relkind, relpersistence, relispartition, pg_get_partkeydef(pg_class.oid), reloptions,
               pg_get_expr(relpartbound, pg_class.oid), obj_description(pg_class.oid)
        FROM pg_class WHERE relnamespace = 'sourcebook'::regnamespace""",
    "columns": """
        SELECT attrelid::regclass::text, row_number() OVER (PARTITION BY attrelid ORDER BY attnum), attname,
               format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, attstorage, attcompression,
               attcollation::regcollation::text, pg_get_expr(adbin, adrelid),
               col_description(attrelid, attnum)
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = 'sourcebook'::regnamespace AND attnum > 0 AND NOT attisdropped""",
    "constraints": """
        SELECT conname, conrelid::regclass::text, contype, condeferrable, convalidated, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'sourcebook'::regnamespace""",
    "indexes": """
        SELECT indexrelid::regclass::text, indisunique, indisvalid, pg_get_indexdef(indexrelid)
        FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = 'sourcebook'::regnamespace""",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'sourcebook'",
    "functions": """
        SELECT oid::regprocedure::text, pg_get_functiondef(oid) FROM pg_proc
        WHERE pronamespace = 'sourcebook'::regnamespace AND prokind <> 'a'""",
    "aggregates": """
        SELECT aggfnoid::regprocedure::text, aggtransfn::text, aggtranstype::regtype::text, agginitval
        FROM pg_aggregate JOIN pg_proc ON pg_proc.oid = aggfnoid WHERE pronamespace = 'sourcebook'::regnamespace""",
    "triggers": "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "types": "SELECT typname, typtype FROM pg_type WHERE typnamespace = 'sourcebook'::regnamespace",
    "migrations": "SELECT version, name FROM schema_migration",
}


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_and_the_migrations_after_it_make_the_newest_schema(
    create_database: CreateDatabase, tmp_path: Path, release: str
) -> None:
    """A change of schema/ has its migration; until the first one, the release's schema is today's."""
    upgraded, fresh = create_database("template1"), create_database("template1")
    build_release(upgraded, release, "schema.sql")
    for url in (upgraded, fresh):
        Database(DatabaseLocation(tmp_path, url)).close()
    assert _catalogs(upgraded) == _catalogs(fresh)


@pytest.mark.parametrize("release", RELEASES)
def test_a_database_of_a_release_is_opened_whole(create_database: CreateDatabase, tmp_path: Path, release: str) -> None:
    """Words, vectors, lists, tags, generations, keys and judgments answer as they did, and it goes on from there."""
    url = create_database("template1")
    build_release(url, release)
    with (
        Database(DatabaseLocation(tmp_path, url)) as database,
        KnowledgeBase(database, query_embedder=TurnedEmbedder()) as knowledge,
        database.connection() as connection,
    ):
        for query, uri in {
            "Haus": "pegel",
            "Gezeiten": "pegel",
            "house": "gauge",
            "title:tides gauge": "gauge",
        }.items():
            assert [hit.uri for hit in knowledge.search(query, mode="keyword")] == [uri], query
        assert [hit.uri for hit in knowledge.search("?", mode="vector")] == ["pegel", "gauge"]
        assert [hit.uri for hit in knowledge.search("gauge", mode="keyword", generation=2)] == ["gauge"]
        assert knowledge.search("house", filters={"tags": ["checked"]})[0].metadata == {"author": "Ann"}
        assert len(knowledge.search("house", filters={"tags": ["elsewhere"]})) == 0
        shown = [(item.uri, item.state) for item in list_items(connection, DocumentsRequest(removed=True))]
        ours = {"gauge", "gone", "pegel", "talk", "https://site.example/tides", "upload://0123/notes"}
        assert {uri for uri, _ in shown} == ours
        assert [uri for uri, state in shown if state == "removed"] == ["gone"]
        key = find_key(connection, "sb_of_0_1_0")
        assert key is not None
        assert (key.name, key.scopes) == ("reader", ("read",))
        assert connection.execute("SELECT query, uri, grade FROM judgment").fetchall() == [("house", "gauge", 2)]
        connection.execute("DELETE FROM search_entry WHERE generation_id = 1 AND lexemes @@ 'hous'")
        assert [hit.uri for hit in knowledge.search("house", mode="keyword", generation=1)] == []
        for generation in (1, 2):
            assert statistics(connection, generation) == recount(connection, generation)


@pytest.mark.parametrize("release", RELEASES)
def test_an_export_of_a_release_is_imported(create_database: CreateDatabase, tmp_path: Path, release: str) -> None:
    """Its documents are found as they were, with their tags; the judgment is there."""
    pytest.importorskip("pyarrow")
    with Database(DatabaseLocation(tmp_path, create_database(TEMPLATE))) as database:
        imported = import_collections(database, KEPT / release / "export")
        assert (imported.collections, imported.documents, imported.passages) == (("handbook",), 2, 2)
        with KnowledgeBase(database) as knowledge:
            first = knowledge.search("when is the tide gauge read?")[0]
            assert (first.title, first.tags) == ("Tide gauge", ("sea", "checked"))
            assert knowledge.search("Haus", mode="keyword")[0].title == "Der Pegel"
        with database.connection() as connection:
            assert connection.execute("SELECT query, grade FROM judgment").fetchall() == [("gauge", 1)]
            assert statistics(connection, 1) == recount(connection, 1)


def test_a_database_of_the_last_checkout_is_taken_over(create_database: CreateDatabase, tmp_path: Path) -> None:
    """Whichever of two processes opens it first; it goes on from there."""
    fresh, bare, url = create_database(TEMPLATE), create_database("template1"), create_database("template1")
    build_checkout(bare, 58, "schema.sql")
    with ThreadPoolExecutor(2) as processes:
        for opened in [processes.submit(Database, DatabaseLocation(tmp_path, bare)) for _ in range(2)]:
            opened.result().close()
    assert _catalogs(bare) == _catalogs(fresh)
    build_checkout(url, 58)
    with psycopg.connect(url) as connection:  # settings that only checkouts had
        connection.execute('UPDATE sourcebook.collection SET settings = settings || \'{"speech": {"device": "cpu"}}\'')
        site = {"url": "https://docs.example.com/", "cookies": True}
        connection.execute("UPDATE sourcebook.collection SET settings = settings || %s", [Jsonb({"sites": [site]})])
        connection.execute("UPDATE sourcebook.source SET kind = 'site', settings = %s", [Jsonb(site)])
        connection.execute("UPDATE sourcebook.generation SET embedding = embedding || '{\"low_memory\": true}'")
    with Database(DatabaseLocation(tmp_path, url)) as database, database.connection() as connection:
        assert connection.execute("SELECT settings -> 'speech' FROM collection").fetchone() == ({},)
        taken = {"url": "https://docs.example.com/", "request": {"cookies": True}}
        assert connection.execute("SELECT DISTINCT settings FROM source").fetchall() == [(taken,)]
        assert connection.execute("SELECT settings -> 'sites' FROM collection").fetchone() == ([taken],)
        assert connection.execute("SELECT DISTINCT embedding ? 'low_memory' FROM generation").fetchall() == [(False,)]
        connection.execute("DELETE FROM search_entry WHERE lexemes @@ 'hous'")
        assert statistics(connection, 1) == recount(connection, 1)
        with KnowledgeBase(database) as knowledge:
            assert [hit.uri for hit in knowledge.search("Haus", mode="keyword")] == ["pegel"]


@pytest.mark.parametrize("newest", [1, 57])
def test_a_database_of_an_older_checkout_is_refused_with_the_way_out(
    create_database: CreateDatabase, tmp_path: Path, newest: int
) -> None:
    url = create_database("template1")
    build_checkout(url, newest)
    before = _catalogs(url)
    with pytest.raises(DatabaseError, match=r"before the release 0\.1\.0; run  sourcebook export .* sourcebook import"):
        Database(DatabaseLocation(tmp_path, url))
    assert _catalogs(url) == before


def test_migrations_are_numbered_from_one_without_a_gap() -> None:
    assert [migration.version for migration in schema.migrations()] == list(range(1, len(schema.migrations()) + 1))


def test_a_database_of_a_newer_version_is_refused(create_database: CreateDatabase, tmp_path: Path) -> None:
    url = create_database("template1")
    Database(DatabaseLocation(tmp_path, url)).close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO sourcebook.schema_migration (version, name) VALUES (9999, 'from_the_future')")
    with pytest.raises(DatabaseError, match=r"schema version 9999, .* upgrade Sourcebook"):
        Database(DatabaseLocation(tmp_path, url))


def test_an_old_pgvector_is_refused_with_the_command_that_mends_it(
    server: EmbeddedServer, create_database: CreateDatabase, tmp_path: Path
) -> None:
    """The version is PostgreSQL's own record of the extension; here it is made to tell of an older one."""
    url = create_database("template1")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector WITH SCHEMA public")
        connection.execute("UPDATE pg_extension SET extversion = '0.8.3' WHERE extname = 'vector'")
    with pytest.raises(DatabaseError) as refused:
        Database(DatabaseLocation(tmp_path, url))
    assert "pgvector 0.8.3 is too old, 0.8.4 or newer is needed" in str(refused.value)
    assert "ALTER EXTENSION vector UPDATE" in str(refused.value)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regclass('sourcebook.document')").fetchone() == (None,)


@pytest.mark.parametrize("version", ["0.8.4", "0.8.10", "0.9.0", "1.0"])
def test_a_newer_pgvector_is_taken(create_database: CreateDatabase, tmp_path: Path, version: str) -> None:
    url = create_database("template1")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector WITH SCHEMA public")
        connection.execute("UPDATE pg_extension SET extversion = %s WHERE extname = 'vector'", [version])
    Database(DatabaseLocation(tmp_path, url)).close()


def test_a_server_that_cannot_be_reached_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="cannot be reached"):
        Database(DatabaseLocation(tmp_path, "postgresql://nobody@127.0.0.1:1/nothing"))


class TurnedEmbedder:
    """Embeds every question near the passage of `pegel`."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.array([0.6, 0.8], dtype=np.float32)

    def close(self) -> None:
        pass


def _catalogs(url: str) -> dict[str, list[tuple[object, ...]]]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path TO sourcebook, public")
        return {
            name: sorted(connection.execute(query.encode()).fetchall(), key=repr) for name, query in CATALOGS.items()
        }
