"""`schema.sql` is the truth, and the migrations lead to it."""

from pathlib import Path

import psycopg
import pytest
from psycopg import Connection

from sourcebook import KnowledgeBase
from sourcebook.database import schema
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import DatabaseError
from sourcebook.model.selection import EVERYTHING
from sourcebook.parsing.registry import page_identity, parser_identities
from sourcebook.stages.documents.rows import stale_documents
from sourcebook.stages.documents.update import update_documents
from tests.conftest import CreateDatabase
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


def test_schema_and_migrations_build_the_same_database(create_database: CreateDatabase) -> None:
    catalogs = []
    for build in (schema.build_from_schema, lambda connection: schema.apply_migrations(connection, after=0)):
        with psycopg.connect(create_database("template1"), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector WITH SCHEMA public")
            connection.execute("SET search_path TO sourcebook, public")
            build(connection)
            catalogs.append({name: _rows(connection, query) for name, query in CATALOGS.items()})
    from_schema, from_migrations = catalogs
    for name in CATALOGS:
        assert from_migrations[name] == from_schema[name], name
    assert from_schema["relations"]
    assert from_schema["functions"]


def test_a_database_of_the_first_version_is_brought_up_to_date(create_database: CreateDatabase, tmp_path: Path) -> None:
    url = create_database("template1")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector WITH SCHEMA public; CREATE SCHEMA sourcebook")
        connection.execute("SET search_path TO sourcebook, public")
        first = schema.migrations()[0]
        connection.execute(first.text.encode())
        connection.execute("INSERT INTO schema_migration (version, name) VALUES (%s, %s)", [first.version, first.name])
    Database(DatabaseLocation(tmp_path, url)).close()
    with psycopg.connect(url) as connection:
        (newest,) = connection.execute("SELECT max(version) FROM sourcebook.schema_migration").fetchone() or (0,)
    assert newest == schema.migrations()[-1].version


_PUBLISHED = """
    INSERT INTO collection (name, settings) VALUES ('handbook', '{}');
    INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes)
        VALUES ('handbook', 'files', '/handbook', '{}', '{}', '{}', 1);
    INSERT INTO document (collection, source_id, uri, kind, media_type, tags, title, language, input_hash, config_hash,
                          version)
        SELECT 'handbook', id, uri, 'file', 'text/plain', '{}', title, language, '', '', 1 FROM source,
            (VALUES ('a', 'Gezeiten', 'de'), ('b', 'Tides', 'en'), ('c', NULL, NULL)) given (uri, title, language);
    INSERT INTO generation (collection, chunking, embedding, model, dimensions, configurations)
        VALUES ('handbook', '{}', '{}', 'm', 2, '{german,english,simple}');
    UPDATE collection SET active_generation_id = (SELECT id FROM generation);
    CREATE TABLE search_entry_1 PARTITION OF search_entry FOR VALUES IN (1);
    INSERT INTO indexed_document (generation_id, document_id, input_hash, config_hash, chunk_count, published_hash,
                                  published_config, published_version, published_title, published_language)
        SELECT 1, id, '', '', 1, '', '', 1, title, language FROM document;
    INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, start_char, end_char,
                       token_count, hash, embedding_hash)
        SELECT 1, document.id, 0, text, '', '{}', 0, 0, 1, '', '' FROM document
        JOIN (VALUES ('a', 'Die Häuser am Pegel'), ('b', 'houses at the gauge'), ('c', '知識庫')) given (uri, text)
            USING (uri);
    INSERT INTO search_entry (generation_id, chunk_id, document_id, vector, lexemes)
        SELECT 1, id, document_id, '[1,0]', to_tsvector('simple', text) FROM chunk;
"""


def test_what_was_searchable_before_the_keyword_leg_is_found_by_it(
    create_database: CreateDatabase, tmp_path: Path
) -> None:
    """A collection published with schema version 5 is upgraded whole: its words, their statistics, the searches."""
    url = create_database("template1")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector WITH SCHEMA public; CREATE SCHEMA sourcebook")
        connection.execute("SET search_path TO sourcebook, public")
        for migration in schema.migrations()[:5]:
            connection.execute(migration.text.encode())
            connection.execute(
                "INSERT INTO schema_migration (version, name) VALUES (%s, %s)", [migration.version, migration.name]
            )
        connection.execute(_PUBLISHED)
    with Database(DatabaseLocation(tmp_path, url)) as database:
        knowledge = KnowledgeBase(database)
        for query, uri in {"Haus": "a", "Gezeiten": "a", "house": "b", "title:tides gauge": "b", "識庫": "c"}.items():
            assert [hit.uri for hit in knowledge.search(query, mode="keyword")] == [uri], query
        with database.connection() as connection:
            assert statistics(connection, 1) == recount(connection, 1)
            assert statistics(connection, 1)["configurations"] == {"german": 1, "english": 1, "simple": 1}
        knowledge.release()


_CRAWLED = """
    INSERT INTO collection (name, settings) VALUES ('site', '{}');
    INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes)
        VALUES ('site', 'site', 'https://site.example/', '{}', '{}', '{}', 1);
    INSERT INTO crawled_page (source_id, url, status, media_type, title, language, markdown, blocks, size, sha256,
                              cleaner)
        SELECT id, 'https://site.example/' || path, 200, 'text/html', path, 'en', 'Text ' || path,
               '[["paragraph", 0, 6, 0, "", null]]', 1, sha256(path::bytea), 'c'
        FROM source, (VALUES ('a'), ('b'), ('c')) given (path);
    INSERT INTO crawled_page (source_id, url, status, media_type, content, size, sha256, cleaner)
        SELECT id, 'https://site.example/x.txt', 200, 'text/plain', 'bytes', 1, sha256('bytes'), 'c' FROM source;
    INSERT INTO parsed_content (sha256, parser, markdown, blocks, title, language, metadata, content_hash)
        SELECT sha256, %(parser)s, markdown, blocks, title, 'de', '{}', sha256 FROM crawled_page
        WHERE title IN ('a', 'b');
    UPDATE parsed_content SET markdown = 'Text of before' WHERE title = 'b';
    INSERT INTO document (collection, source_id, uri, kind, media_type, tags, title, language, input_hash, config_hash,
                          content_sha256, content_parser, content_hash, version)
        SELECT 'site', page.source_id, page.url, 'page', 'text/html', '{}', page.title, 'de', sha256, %(parser)s,
               sha256, %(parser)s, sha256, 1
        FROM crawled_page page WHERE page.title = 'a';
"""


def test_pages_crawled_before_their_text_was_stored_once_stay_current(
    create_database: CreateDatabase, tmp_path: Path
) -> None:
    """In a database of schema version 6 a page's document stays as it is; other pages are parsed from their text."""
    url = create_database("template1")
    with psycopg.connect(url, autocommit=True) as connection, psycopg.ClientCursor(connection) as cursor:
        cursor.execute("CREATE EXTENSION vector WITH SCHEMA public; CREATE SCHEMA sourcebook")
        cursor.execute("SET search_path TO sourcebook, public")
        for migration in schema.migrations()[:6]:
            cursor.execute(migration.text.encode())
            cursor.execute(
                "INSERT INTO schema_migration (version, name) VALUES (%s, %s)", [migration.version, migration.name]
            )
        cursor.execute(_CRAWLED, {"parser": page_identity()})
    with Database(DatabaseLocation(tmp_path, url)) as database, database.connection() as connection:
        before = connection.execute("SELECT * FROM document").fetchall()
        stale = stale_documents(connection, "site", parser_identities(), EVERYTHING)
        assert [item.uri.rpartition("/")[2] for item in stale] == ["b", "c", "x.txt"]
        report = update_documents(connection, "site")
        assert (report.added, report.changed, report.unchanged, report.failed) == (3, 0, 1, 0)
        assert connection.execute("SELECT * FROM document WHERE title = 'a'").fetchall() == before
        assert stale_documents(connection, "site", parser_identities(), EVERYTHING) == []
        texts = connection.execute(
            "SELECT page.title, parsed.markdown, page.parser = %s FROM crawled_page page "
            "JOIN parsed_content parsed USING (sha256, parser) ORDER BY 1",
            [page_identity()],
        ).fetchall()
    assert texts == [("a", "Text a", True), ("b", "Text of before", True), ("c", "Text c", True)]


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


def _rows(connection: Connection, query: str) -> list[tuple[object, ...]]:
    return sorted(connection.execute(query.encode()).fetchall(), key=repr)
