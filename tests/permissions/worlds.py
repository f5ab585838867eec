"""Random worlds of documents and permissions: every operation that is open to principals against an oracle."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from random import Random
from typing import Any

from psycopg.types.json import Jsonb

from sourcebook.admin.removal import purge
from sourcebook.errors import SourcebookError, UnknownDocumentError
from tests.integration.stages import Stages
from tests.permissions.counts import wrong_counts
from tests.permissions.faces import CODE, Answers, Awaited, Faces, Known
from tests.permissions.oracle import FOLDERS, OracleWorld

_MODES: tuple[Any, ...] = ("hybrid", "vector", "keyword")
_PURGES = 0.15
"""Share of the changes after which everything that was removed is deleted: 2,000 worlds take linear time."""
_EVERYTHING: dict[str, Any] = {"min_relevance": 0, "duplicates": "show", "literal": True, "limit": 100}
FACES = ("Python", "client", "asyncio", "agent", "page")
"""The ways to ask; in each world a caller asks by each one."""


@dataclass
class Findings:
    """Documents seen without right and missing with right, by operation, and kept counts that are wrong."""

    worlds: int = 0
    answers: int = 0
    without_right: int = 0
    missing: int = 0
    wrong_counts: int = 0
    examples: list[str] = field(default_factory=list)

    def note(self, kind: str, example: str) -> None:
        """Count a fault, and keep the first ones."""
        setattr(self, kind, getattr(self, kind) + 1)
        if len(self.examples) < 20:
            self.examples.append(f"world {self.worlds}: {kind}: {example}")


def allow(stages: Stages, rules: Sequence[tuple[str | None, list[str]]], denied: Sequence[str] = ()) -> None:
    """Write the permissions of every source: regular expressions for URIs, of which the first that fits decides."""
    written = {"rules": [{"path": path, "allowed": allowed} for path, allowed in rules], "denied": [*denied]}
    with stages.connection() as connection:
        connection.execute("UPDATE source SET permissions = %s", [Jsonb(written)])


class Worlds:
    """Worlds that follow one another in one database.

    Args:
        stages: the database.
        seed: seed of the worlds.
        port: port of a server over the same database.
        most: documents of each kind that a caller names, at most, in place of all; lists and searches show all of them.
    """

    def __init__(self, stages: Stages, seed: int, port: int, most: int | None = None) -> None:
        self.stages = stages
        self.most = most
        self.faces = Faces(stages, port)
        self.codes: dict[str, str] = {}
        self.oracle = OracleWorld(Random(seed))
        self.found = Findings()
        self.ids: dict[str, int] = {}
        stages.configure()

    def run(self, worlds: int) -> Findings:
        """Change the world, and ask as several callers, so many times."""
        for _ in range(worlds):
            self.found.worlds += 1
            before = dict(self.oracle.texts)
            self.oracle.change()
            self._write_permissions() if self.oracle.random.random() < 0.5 else None
            self._write_documents(before)
            self._write_permissions()
            self._purge() if self.oracle.random.random() < _PURGES else None
            for face in FACES:
                viewer = self.oracle.viewer()
                self._ask(face, viewer, self.oracle.visible(viewer))
            with self.stages.connection() as connection:
                for wrong in wrong_counts(connection):
                    self.found.note("wrong_counts", wrong)
        return self.found

    def _write_documents(self, before: dict[str, str]) -> None:
        for name in before.keys() - self.oracle.texts.keys():
            (self.stages.root / name).unlink()
        changed = {name: text for name, text in self.oracle.texts.items() if before.get(name) != text}
        for name, text in changed.items():
            self.stages.write(name, text)
            self.codes |= dict.fromkeys(CODE.findall(text), name)
        if changed or before.keys() - self.oracle.texts.keys():
            self.stages.run()
        rows = self.stages.rows("SELECT id, uri FROM document")
        self.ids = {self._name(row["uri"]): row["id"] for row in rows}

    def _write_permissions(self) -> None:
        with self.stages.connection() as connection, connection.transaction():
            connection.execute("DELETE FROM group_member")
            connection.cursor().executemany("INSERT INTO group_member VALUES (%s, %s)", sorted(self.oracle.members))
        allow(self.stages, self.oracle.rules, self.oracle.denied)

    def _purge(self) -> None:
        purge(self.stages.database)
        self.ids = {name: number for name, number in self.ids.items() if name in self.oracle.texts}

    def _name(self, uri: str | None) -> str:
        return "/".join(PurePosixPath(uri or "").parts[-2:])

    def _ask(self, face: str, viewer: list[str], right: set[str]) -> None:
        for what, names, expected in self._told(face, viewer, right):
            self.found.answers += 1
            given = {*names}
            for name in given - expected:
                self.found.note("without_right", f"{face}: {what} shows {name} to {viewer}")
            for name in expected - given:
                self.found.note("missing", f"{face}: {what} does not show {name} to {viewer}")

    def _told(self, face: str, viewer: list[str], right: set[str]) -> Answers:
        """Yield what a face tells a caller."""
        allowed = self.oracle.allowed(viewer, self.ids)
        world = Known(self.ids, self.codes, right, allowed, self.oracle.random, self.most)
        if face == "agent":
            yield from self.faces.agent(viewer, world)
        elif face == "page":
            yield from self.faces.pages(viewer, world)
        elif face == "client":
            with self.faces.remote(viewer) as remote:
                yield from self._answers(remote, world)
        else:
            seen = self.stages.knowledge.seen_by(viewer) if face == "Python" else Awaited(self.stages, viewer)
            yield from self._answers(seen, world)

    def _answers(self, seen: Any, world: Known) -> Answers:
        """Yield operations with the names of the documents that each answered and should have."""
        right, hidden = world.right, world.hidden
        yield from self._searches(seen, right)
        yield from self._lists(seen, right)
        for name in world.asked:
            yield f"show {name}", self._shown(seen, name), {name} & right
        for name in self.oracle.random.sample(sorted(right), min(len(right), 3)):
            others = seen.similar(self.ids[name], limit=100)
            yield f"similar {name}", (self._name(hit.uri) for hit in others), right - {name}
            named = {other for other in right if name in self.oracle.links[other]} | self.oracle.links[name] & right
            found = seen.related(self.ids[name], kinds="references")
            yield f"related {name}", (self._name(item.uri) for item in found), named
        for name in self.oracle.random.sample(hidden, min(len(hidden), 2)):
            for what in ("similar", "related", "diff"):
                yield f"{what} {name}", self._refused(seen, what, name, right), set()

    def _searches(self, seen: Any, right: set[str]) -> Answers:
        for mode in _MODES:
            hits = seen.search("barnacle", mode=mode, facets=True, **_EVERYTHING)
            yield f"search {mode}", (self._name(hit.uri) for hit in hits), right
            counted = sum((hits.facets or {}).get("kind", {}).values())
            yield f"facets {mode}", [str(counted)], {str(len(right))}
            yield f"total {mode}", [str(hits.total_candidates)], {str(len(right))}
            folder = self.oracle.random.choice(FOLDERS)
            hits = seen.search("barnacle", mode=mode, filters={"paths": f"{folder}/"}, **_EVERYTHING)
            yield f"filtered {mode}", (self._name(hit.uri) for hit in hits), {n for n in right if n.startswith(folder)}
            yield f"pages {mode}", self._pages(seen, mode), right
        text = seen.context("barnacle", max_tokens=50_000, min_relevance=0, duplicates="show")
        yield "context", (self._name(source.uri) for source in text.sources), right

    def _pages(self, seen: Any, mode: Any) -> Iterator[str]:
        offset: int | None = 0
        while offset is not None:
            page = seen.search("barnacle", mode=mode, offset=offset, **{**_EVERYTHING, "limit": 3})
            yield from (self._name(hit.uri) for hit in page)
            offset = page.next_offset

    def _lists(self, seen: Any, right: set[str]) -> Answers:
        yield "documents", (self._name(item.uri) for item in seen.documents()), right
        yield "count_documents", [str(seen.count_documents())], {str(len(right))}
        pages = [item for offset in range(0, 20, 4) for item in seen.documents(limit=4, offset=offset, sort="-title")]
        yield "documents by page", (self._name(item.uri) for item in pages), right

    def _shown(self, seen: Any, name: str) -> list[str]:
        try:
            document = seen.show(self.ids[name])
        except UnknownDocumentError:
            return []
        return [self._name(document.item.uri)] if document.item.state != "removed" else []

    def _refused(self, seen: Any, what: str, name: str, right: set[str]) -> list[str]:
        operation = getattr(seen, what)
        try:
            if what == "diff":
                operation(self.ids[name], self.ids[min(right)] if right else self.ids[name])
            else:
                operation(self.ids[name])
        except SourcebookError:
            return []
        return [name]
