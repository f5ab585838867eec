"""Published documents of given words, and BM25 over them in plain Python: what the keyword leg is measured against."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count, pairwise
from pathlib import Path

import numpy as np
import psycopg
from pgvector import HalfVector
from psycopg import Connection, sql

from sourcebook.config.collection import ChunkingSettings, EmbeddingSettings
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.indexing.generations import create_generation
from sourcebook.model.generation import Generation
from sourcebook.model.report import StageReport
from sourcebook.model.shard import Shard
from sourcebook.search.ranking.leg import LegRanking
from sourcebook.search.scope import SearchScope, find_scope
from sourcebook.stages.search_index import publish
from tests.conftest import TEMPLATE

K1, B = 1.2, 0.75
_COLLECTIONS = count(1)
_DATABASES = count(1)


@dataclass(frozen=True, slots=True)
class Written:
    """A document as its author wrote it: each text is one passage."""

    texts: tuple[str, ...]
    title: str | None = None
    language: str | None = None
    heading: str = ""


@dataclass
class WordCorpus:
    """One collection whose chunks and vectors are written here and published by the project."""

    connection: Connection
    generation: Generation

    @property
    def collection(self) -> str:
        return self.generation.collection

    def write(self, documents: Mapping[int, Written]) -> StageReport:
        """Write or change documents by their numbers, and publish them."""
        with self.connection.transaction():
            for number, written in documents.items():
                self._write(number, written)
        return publish(self.connection, self.generation)

    def write_beside(self, documents: Mapping[int, Written], shard: Shard) -> StageReport:
        """Write documents one by one, and publish those of a shard while others publish theirs."""
        for number, written in documents.items():
            self._write(number, written)
        return publish(self.connection, self.generation, shard=shard)

    def remove(self, *numbers: int) -> StageReport:
        """Let documents be gone from their source, and publish that."""
        self.connection.execute(
            "UPDATE document SET removed_at = now() WHERE collection = %s AND uri = ANY(%s)",
            [self.collection, [uri_of(number) for number in numbers]],
        )
        return publish(self.connection, self.generation)

    def scope(self) -> SearchScope:
        return find_scope(self.connection, [self.collection])

    def chunks(self) -> list[int]:
        """Return the published chunks, in their order."""
        rows = self.connection.execute(
            "SELECT chunk_id FROM search_entry WHERE generation_id = %s ORDER BY 1", [self.generation.id]
        )
        return [chunk for (chunk,) in rows]

    def _write(self, number: int, written: Written) -> None:
        content = sha256("\n\n".join(written.texts).encode()).digest()
        made = self.connection.execute(
            "INSERT INTO document (collection, source_id, uri, kind, media_type, tags, input_hash, config_hash, "
            "content_hash, title, language, version) SELECT %(collection)s, min(id), %(uri)s, 'file', 'text/plain', "
            "'{}', '', '', %(content)s, %(title)s, %(language)s, 1 FROM source WHERE collection = %(collection)s "
            "ON CONFLICT (collection, uri) DO UPDATE SET content_hash = excluded.content_hash, removed_at = NULL, "
            "title = excluded.title, language = excluded.language, version = document.version + 1 RETURNING id",
            {
                "collection": self.collection,
                "uri": uri_of(number),
                "content": content,
                "title": written.title,
                "language": written.language,
            },
        ).fetchone()
        assert made is not None
        scope = {"generation": self.generation.id, "document": made[0]}
        self.connection.execute(
            "DELETE FROM chunk WHERE generation_id = %(generation)s AND document_id = %(document)s AND NOT EXISTS "
            "(SELECT FROM search_entry entry WHERE entry.chunk_id = chunk.id)",
            scope,
        )
        prepared = self.connection.execute(
            "INSERT INTO indexed_document AS known (generation_id, document_id, input_hash, config_hash, chunk_count) "
            "VALUES (%(generation)s, %(document)s, %(content)s, '', %(chunks)s) "
            "ON CONFLICT (generation_id, document_id) DO UPDATE "
            "SET input_hash = excluded.input_hash, chunk_count = excluded.chunk_count "
            "WHERE known.input_hash <> excluded.input_hash OR known.published_hash IS NULL RETURNING 1",
            {**scope, "content": content, "chunks": len(written.texts)},
        ).fetchone()
        if prepared is None:
            return
        for ordinal, text in enumerate(written.texts):
            passage = sha256(f"{written.heading}\n{text}".encode()).digest()
            self.connection.execute(
                "INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, start_char, "
                "end_char, token_count, hash, embedding_hash) VALUES (%(generation)s, %(document)s, %(ordinal)s, "
                "%(text)s, '', %(heading)s, 0, 0, 1, %(hash)s, %(hash)s)",
                {
                    **scope,
                    "ordinal": ordinal,
                    "text": text,
                    "heading": [written.heading] if written.heading else [],
                    "hash": passage,
                },
            )
            self.connection.execute(
                "INSERT INTO embedding (model, text_hash, vector) VALUES ('m', %s, %s) ON CONFLICT DO NOTHING",
                [passage, HalfVector(np.ones(2, np.float32) / np.sqrt(2))],
            )


def new_corpus(connection: Connection) -> WordCorpus:
    """Make a collection with a generation and no document."""
    name = f"words{next(_COLLECTIONS)}"
    connection.execute("INSERT INTO collection (name, settings) VALUES (%s, '{}')", [name])
    connection.execute(
        "INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes) "
        "VALUES (%s, 'files', %s, '{}', '{}', '{}', 1)",
        [name, f"/{name}"],
    )
    generation = create_generation(connection, name, ChunkingSettings(), EmbeddingSettings(), model="m", dimensions=2)
    return WordCorpus(connection, generation)


def uri_of(number: int) -> str:
    """Return the URI of a document."""
    return f"file:///{number}"


@dataclass
class Oracle:
    """BM25 (Robertson and Zaragoza 2009) of the entries of some generations, from nothing but their lexemes."""

    connection: Connection
    generations: Sequence[int]
    entries: dict[int, tuple[int, str, Counter[str]]] = field(init=False)
    """chunk id → (generation, text-search configuration, frequency of each lexeme)."""

    def __post_init__(self) -> None:
        self.entries = {}
        rows = self.connection.execute(
            "SELECT entry.generation_id, chunk_id, configuration, lexeme, cardinality(positions) "
            "FROM search_entry entry LEFT JOIN LATERAL unnest(lexemes) AS word (lexeme, positions, labels) ON true "
            "WHERE generation_id = ANY(%s)",
            [list(self.generations)],
        )
        for generation, chunk, configuration, lexeme, frequency in rows:
            known = self.entries.setdefault(chunk, (generation, configuration, Counter()))
            if lexeme is not None:
                known[2][lexeme] = frequency

    def average_lengths(self) -> dict[int, float]:
        """Return today's average length of the entries of each generation."""
        lengths: dict[int, list[int]] = defaultdict(list)
        for generation, _, words in self.entries.values():
            lengths[generation].append(words.total())
        return {generation: sum(all_) / len(all_) for generation, all_ in lengths.items()}

    def stored_average_lengths(self) -> dict[int, float]:
        """Return the average lengths that the weights in the database were computed with."""
        rows = self.connection.execute(
            "SELECT id, average_length FROM generation WHERE id = ANY(%s)", [list(self.generations)]
        )
        return {generation: average for generation, average in rows if average is not None}

    def idfs(self, query: str) -> dict[str, float]:
        """Return what each lexeme of a query tells, times its occurrences; readings of one place are one word."""
        sizes = Counter(configuration for _, configuration, _ in self.entries.values())
        readings: dict[int, dict[str, str]] = defaultdict(dict)
        for configuration in sizes:
            rows = self.connection.execute(
                "SELECT lexeme, place FROM query_lexemes(%s::regconfig, %s)",
                [configuration, query],
            )
            for lexeme, place in rows:
                readings[place][configuration] = lexeme
        holding = Counter(lexeme for _, _, words in self.entries.values() for lexeme in words)
        entries = len(self.entries)
        found: dict[str, float] = {}
        occurrences: Counter[str] = Counter()
        for by_configuration in readings.values():
            stopped = sum(size for name, size in sizes.items() if name not in by_configuration)
            if stopped * 2 > entries:
                continue
            lexemes = set(by_configuration.values())
            held = min(stopped + sum(holding[lexeme] for lexeme in lexemes), entries)
            for lexeme in lexemes:
                if holding[lexeme]:
                    told = math.log(1 + (entries - held + 0.5) / (held + 0.5))
                    found[lexeme] = max(found.get(lexeme, 0.0), told)
                    occurrences[lexeme] += 1
        return {lexeme: told * occurrences[lexeme] for lexeme, told in found.items()}

    def scores(self, query: str, averages: Mapping[int, float]) -> dict[int, float]:
        """Return the BM25 of every entry that holds a word of the query."""
        idfs = self.idfs(query)
        found = {}
        for chunk, (generation, _, words) in self.entries.items():
            score = sum(
                told
                * words[lexeme]
                * (K1 + 1)
                / (words[lexeme] + K1 * (1 - B + B * words.total() / averages[generation]))
                for lexeme, told in idfs.items()
                if lexeme in words
            )
            if score > 0:
                found[chunk] = score
        return found

    def assert_ranks(self, ranking: LegRanking, scores: Mapping[int, float], depth: int) -> None:
        """Assert that a ranking is the first `depth` of these scores, each within 1e-3, equals by the smaller id.

        Scores that differ by less than a millionth may stand in either order: those of the database are 4-byte floats.
        """
        assert len(ranking) == min(depth, len(scores))
        for chunk, score in ranking:
            assert math.isclose(score, scores[chunk], rel_tol=1e-3), (chunk, score, scores[chunk])
        left_out = sorted(scores.keys() - {chunk for chunk, _ in ranking}, key=lambda chunk: (-scores[chunk], chunk))
        in_order = [chunk for chunk, _ in ranking] + left_out[:1]
        for first, second in pairwise(in_order):
            assert scores[first] >= scores[second] * (1 - 1e-6), (first, second, scores[first], scores[second])
            if self._alike(first, second):
                assert first < second
        if ranking:
            for chunk in left_out:
                assert not self._alike(ranking[-1][0], chunk) or ranking[-1][0] < chunk

    def _alike(self, first: int, second: int) -> bool:
        return self.entries[first][2] == self.entries[second][2] and self.entries[first][0] == self.entries[second][0]


