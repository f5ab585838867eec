"""Files whose content is published already: moved files, and copies."""

from collections.abc import Iterable
from dataclasses import replace

from psycopg import Connection

from sourcebook.admin.planning.items import PlannedItems
from sourcebook.contract.plans import Reason
from sourcebook.database.queries import queries
from sourcebook.files.reading import digest_file
from sourcebook.indexing.generations import active_generation
from sourcebook.stages.raw_files import Difference

MOST_BYTES = 64_000_000
"""Bytes that a plan reads for one collection to recognise contents; a tenth of a second at 1 GB/s."""


def recognise_contents(
    connection: Connection, collection: str, items: PlannedItems, differences: Iterable[Difference]
) -> None:
    """Mark the new and changed local files whose content is that of a published document.

    Only files as large as a published one are read, and `MOST_BYTES` of them at most.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        items: planned items, of which some are replaced.
        differences: differences of the collection's sources, which name the files.
    """
    generation = active_generation(connection, collection)
    candidates = {
        entry.uri: (difference.source, entry.size)
        for difference in differences
        if difference.source.is_local
        for entry in difference.to_read
        if entry.size and items.by_uri[entry.uri].reason in {Reason.NEW, Reason.CHANGED}
    }
    if generation is None or not candidates:
        return
    scope = {"collection": collection, "sizes": sorted({size for _, size in candidates.values()})}
    known_sizes = {size for (size,) in connection.execute(queries["published_sizes"], scope)}
    hashes: dict[str, bytes] = {}
    left = MOST_BYTES
    for uri, (source, size) in candidates.items():
        if size not in known_sizes or size > left:
            continue
        left -= size
        try:
            hashes[uri] = digest_file(source, uri, size).sha256
        except OSError:  # the ingest will say why
            continue
    contents = {"generation": generation.id, "hashes": sorted(set(hashes.values()))}
    published = {
        sha256: (uri, passages) for sha256, uri, passages in connection.execute(queries["published_contents"], contents)
    }
    for uri, sha256 in hashes.items():
        if found := published.get(sha256):
            item = items.by_uri[uri]
            items.by_uri[uri] = replace(
                item, detail=f"content of {found[0]}", passages=found[1], is_parsed=True, is_published=True
            )
