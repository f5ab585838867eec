"""Filters in the database: each finds the documents that it says, and no text of a filter is ever SQL."""

import datetime as dt
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import Connection, sql
from psycopg.types.json import Jsonb

from sourcebook.config.collection import ChunkingSettings, EmbeddingSettings
from sourcebook.contract.filters import Filters
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import QueryError
from sourcebook.indexing.generations import create_generation
from sourcebook.search.ranking.filter_conditions import condition_of
from tests.conftest import TEMPLATE

HOSTILE = "'); DROP TABLE document; --"
METADATA: dict[str, dict[str, Any]] = {
    "manual.pdf": {"created": "2023-12-31T23:30:00-01:00", "year": 2020, "author": "Ann", "version": "2"},
    "news": {"published": "2024-05-31", "modified": "2025-01-01", "year": 2020.5, "author": ["Ann", "Bob"]},
    "old": {"date": "1999", "year": "2020", "draft": True, "person": {"name": "Cyd", "born": "1970-01-01"}},
    "talk.mp3": {"date": "last summer", "created": "2024-06-01T00:00:00Z", "draft": False, "author": None},
    HOSTILE: {"key'; --": HOSTILE, "100%_": "%", "author": "b", "$gte": 1},
    "plain": {},
}
FIELDS: dict[str, dict[str, Any]] = {
    "manual.pdf": {"media_type": "application/pdf", "tags": ["policy", "a b"], "language": "en"},
    "news": {"kind": "page", "media_type": "text/html", "tags": ["policy", "news"], "language": "de"},
    "old": {"kind": "page", "media_type": "text/html", "tags": ["news"], "language": None},
    "talk.mp3": {"kind": "recording", "media_type": "audio/mpeg", "tags": [], "language": "en"},
    HOSTILE: {"media_type": "image/png", "tags": [HOSTILE, "%", "_"], "language": "fr"},
    "plain": {"media_type": "image/svg+xml", "tags": ["100%"], "language": "zu"},
}
EVERYTHING = set(METADATA)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the ledger knows as a source."""
    return tmp_path_factory.mktemp("docs").resolve()


@pytest.fixture(scope="module")
def connection(server: EmbeddedServer, folder: Path) -> Iterator[Connection]:
    """Six documents of one folder and one site, one entry each; no test changes them."""
    name = sql.Identifier("test_filters")
    with psycopg.connect(server.url("postgres"), autocommit=True) as maintenance:
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        maintenance.execute(create.format(name, sql.Identifier(TEMPLATE)))
        with Database(DatabaseLocation(folder, server.url("test_filters"))) as database:
            yield from _filled(database, folder)
        maintenance.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def _filled(database: Database, folder: Path) -> Iterator[Connection]:
    with database.connection() as connection:
        connection.execute("INSERT INTO collection (name, settings) VALUES ('c', '{}')")
        generation = create_generation(
            connection, "c", ChunkingSettings(), EmbeddingSettings(), model="m", dimensions=2
        )
        for kind, location, settings_of_source in (
            ("files", str(folder), {"root": "./docs"}),
            ("site", "https://example.org/", {"url": "https://EXAMPLE.org"}),
        ):
            connection.execute(
                "INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes, settings) "
                "VALUES ('c', %s, %s, '{}', '{}', '{}', 1, %s)",
                [kind, location, Jsonb(settings_of_source)],
            )
        for number, name in enumerate(METADATA):
            fields = {"kind": "file", "number": number, "name": name, "generation": generation.id, **FIELDS[name]}
            connection.execute(
                """
                WITH made AS (
                    INSERT INTO document (collection, source_id, uri, kind, media_type, tags, title, language, metadata,
                                          input_hash, config_hash, created_at, updated_at)
                    SELECT 'c', source.id, rtrim(source.location, '/') || '/' || %(name)s, %(kind)s, %(media_type)s,
                           %(tags)s, %(name)s, %(language)s, %(metadata)s, '', '',
                           timestamptz '2024-01-01 00:00Z' + %(number)s * interval '1 day',
                           timestamptz '2025-01-01 00:00Z' + %(number)s * interval '1 day'
                    FROM source WHERE source.kind = CASE %(kind)s WHEN 'page' THEN 'site' ELSE 'files' END
                    RETURNING id
                ), cut AS (
                    INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, start_char,
                                       end_char, token_count, hash, embedding_hash)
                    SELECT %(generation)s, id, 0, '', '', '{}', 0, 0, 1, '', '' FROM made RETURNING id, document_id
                )
                INSERT INTO search_entry (generation_id, chunk_id, document_id, vector, lexemes)
                SELECT %(generation)s, id, document_id, '[1,0]', '' FROM cut
                """,
                {**fields, "metadata": Jsonb(METADATA[name])},
            )
        yield connection


def found(connection: Connection, filters: Filters | Mapping[str, Any]) -> set[str]:
    """Return the titles of the documents whose entries fulfil the filters."""
    made = Filters.checked(filters)
    condition = condition_of(made, None)
    assert condition is not None
    statement = sql.SQL(
        "SELECT owner.title FROM search_entry entry JOIN document owner ON owner.id = entry.document_id WHERE {}"
    ).format(condition.text)
    return {title for (title,) in connection.execute(statement, condition.parameters)}


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"kind": "page"}, {"news", "old"}),
        ({"kinds": ["recording", "page"]}, {"news", "old", "talk.mp3"}),
        ({"media_type": "image/*"}, {HOSTILE, "plain"}),
        ({"media_types": ["IMAGE/png", "audio/*"]}, {HOSTILE, "talk.mp3"}),
        ({"media_types": ["text/html"]}, {"news", "old"}),
        ({"tags": "policy"}, {"manual.pdf", "news"}),
        ({"tags_any": ["policy", "100%"]}, {"manual.pdf", "news", "plain"}),
        ({"tags_all": ["policy", "news"]}, {"news"}),
        ({"tags_any": ["policy"], "tags_all": ["a b"]}, {"manual.pdf"}),
        ({"tags_any": ["%"]}, {HOSTILE}),
        ({"languages": ["EN", "de"]}, {"manual.pdf", "news", "talk.mp3"}),
        ({"source": "https://Example.org/#top"}, {"news", "old"}),
        ({"source": "https://EXAMPLE.org"}, {"news", "old"}),
        ({"source": "./docs"}, EVERYTHING - {"news", "old"}),
        ({"source": "docs"}, set()),
        ({"uri_prefix": "https://example.org/n"}, {"news"}),
        ({"uri_prefix": "https://example.org/_"}, set()),
        ({"uri_prefix": "%"}, set()),
        ({"document": "manual.pdf"}, {"manual.pdf"}),
        ({"documents": ["https://example.org/news", "talk.mp3", "alk.mp3", 10**12]}, {"news", "talk.mp3"}),
        ({"domain": "example.org"}, {"news", "old"}),
        ({"domains": ["www.EXAMPLE.org", "other.net"]}, {"news", "old"}),
        ({"domain": "ample.org"}, set()),
        ({"domain": "org"}, {"news", "old"}),
        ({"extension": "PDF"}, {"manual.pdf"}),
        ({"extensions": [".mp3", "org"]}, {"talk.mp3"}),
        ({"path": "*.pdf"}, {"manual.pdf"}),
        ({"path": "manual?pdf"}, {"manual.pdf"}),
        ({"paths": ["anual.pdf", "example.org/n*"]}, {"news"}),
        ({"path": "example.org/"}, {"news", "old"}),
        ({"path": "**"}, EVERYTHING),
        ({"path": "%.pdf"}, set()),
        # The document's own date: what says when it was published before what says when it was changed.
        ({"date": "2024"}, {"news", "talk.mp3", "manual.pdf"}),
        ({"date": {"gte": "2024-05-31", "lt": "2024-06-01"}}, {"news"}),
        ({"date": {"lt": "2000"}}, {"old"}),
        ({"date": {"gt": "2024-01-01"}}, {"news", "talk.mp3"}),
        ({"added": "2024-01-02"}, {"news"}),
        ({"added": {"lte": "2024-01-02"}}, {"manual.pdf", "news"}),
        ({"changed": {"gte": dt.date(2025, 1, 5)}}, {HOSTILE, "plain"}),
        ({"changed": {"lt": dt.datetime(2025, 1, 2, 1, tzinfo=dt.timezone(dt.timedelta(hours=1)))}}, {"manual.pdf"}),
        # Metadata: numbers compare as numbers, texts as texts, and never one as the other.
        ({"metadata": {"year": 2020}}, {"manual.pdf"}),
        ({"metadata": {"year": 2020.0}}, {"manual.pdf"}),
        ({"metadata": {"year": "2020"}}, {"old"}),
        ({"metadata": {"year": ["2020", 2020.5]}}, {"news", "old"}),
        ({"metadata": {"year": {"gte": 2020}}}, {"manual.pdf", "news"}),
        ({"metadata": {"year": {"gt": 2020, "lt": 10_000}}}, {"news"}),
        ({"metadata": {"year": {"gte": "2", "lt": "3"}}}, {"old"}),
        ({"metadata": {"year": {"lte": 9**99}}}, {"manual.pdf", "news"}),
        ({"metadata": {"version": {"gte": "10"}}}, {"manual.pdf"}),
        ({"metadata": {"draft": True}}, {"old"}),
        ({"metadata": {"draft": [True, False]}}, {"old", "talk.mp3"}),
        ({"metadata": {"draft": 1}}, set()),
        ({"metadata": {"author": "Ann"}}, {"manual.pdf", "news"}),
        ({"metadata": {"author": {"gte": "B", "lt": "C"}}}, {"news"}),
        ({"metadata": {"author": {"gte": "a"}}}, {HOSTILE}),
        ({"metadata": {"author": None}}, {"old", "talk.mp3", "plain"}),
        ({"metadata": {"author": [None, "b"]}}, {"old", "talk.mp3", "plain", HOSTILE}),
        ({"metadata": {"author": {"exists": False}}}, {"old", "talk.mp3", "plain"}),
        ({"metadata": {"author": {"exists": True}}}, {"manual.pdf", "news", HOSTILE}),
        ({"metadata": {"author": {"in": ["Ann", "b"]}, "year": {"exists": True}}}, {"manual.pdf", "news"}),
        ({"metadata": {("person", "name"): "Cyd"}}, {"old"}),
        ({"metadata": {("person", "born"): {"lt": dt.date(1970, 1, 2)}}}, {"old"}),
        ({"metadata": {"person.name": "Cyd"}}, set()),
        ({"metadata": {"created": {"gte": "2024-01-01", "lt": "2024-06"}}}, {"manual.pdf"}),
        ({"metadata": {"created": dt.date(2024, 1, 1)}}, {"manual.pdf"}),
        ({"metadata": {"date": {"lt": "2024-01-01"}}}, {"old"}),
        ({"metadata": {"key'; --": HOSTILE}}, {HOSTILE}),
        ({"metadata": {"100%_": "%"}}, {HOSTILE}),
        ({"metadata": {"$gte": {"gte": 1}}}, {HOSTILE}),
        ({"kind": "page", "tags": "news", "language": "de", "metadata": {"year": {"gte": 2020}}}, {"news"}),
    ],
)
def test_a_filter_finds_what_it_says(connection: Connection, filters: dict[str, Any], names: set[str]) -> None:
    """Every filter, alone and with others, finds exactly the documents that are so."""
    assert found(connection, filters) == names


def test_the_largest_list_is_still_answered(connection: Connection) -> None:
    """A thousand values of a metadata key are one search, not a strain."""
    assert found(connection, {"metadata": {"year": [*range(1_021, 2_021)]}}) == {"manual.pdf"}
    names = [f"author {number}" for number in range(998)]
    assert found(connection, {"metadata": {"author": ["Bob", *names]}}) == {"news"}
    assert found(connection, {"metadata": {"author": ["b", None, *names]}}) == {HOSTILE, "old", "talk.mp3", "plain"}
    assert found(connection, {"metadata": {("person", "name"): ["Cyd", *names]}}) == {"old"}
    assert found(connection, {"tags": [f"t{number}" for number in range(999)] + ["news"]}) == {"news", "old"}


def test_a_source_is_found_by_any_path_that_leads_there(connection: Connection, folder: Path, tmp_path: Path) -> None:
    """A relative path, a link and a trailing slash name the folder that the ledger calls by its real path."""
    files = EVERYTHING - {"news", "old"}
    link = tmp_path / "link"
    link.symlink_to(folder)
    for name in (folder, f"{folder}/", link, os.path.relpath(folder), folder.as_uri()):
        assert found(connection, {"source": str(name)}) == files


TEXTS = st.text(max_size=12) | st.sampled_from(
    [
        "'",
        '"',
        "%",
        "_",
        "\\",
        HOSTILE,
        "%(filter_0)s",
        "{value}",
        "$[*]",
        "' OR true --",
        "{}",
        "100%",
        "policy",
        "Ann",
    ]
)


@settings(deadline=None, max_examples=150)
@given(text=TEXTS, key=TEXTS)
def test_a_hostile_text_finds_what_equals_it_and_nothing_else(connection: Connection, text: str, key: str) -> None:
    """Whatever a text holds, it is compared; it never breaks a search nor lets more through than a plain text would."""
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({"tags_any": [text]}, {name for name in EVERYTHING if text in FIELDS[name]["tags"]}),
        ({"tags_all": [text, "policy"]}, {name for name in EVERYTHING if {text, "policy"} <= {*FIELDS[name]["tags"]}}),
        ({"source": text + "?"}, set()),
        (
            {"uri_prefix": "https://example.org/" + text},
            {name for name in ("news", "old") if name.startswith(text)},
        ),
        (
            {"metadata": {key: text}},
            {
                name
                for name, metadata in METADATA.items()
                if metadata.get(key) == text or (isinstance(metadata.get(key), list) and text in metadata[key])
            },
        ),
        ({"metadata": {"author": {"gte": text, "lte": text}}}, {n for n in EVERYTHING if text in _authors(n)}),
    ]
    for filters, names in cases:
        try:
            assert found(connection, filters) == names
        except QueryError:
            assert not text or not key or "\0" in text + key or any("\ud800" <= c <= "\udfff" for c in text + key)


def _authors(name: str) -> list[Any]:
    author = METADATA[name].get("author")
    return author if isinstance(author, list) else [author]
