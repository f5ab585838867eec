"""Damage (rows that differ from their generation's sums), and signs that others may have changed rows."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from psycopg import Connection
from psycopg.pq import TransactionStatus

from sourcebook.contract.status import Finding
from sourcebook.database.queries import queries
from sourcebook.indexing.generations import find_generations
from sourcebook.model.generation import Generation
from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard

_NOUNS = {
    "document frequency": ("document frequency", "document frequencies"),
    "count by language": ("count by language", "counts by language"),
    "count of entries": ("count of the entries", "counts of the entries"),
    "average length": ("average length", "average lengths"),
    "keyword weight": ("row of keyword weights", "rows of keyword weights"),
    "block": ("block of keyword weights", "blocks of keyword weights"),
}
"""Nouns for one wrong number of each kind and for several."""


@dataclass(frozen=True, slots=True)
class DamagedDocument:
    """A document whose rows are not those that were written."""

    id: int
    uri: str | None
    """None where the rows belong to no document of the collection."""
    is_live: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Damage:
    """The damage of a generation; false where there is none."""

    documents: tuple[DamagedDocument, ...] = ()
    vectors: tuple[bytes, ...] = field(default=(), repr=False)
    """Text hashes of cached vectors that are gone or are not those that were computed."""
    statistics: dict[str, int] = field(default_factory=dict)
    """Kept numbers that differ from a count, by kind."""

    def __bool__(self) -> bool:
        return bool(self.documents or self.vectors or self.statistics)

    @property
    def total(self) -> int:
        """Number of damaged documents, vectors and numbers."""
        return len(self.documents) + len(self.vectors) + sum(self.statistics.values())

    def findings(self) -> Iterator[Finding]:
        """Yield each damaged document with its reason, then the numbers of damaged vectors and statistics."""
        for document in self.documents:
            yield Finding(document.uri or f"document {document.id}", document.reason)
        if self.vectors:
            number = len(self.vectors)
            yield Finding(None, f"{number:,} cached vector{'s are' if number > 1 else ' is'} gone or changed")
        for kind, number in self.statistics.items():
            noun = _NOUNS[kind][number > 1]
            yield Finding(None, f"{number:,} {noun} {'differ' if number > 1 else 'differs'} from a count")


def find_damage(connection: Connection, generation: Generation, *, deep: bool = False) -> Damage:
    """Compare the rows of a generation with the sums that were kept when they were written, without changing anything.

    Args:
        connection: to the knowledge base.
        generation: the generation.
        deep: whether to compute every keyword weight again; otherwise the weights are compared with their seals.
    """
    is_outermost = connection.info.transaction_status == TransactionStatus.IDLE
    with connection.transaction():
        if is_outermost:
            connection.execute(queries["hold_snapshot"])
        return compare_sums(connection, generation, deep=deep)


def compare_sums(connection: Connection, generation: Generation, *, deep: bool) -> Damage:
    """Return the damage of a generation as `find_damage` does, in the transaction of the caller."""
    scope = {
        "collection": generation.collection,
        "generation": generation.id,
        "model": generation.model,
        "dimensions": generation.dimensions,
    }
    documents = [DamagedDocument(*row) for row in connection.execute(queries["damaged_documents"], scope)]
    vectors = [text_hash for _, text_hash in connection.execute(queries["damaged_vectors"], scope)]
    statistics = {kind: int(number) for kind, number in connection.execute(queries["wrong_statistics"], scope)}
    if deep:
        wrong = len(connection.execute(queries["wrong_weights"], scope).fetchall())
        if wrong:
            statistics["keyword weight"] = wrong
    return Damage(tuple(documents), tuple(vectors), statistics)


def find_every_damage(connection: Connection, collection: str, *, deep: bool = False) -> list[Finding]:
    """Return what is damaged in the ledger of a collection, in its active generation and in the one being built.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        deep: whether to compute every keyword weight again.
    """
    found = find_ledger_damage(connection, collection)
    for generation in find_generations(connection, collection).followed:
        found += find_damage(connection, generation, deep=deep).findings()
    return found


def find_ledger_damage(connection: Connection, collection: str) -> list[Finding]:
    """Return what is damaged in the ledger of a collection: rows of its items and documents, and kept counts."""
    scope = {"collection": collection}
    files = connection.execute(queries["damaged_files"], scope).fetchall()
    pages = connection.execute(queries["damaged_pages"], scope).fetchall()
    recordings = connection.execute(queries["damaged_recordings"], scope).fetchall()
    documents = connection.execute(queries["damaged_contents"], scope).fetchall()
    counts = connection.execute(queries["wrong_tallies"], scope).fetchall()
    return [
        *(Finding(uri, "its row of the inventory was changed") for (uri,) in files),
        *(Finding(url, reason) for url, reason in pages),
        *(Finding(uri, reason) for _, uri, reason in (*recordings, *documents)),
        *(Finding(None, f"the kept count of {kind.replace('_', ' ')} differs from a count") for (kind,) in counts),
    ]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The signs of foreign changes in a collection; false where there are none.

    Triggers mark every statement of a session that is not the library's; a digest over the places of the tables and
    over these triggers differs after a restore and after a trigger was disabled. Without a sign the sums over the
    published rows need not be compared: looking for signs costs one query, however large the base is.
    """

    marks: tuple[int, ...]
    """Ids of the marks that were read."""
    tables: tuple[str, ...]
    """Tables and partitions that foreign statements named."""
    is_moved: bool
    """Whether tables were restored, emptied or rewritten, or were unwatched for a while."""

    def __bool__(self) -> bool:
        return bool(self.marks) or self.is_moved


def find_suspicion(connection: Connection, collection: str) -> Suspicion:
    """Return the signs of foreign changes since the last proof.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
    """
    row = connection.execute(queries["suspicion"], {"collection": collection}).fetchone()
    marks, tables, is_moved = row or ((), (), False)
    return Suspicion(tuple(marks), tuple(sorted(tables)), bool(is_moved))


def heightened(selection: Selection, suspicion: Suspicion) -> Selection:
    """Return the selection of a run that looks at all rows where there are signs of foreign changes."""
    return replace(selection, thorough=True) if suspicion else selection


def note_comparison(connection: Connection, suspicion: Suspicion, shard: Shard | None = None) -> None:
    """Record that a run has compared sources, inventory and documents since these signs; of a shard, once all have."""
    if not suspicion.marks:
        return
    is_done = True
    if shard is not None:
        scope = {"collection": shard.collection, **shard.values, "mark": max(suspicion.marks)}
        connection.execute(queries["note_comparison_of_shard"], scope)
        is_done = connection.execute(queries["shards_have_compared"], scope).fetchone() == (True,)
    if is_done:
        connection.execute(queries["note_comparison"], {"marks": list(suspicion.marks)})


def forget_suspicion(connection: Connection, suspicion: Suspicion) -> None:
    """Forget the signs whose consequences are mended: every generation is proven; see `note_comparison`."""
    if suspicion.marks:
        connection.execute(queries["forget_foreign_changes"], {"marks": list(suspicion.marks)})
