"""The files of one shard among the differences between a source and the ledger, and the listings of shards."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.errors import FailureClass
from sourcebook.files.listing import FileEntry, ListedFolder
from sourcebook.files.source import Source
from sourcebook.model.shard import Shard
from sourcebook.stages.raw_files.rules import KnownFile


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between a source and the ledger."""

    source: Source
    error: str | None
    """Reason why the listing is incomplete; None where it is complete."""
    failure_class: FailureClass | None
    """Class of the error; None where the listing is complete."""
    files: int
    """Number of files in the listing."""
    to_read: list[FileEntry]
    """Files that are new, changed, returned or due for a retry."""
    known: dict[str, KnownFile]
    """The ledger's rows of the files to read, by URI; new files have none."""
    gone: list[str]
    """URIs of files that are gone; empty where the listing is incomplete."""
    new_folders: list[ListedFolder]
    """Folders of which every file is to be read."""
    held: list[str] = field(default_factory=list)
    """URIs of files that are gone and are kept: so many are gone at once that a person is asked."""
    emptied: list[str] = field(default_factory=list)
    """URIs of files that have become empty and are kept for the same reason."""
    held_of: int | None = None
    """Number of the source's documents before that loss; None where nothing is held back."""
    moving: list[str] = field(default_factory=list)
    """URIs of files that differ, and that the selection leaves to the next run, as they are being written."""
    unsaid: str | None = None
    """Reason why nobody sees some objects, whose ACLs could not be read; None where all were."""


def of_shard(differences: Iterable[Difference], shard: Shard | None) -> Iterator[Difference]:
    """Yield the part of each difference that is in a shard; all of it where the collection is not cut.

    What is gone is judged by the listing of this worker, and for its own shard alone.
    """
    for difference in differences:
        if shard is None:
            yield difference
            continue
        to_read = [entry for entry in difference.to_read if shard.takes(entry.uri)]
        yield replace(
            difference,
            to_read=to_read,
            known={uri: file for uri, file in difference.known.items() if shard.takes(uri)},
            gone=[uri for uri in difference.gone if shard.takes(uri)],
            moving=[uri for uri in difference.moving if shard.takes(uri)],
        )


def record_listing(connection: Connection, difference: Difference, shard: Shard | None) -> None:
    """Record when a source was listed, or why it could not be listed completely.

    Each shard has a listing of its own, as its worker may be on another machine: an error of one stays until the worker
    of the same shard can list the source.
    """
    scope = {
        "source_id": difference.source.id,
        "error": difference.error,
        "failure_class": difference.failure_class,
        "held_of": difference.held_of,
    }
    if shard is None:
        connection.execute(queries["record_listing"], scope)
        return
    with connection.transaction():
        connection.execute(queries["record_listing_of_shard"], {**scope, **shard.values})
        connection.execute(queries["record_listing_of_shards"], {**scope, **shard.values})


def listing_errors_of(connection: Connection, shard: Shard) -> dict[int, str | None]:
    """Return why the worker of a shard could not list sources, by their ids; None where it could."""
    scope = {"collection": shard.collection, **shard.values}
    return dict(connection.execute(queries["listing_errors_of_shard"], scope).fetchall())
