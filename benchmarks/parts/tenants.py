"""Tenants: a database for each, against one database with a collection and a group for each."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import psycopg
from numpy.typing import NDArray
from psycopg import Connection, sql
from psycopg.types.json import Jsonb

from benchmarks.corpora.large_library import mixed_texts
from benchmarks.corpora.text_collection import TextShelf
from benchmarks.corpora.vectors import DIMENSIONS
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, say
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.knowledge_base import KnowledgeBase, SeenKnowledge
from sourcebook.transfer.backup import backup

_PASSAGES = 500
_QUESTIONS = 40
_UNIT = "ms of a processor"


def run(bench: Bench) -> Iterator[Row]:
    """Measure both layouts on a server of their own: processor time of server and client, bytes, sessions."""
    folder = bench.folder / "tenants"
    folder.mkdir(mode=0o755)
    names = [f"tenant_{number}" for number in range(min(bench.options.number, 100))]
    texts = mixed_texts(bench, _PASSAGES * 2)
    vectors = np.random.default_rng(1).normal(size=(_PASSAGES * 2, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    questions = [text[:80] for text in texts[:: len(texts) // _QUESTIONS]]
    server = EmbeddedServer(folder / "postgres")
    try:
        layout = _Layout(server, folder, texts, vectors, _Effort(folder / "postgres"), questions)
        yield from layout.apart(names)
        yield from layout.together(names)
    finally:
        server.close()


class _Given:
    """Vectors of the questions, without a model."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a vector."""
        return np.random.default_rng(len(text)).normal(size=DIMENSIONS).astype(np.float32)

    def close(self) -> None:
        """Do nothing."""


class _Effort:
    """Processor seconds of this process and of a PostgreSQL server, sessions that have ended included."""

    def __init__(self, folder: Path) -> None:
        (pid, *_) = next(folder.rglob("postmaster.pid")).read_text().split("\n")
        self._server = psutil.Process(int(pid))

    def seconds(self) -> float:
        total = time.process_time()
        for process in (self._server, *self._server.children()):
            try:
                times = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += times.user + times.system
        ended = self._server.cpu_times()
        return total + ended.children_user + ended.children_system

    def of(self, work: Callable[..., object], *given: Any, **named: Any) -> float:
        """Return the milliseconds that a call takes."""
        before = self.seconds()
        work(*given, **named)
        return 1000 * (self.seconds() - before)


class _Layout:
    def __init__(
        self,
        server: EmbeddedServer,
        folder: Path,
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        effort: _Effort,
        questions: Sequence[str],
    ) -> None:
        self._server, self._folder, self._effort, self._questions = server, folder, effort, questions
        self._texts, self._vectors = texts, vectors

    def apart(self, names: Sequence[str]) -> Iterator[Row]:
        """A database for each."""
        say(f"  {len(names)} databases …")
        with psycopg.connect(self._server.url("postgres"), autocommit=True) as administrator:
            made, filled, searched = [], [], []
            for name in names:
                made.append(self._effort.of(self._make, administrator, name))
                with self._open(name) as database, database.connection() as connection:
                    filled.append(self._effort.of(self._fill, connection, name, 0))
                with KnowledgeBase(self._open(name), query_embedder=_Given()) as knowledge:
                    searched.append(self._searches(knowledge, name))
            yield Row("a database: made, with its tables", float(np.mean(made)), _UNIT)
            yield Row(f"a database: {_PASSAGES} passages published", float(np.mean(filled)), _UNIT)
            yield Row("a database: a search", float(np.mean(searched)), _UNIT)
            yield Row("a database: bytes", self._bytes(administrator, names[0]) / 1e6, "MB")
            with self._open(names[0]) as database, database.connection() as connection:
                dumped = self._effort.of(backup, database, self._folder / "one.backup")
                yield Row("a database: backup of one tenant", dumped, _UNIT)
            drop = sql.SQL("DROP DATABASE {} WITH (FORCE)")
            dropped = [self._effort.of(administrator.execute, drop.format(sql.Identifier(name))) for name in names]
            yield Row("a database: removed", float(np.mean(dropped)), _UNIT)

    def together(self, names: Sequence[str]) -> Iterator[Row]:
        """One database, with a collection and a group for each."""
        say(f"  one database with {len(names)} collections …")
        with psycopg.connect(self._server.url("postgres"), autocommit=True) as administrator:
            self._make(administrator, "all_tenants")
            with self._open("all_tenants") as database, database.connection() as connection:
                filled = [
                    self._effort.of(self._fill, connection, name, place % 2, group=name)
                    for place, name in enumerate(names)
                ]
                knowledge = KnowledgeBase(database, query_embedder=_Given())
                scoped, seen = [], []
                for name in names:
                    scoped.append(self._searches(knowledge, name))
                    seen.append(self._searches(knowledge.seen_by([f"group:{name}"]), name))
                yield Row(f"together: {_PASSAGES} passages published", float(np.mean(filled)), _UNIT)
                yield Row("together: a search of a collection", float(np.mean(scoped)), _UNIT)
                yield Row("together: a search of principals", float(np.mean(seen)), _UNIT)
                yield Row("together: bytes of each", self._bytes(administrator, "all_tenants") / 1e6 / len(names), "MB")
                dumped = self._effort.of(backup, database, self._folder / "all.backup")
                yield Row("together: backup of one tenant is that of all", dumped, _UNIT)
                dropped = [self._effort.of(_remove, connection, name) for name in names[:10]]
                yield Row(
                    "together: removed",
                    float(np.mean(dropped)),
                    _UNIT,
                    note="until VACUUM, the disk keeps it",
                )

    def _make(self, administrator: Connection, name: str) -> None:
        administrator.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        self._open(name).close()

    def _open(self, name: str) -> Database:
        return Database(DatabaseLocation(self._folder / name, self._server.url(name)))

    def _fill(self, connection: Connection, name: str, first: int, *, group: str | None = None) -> None:
        part = slice(first * _PASSAGES, (first + 1) * _PASSAGES)
        TextShelf.fill(connection, name, self._texts[part], self._vectors[part])
        if group is not None:
            said = {"rules": [{"allowed": [f"group:{group}"]}], "denied": []}
            connection.execute("UPDATE source SET permissions = %s WHERE collection = %s", [Jsonb(said), name])

    def _searches(self, knowledge: KnowledgeBase | SeenKnowledge, name: str) -> float:
        questions = self._questions[:10]
        knowledge.search(questions[0], name, literal=True)
        spent = self._effort.of(_ask, knowledge, name, questions)
        return spent / len(questions)

    def _bytes(self, administrator: Connection, name: str) -> int:
        (size,) = administrator.execute("SELECT pg_database_size(%s)", [name]).fetchone() or (0,)
        return int(size)


def _ask(knowledge: KnowledgeBase | SeenKnowledge, name: str, questions: Sequence[str]) -> None:
    for question in questions:
        knowledge.search(question, name, literal=True)


def _remove(connection: Connection, name: str) -> None:
    connection.execute("DELETE FROM document WHERE collection = %s", [name])
    connection.execute("DELETE FROM collection WHERE name = %s", [name])