def recount(connection: Connection, generation: int) -> dict[str, object]:
    """Return the statistics of a generation, from its entries alone."""
    oracle = Oracle(connection, [generation])
    words = [entry[2] for entry in oracle.entries.values()]
    return {
        "entries": len(words),
        "length": sum(each.total() for each in words),
        "holding": dict(Counter(lexeme for each in words for lexeme in each)),
        "configurations": dict(Counter(configuration for _, configuration, _ in oracle.entries.values())),
        "with words": {chunk: entry[2].total() for chunk, entry in oracle.entries.items() if entry[2]},
    }


def statistics(connection: Connection, generation: int) -> dict[str, object]:
    """Return the same as the triggers have kept it."""
    counted = connection.execute(
        "SELECT entry_count, total_length FROM generation WHERE id = %s", [generation]
    ).fetchone()
    assert counted is not None
    return {
        "entries": counted[0],
        "length": counted[1],
        "holding": _pairs(
            connection, "SELECT token, entries FROM lexeme WHERE generation_id = %s AND entries <> 0", generation
        ),
        "configurations": _pairs(
            connection,
            "SELECT name, entries FROM text_configuration WHERE generation_id = %s AND entries <> 0",
            generation,
        ),
        "with words": _pairs(
            connection, "SELECT chunk_id, length FROM keyword_entry WHERE generation_id = %s", generation
        ),
    }


def _pairs(connection: Connection, statement: str, generation: int) -> dict[object, object]:
    return dict(connection.execute(statement.encode(), [generation]).fetchall())


@contextmanager
def word_database(server: EmbeddedServer) -> Iterator[Database]:
    """Make a database that the tests of a module share."""
    name = f"words_{next(_DATABASES)}"
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        connection.execute(create.format(sql.Identifier(name), sql.Identifier(TEMPLATE)))
    with Database(DatabaseLocation(Path("nowhere"), server.url(name))) as database:
        yield database
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
